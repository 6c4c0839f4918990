#include <uit/exchange/fabric.hpp>

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <uit/conduit.hpp>
#include <uit/transport/process.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/loopback_world.hpp"
#include "tests/support/thrown.hpp"
#include "tests/uit/exchange/support/subjects.hpp"

using namespace uit;
using namespace uit::testing;
using namespace std::chrono_literals;

static_assert(uit::PairTransport<uit::Process> && uit::InletTransport<uit::Process> && uit::OutletTransport<uit::Process>);

namespace {

using W = TransportSet<Process>;
template <Policy policy = every>
using In = Inlet<int, policy, W>;
template <Policy policy = every>
using Out = Outlet<int, policy, W>;

/// Two processes that are to be connected; on one host if `processes_per_host` is 2.
struct TwoProcesses {
  explicit TwoProcesses(FabricOptions here = {}, std::optional<FabricOptions> there = std::nullopt,
                        std::size_t processes_per_host = 0)
      : network(2, processes_per_host) {
    fabrics[0] = std::make_unique<Fabric>(network.World(0), here);
    fabrics[1] = std::make_unique<Fabric>(network.World(1), there.value_or(here));
  }
  /// Together, since each says goodbye to the other.
  ~TwoProcesses() {
    network.Together([this](std::size_t rank) { fabrics[rank].reset(); });
  }
  Process Reach(std::size_t rank, std::uint64_t channel = 0) {
    return {.fabric = fabrics[rank].get(), .peer = 1 - rank, .key = {.channel = channel}};
  }
  void Connect() {
    network.Together([this](std::size_t rank) { fabrics[rank]->Connect(); });
  }
  bool Close() {
    std::array<char, 2> is_clean{};
    network.Together([&](std::size_t rank) { is_clean[rank] = fabrics[rank]->Close(); });
    return is_clean[0] && is_clean[1];
  }
  /// What each says when they connect.
  std::array<std::string, 2> WordsOfConnect() {
    std::array<std::string, 2> words;
    network.Together([&](std::size_t rank) { words[rank] = WordsThrownBy([&] { fabrics[rank]->Connect(); }); });
    return words;
  }
  void PollBoth() {
    for (int i = 0; i < 4; ++i) {
      fabrics[0]->Poll();
      fabrics[1]->Poll();
    }
  }

  LoopbackNetwork network;
  std::array<std::unique_ptr<Fabric>, 2> fabrics;
};

void CheckBothSay(const std::array<std::string, 2>& said, const std::string& words) {
  CAPTURE(said[0], words);
  CHECK(said[0].find(words) != std::string::npos);
  CHECK(said[0] == said[1]);
}

/// Waits without a deadline end once the peer has ended; what it sent before can still be read.
template <Policy policy>
void CheckWaitsEndWithPeer(std::size_t processes_per_host) {
  const ChildProcess peer;
  TwoProcesses two({}, std::nullopt, processes_per_host);
  two.fabrics[0]->GetWorld().Process()->WatchOver({peer.Identity(1)});
  two.fabrics[1]->GetWorld().Process()->WatchOver({peer.Identity(0)});  // so that neither waits for a goodbye
  In<policy> inlet{two.Reach(0)}, inlet_of_peer{two.Reach(1)};
  Out<policy> outlet{two.Reach(0)}, outlet_of_peer{two.Reach(1)};
  two.Connect();
  REQUIRE(inlet_of_peer.TryPut(7));
  inlet_of_peer.TryFlush();
  two.PollBoth();
  REQUIRE(kill(peer.process, SIGKILL) == 0);
  if constexpr (policy.retain == Retain::every) {
    while (inlet.Put(1)) {  // until there is no room any more
    }
    CHECK(inlet.Tally().dropped == 1);
  }
  CHECK(outlet.Step());
  CHECK(outlet.Get() == 7);
  CHECK_FALSE(outlet.Step());
}

/// Of `num_processes`, of which the last has ended: waits for it end, and waits for the first go on.
template <Policy policy>
void CheckWaitsForTheLiving(std::size_t num_processes, bool shares_memory) {
  LoopbackNetwork network(num_processes, shares_memory ? num_processes : 0);
  std::vector<std::unique_ptr<Fabric>> fabrics;
  std::vector<std::unique_ptr<In<policy>>> inlets, inlets_of_peers;  // by peer of process 1
  std::vector<std::unique_ptr<Out<policy>>> outlets, outlets_of_peers;
  for (std::size_t rank = 0; rank < num_processes; ++rank) fabrics.push_back(std::make_unique<Fabric>(network.World(rank)));
  for (std::size_t peer = 0; peer < num_processes; ++peer) {
    const Process there{.fabric = fabrics[1].get(), .peer = peer, .key = {.channel = peer}};
    const Process back{.fabric = fabrics[peer].get(), .peer = 1, .key = {.channel = peer}};
    inlets.push_back(std::make_unique<In<policy>>(there));
    outlets_of_peers.push_back(std::make_unique<Out<policy>>(back));
    if (peer == 1) continue;  // the way back is the same
    inlets_of_peers.push_back(std::make_unique<In<policy>>(back));
    outlets.push_back(std::make_unique<Out<policy>>(there));
  }
  network.Together([&](std::size_t rank) { fabrics[rank]->Connect(); });
  const std::size_t gone = num_processes - 1;
  const ChildProcess living, ended;
  std::vector<ProcessIdentity> peers{living.Identity(0), ended.Identity(gone)};
  for (std::size_t rank = 2; rank < gone; ++rank) peers.push_back(living.Identity(rank));
  const PeerWatch& watch = [&]() -> PeerWatch& {
    fabrics[1]->GetWorld().Process()->WatchOver(peers);
    return fabrics[1]->GetWorld().Process()->Watch();
  }();
  kill(ended.process, SIGKILL);
  REQUIRE(WaitUntil([&] { return watch.HasGone(gone); }, After(10s)));

  const auto waits_to_its_end = [](auto&& wait) {
    const Deadline deadline = After(20ms);
    return !wait(deadline) && Now() >= deadline;
  };
  CHECK_FALSE(outlets.back()->Step());
  CHECK(waits_to_its_end([&](Deadline deadline) { return outlets.front()->Step(deadline); }));
  if constexpr (policy.retain == Retain::every) {
    while (inlets.back()->Put(1)) {  // until there is no room any more
    }
    while (inlets.front()->TryPut(1)) {
    }
    CHECK(waits_to_its_end([&](Deadline deadline) { return inlets.front()->Put(1, deadline); }));
  }
  REQUIRE(inlets_of_peers.front()->TryPut(7));
  inlets_of_peers.front()->TryFlush();
  fabrics[0]->Poll();
  CHECK(outlets.front()->Step(After(10s)));
  CHECK(outlets.front()->Get() == 7);

  for (std::size_t rank = 0; rank < num_processes; ++rank)  // so that nobody waits for a goodbye
    if (rank != 1) fabrics[rank]->GetWorld().Process()->WatchOver({ended.Identity(gone)});
  network.Together([&](std::size_t rank) { fabrics[rank].reset(); });
}

}  // namespace

TEST_CASE("Options that cannot be are refused at once") {
  LoopbackNetwork network{2};
  CheckThrows([&] { Fabric(network.World(0), {.num_workers = 0}); }, "worker");
  CheckThrows([&] { Fabric(network.World(0), {.num_slots = 0}); }, "slots per peer");
  CheckThrows([&] { Fabric(network.World(0), {.num_slots = 1'000'000}); }, "slots per peer");
  Fabric fabric{network.World(0)};
  CheckThrows([&] { In<>(Process{}); }, "needs a fabric");
  CheckThrows([&] { In<>(Process{.fabric = &fabric, .peer = 2}); }, "rank 2 is not in this fabric of 2");
  CheckThrows([&] { In<>(Process{.fabric = &fabric, .peer = 1, .worker = 1}); }, "worker 1 is not in this fabric of 1");
  CheckThrows([&] { In<>(Process{.fabric = &fabric, .peer = 1, .depth = 0}); }, "depth");
  CheckThrows([&] { In<>(Process{.fabric = &fabric, .peer = 1, .depth = std::size_t{1} << 40}); }, "depth");
  CheckThrows([&] { In<>(Process{.fabric = &fabric, .peer = 1, .channel = 3}); }, "no channel 3");
  CheckThrows([&] { In<>(Process{.fabric = &fabric, .peer = 1, .num_channels = 3}); }, "has one channel");
  const std::size_t too_many_bytes = max_payload_bytes + 1;
  const Process large{.fabric = &fabric, .peer = 1, .max_message_bytes = too_many_bytes};
  using Text = Inlet<std::string, every, W>;
  CheckThrows([&] { Text{large}; }, "max_message_bytes is at most 1 GiB, not " + std::to_string(too_many_bytes));
  CHECK(WordsThrownBy([&] { In<>{large}; }).empty());  // it says nothing about messages that all have one size
}

TEST_CASE("Halves that do not match are refused on both sides with the same message") {
  TwoProcesses two;
  std::optional<In<>> inlet;
  const auto open = [&] { inlet.emplace(two.Reach(0)); };
  SECTION("types of two sizes") {
    open();
    Outlet<double, every, W> outlet{two.Reach(1)};
    CheckBothSay(two.WordsOfConnect(),
                 "rank 0 cannot exchange with rank 1: exchange {layer 0, 0 -> 0, channel 0}: the message's size is 4 "
                 "at the inlet and 8 at the outlet");
  }
  SECTION("two types of one size") {
    open();
    Outlet<float, every, W> outlet{two.Reach(1)};
    CheckBothSay(two.WordsOfConnect(), "type");
  }
  SECTION("two depths") {
    open();
    Process reach = two.Reach(1);
    reach.depth = 5;
    Out<> outlet{reach};
    CheckBothSay(two.WordsOfConnect(), "the depth is 16 at the inlet and 5 at the outlet");
  }
  SECTION("two policies") {
    open();
    Out<latest> outlet{two.Reach(1)};
    CheckBothSay(two.WordsOfConnect(), "Policy::retain");
  }
  SECTION("no outlet") {
    open();
    CheckBothSay(two.WordsOfConnect(), "has no outlet there");
  }
  SECTION("no inlet") {
    Out<> outlet{two.Reach(1)};
    CheckBothSay(two.WordsOfConnect(), "has an outlet there and no inlet here");
  }
}

TEST_CASE("Fabrics with different options are refused on both sides with the same words") {
  SECTION("slots") {
    TwoProcesses two{{.num_slots = 4}, FabricOptions{.num_slots = 5}};
    CheckBothSay(two.WordsOfConnect(), "rank 1 has FabricOptions::num_slots of 5, where another process has 4");
  }
  SECTION("payloads") {
    TwoProcesses two{{}, FabricOptions{.payload_bytes = 5}};
    CheckBothSay(two.WordsOfConnect(), "rank 1 has FabricOptions::payload_bytes of 5, where another process has 0");
  }
}

TEST_CASE("A link that cannot be opened on one side is an error on both, and nobody hangs") {
  TwoProcesses two;
  In<> inlet{two.Reach(0)};
  Out<> outlet{two.Reach(1)};
  two.network.RefuseLinks(1);
  CheckBothSay(two.WordsOfConnect(), "rank 1 cannot open its links: no more links");
  CHECK(two.Close());
  CHECK(two.fabrics[0]->NumLeaked() == 0);
}

TEST_CASE("After links were refused, fabrics can connect") {
  TwoProcesses two;
  In<> inlet{two.Reach(0)};
  Out<> outlet{two.Reach(1)};
  two.network.RefuseLinks(1);
  CheckBothSay(two.WordsOfConnect(), "rank 1 cannot open its links: no more links");
  two.network.RefuseLinks(2);  // no rank
  CheckBothSay(two.WordsOfConnect(), "");
  CHECK(inlet.TryPut(7));
  CHECK(outlet.GetNext(After(std::chrono::seconds(10))) == 7);
  CHECK(two.Close());
}

TEST_CASE("A fabric that needs too many MPI requests is refused") {
  TwoProcesses two{{.num_slots = Fabric::max_requests / 4}};
  In<> inlet{two.Reach(0)};
  Out<> outlet{two.Reach(1)};
  CHECK(two.WordsOfConnect()[0].empty());
  // One peer is all that so many slots leave room for: oneself is a second.
  std::vector<In<>> inlets;
  std::vector<Out<>> outlets;
  for (std::size_t rank = 0; rank < 2; ++rank) {
    Process reach = two.Reach(rank, 9);
    reach.peer = rank;
    inlets.emplace_back(reach);
    outlets.emplace_back(reach);
  }
  CheckBothSay(two.WordsOfConnect(), "requests");
}

TEST_CASE("All fabrics of a process share one limit of MPI requests") {
  TwoProcesses two{{.num_slots = Fabric::max_requests / 4}};
  In<> inlet{two.Reach(0)};
  Out<> outlet{two.Reach(1)};
  CHECK(two.WordsOfConnect()[0].empty());
  const auto words_of_others = [&] {
    std::array<std::string, 2> words;
    two.network.Together([&](std::size_t rank) {
      Fabric other{two.fabrics[rank]->GetWorld(), {.num_slots = Fabric::max_requests / 4}};
      const Process reach{.fabric = &other, .peer = 1 - rank};
      std::optional<In<>> other_inlet;
      std::optional<Out<>> other_outlet;
      if (rank == 0) other_inlet.emplace(reach);
      else other_outlet.emplace(reach);
      words[rank] = WordsThrownBy([&] { other.Connect(); });
    });
    return words;
  };
  CheckBothSay(words_of_others(), "requests");
  CHECK(two.Close());
  CHECK(words_of_others()[0].empty());  // what was closed is free again
  CHECK(words_of_others()[0].empty());
}

TEST_CASE("A channel has one end on each side, and ends that share a pool agree on it") {
  TwoProcesses two;
  Process reach = two.Reach(0);
  reach.num_channels = 2;
  using Pooled = In<every_pooled>;
  std::optional<Pooled> inlet{reach};
  CheckThrows([&] { Pooled{reach}; }, "has an end already");
  reach.channel = 1;
  Pooled second{reach};
  inlet.reset();
  reach.channel = 0;
  Pooled third{reach};
  CheckThrows([&] { In<>(two.Reach(0)); }, "the number of channels is 2 at one end and 1 at another end here");
  CheckThrows([&] { Inlet<float, every_pooled, W>{reach}; }, "type");
  CheckThrows([&] { In<latest_pooled>{reach}; }, "Policy::retain");
}

TEST_CASE("One key serves any number of peers, and both directions") {
  LoopbackNetwork network{3};
  std::vector<std::unique_ptr<Fabric>> fabrics;
  std::vector<std::vector<In<>>> inlets(3);
  std::vector<std::vector<Out<>>> outlets(3);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    fabrics.push_back(std::make_unique<Fabric>(network.World(rank)));
    for (std::size_t peer = 0; peer < 3; ++peer) {
      inlets[rank].emplace_back(Process{.fabric = fabrics[rank].get(), .peer = peer});
      outlets[rank].emplace_back(Process{.fabric = fabrics[rank].get(), .peer = peer});
    }
  }
  network.Together([&](std::size_t rank) {
    fabrics[rank]->Connect();
    for (std::size_t peer = 0; peer < 3; ++peer) inlets[rank][peer].Put(static_cast<int>(10 * rank + peer), After(5s));
    for (std::size_t peer = 0; peer < 3; ++peer) outlets[rank][peer].Step(After(5s));
    fabrics[rank]->Close();
  });
  for (std::size_t rank = 0; rank < 3; ++rank) {
    for (std::size_t peer = 0; peer < 3; ++peer) {
      outlets[rank][peer].HandOver();
      CHECK(outlets[rank][peer].Get() == static_cast<int>(10 * peer + rank));
    }
  }
  CHECK(network.NumReleased() == 3);
}

TEST_CASE("What is put before connecting waits, and more can be connected later") {
  TwoProcesses two{{}, {}, GENERATE(0U, 2U)};
  In<> inlet{two.Reach(0)};
  Out<> outlet{two.Reach(1)};
  CHECK(inlet.TryPut(1));
  CHECK(inlet.TryPut(2));
  CHECK_FALSE(inlet.TryFlush());
  CHECK(outlet.TryStep() == 0);
  two.Connect();
  CHECK(inlet.TryFlush());
  two.PollBoth();
  CHECK(outlet.TryStep() == 1);

  In<> later_inlet{two.Reach(0, 1)};
  Out<> later_outlet{two.Reach(1, 1)};
  CHECK(later_inlet.TryPut(7));
  CHECK(inlet.TryPut(3));
  two.Connect();
  two.PollBoth();
  CHECK(outlet.TryStep(no_limit) == 2);
  CHECK(outlet.Get() == 3);
  CHECK(later_outlet.TryStep() == 1);
  CHECK(later_outlet.Get() == 7);
}

TEST_CASE("An exchange whose frames are too large for the open link opens another, unless the link was opened for it") {
  struct Large {
    std::array<char, 1000> bytes;
  };
  for (const bool is_foreseen : {false, true}) {
    TwoProcesses two{{.payload_bytes = is_foreseen ? 2000U : 0U}};
    In<> inlet{two.Reach(0)};
    Out<> outlet{two.Reach(1)};
    two.Connect();
    Inlet<Large, every, W> large_inlet{two.Reach(0, 1)};
    Outlet<Large, every, W> large_outlet{two.Reach(1, 1)};
    CHECK(inlet.TryPut(1));  // before the second link, over the first
    two.Connect();
    CHECK(two.fabrics[0]->Engine()->NumConnections() == (is_foreseen ? 1U : 2U));
    CHECK(large_inlet.TryPut(Large{}));
    CHECK(inlet.TryPut(2));
    In<> last_inlet{two.Reach(0, 2)};
    Out<> last_outlet{two.Reach(1, 2)};
    two.Connect();
    CHECK(two.fabrics[0]->Engine()->NumConnections() == (is_foreseen ? 1U : 2U));
    CHECK(last_inlet.TryPut(3));
    two.PollBoth();
    CHECK(large_outlet.TryStep() == 1);
    CHECK(outlet.TryStep(no_limit) == 2);
    CHECK(outlet.Get() == 2);
    CHECK(last_outlet.TryStep() == 1);
    CHECK(inlet.TryPut(4));
    CHECK(two.Close());
    CHECK(outlet.TryStep() == 1);
    CHECK(outlet.Get() == 4);
  }
}

TEST_CASE("A put leaves at once, without a poll, while there is credit") {
  TwoProcesses two{{.num_slots = 2}};
  In<> inlet{two.Reach(0)};
  Out<> outlet{two.Reach(1)};
  In<latest> latest_inlet{two.Reach(0, 1)};
  Out<latest> latest_outlet{two.Reach(1, 1)};
  two.Connect();
  CHECK(inlet.TryPut(1));
  CHECK(latest_inlet.TryPut(2));
  CHECK(two.network.Pipe(0, 1).NumInFlight() == 2);
  CHECK(inlet.TryFlush());
  CHECK(inlet.TryPut(3));
  CHECK_FALSE(inlet.TryFlush());  // no credit
  CHECK(two.network.Pipe(0, 1).NumInFlight() == 2);
  CHECK(outlet.TryStep() == 1);
  CHECK(inlet.TryFlush());
}

TEST_CASE("What goes back for a stream of messages is a frame or two per half window") {
  TwoProcesses two;
  In<> inlet{two.Reach(0)};
  Out<> outlet{two.Reach(1)};
  two.Connect();
  for (int i = 0; i < 1600; ++i) {
    REQUIRE(inlet.TryPut(i));
    REQUIRE(outlet.TryStep() == 1);
  }
  // The reverse frames: a report, or an acknowledgement, for each 8 messages.
  CHECK(two.fabrics[0]->NumFramesReceived() <= 400);
}

TEST_CASE("After the fabric has closed ends accept nothing, and what has arrived can be read, even if it is gone") {
  TwoProcesses two{{}, {}, GENERATE(0U, 2U)};
  In<> inlet{two.Reach(0)};
  Out<> outlet{two.Reach(1)};
  In<latest> latest_inlet{two.Reach(0, 1)};
  Out<latest> latest_outlet{two.Reach(1, 1)};
  two.Connect();
  for (int i = 1; i <= 3; ++i) {
    CHECK(inlet.TryPut(i));
    CHECK(latest_inlet.TryPut(i));
  }
  CHECK(two.Close());
  CHECK(two.network.NumReleased() == 2);
  two.fabrics[0].reset();
  two.fabrics[1].reset();
  CHECK_FALSE(inlet.TryPut(4));
  CHECK_FALSE(inlet.Put(4));  // does not wait for ever
  CHECK_FALSE(latest_inlet.TryPut(4));
  CHECK(inlet.Tally().dropped == 2);
  for (int i = 1; i <= 3; ++i) {
    CHECK(outlet.Step());
    CHECK(outlet.Get() == i);
  }
  CHECK_FALSE(outlet.Step());
  CHECK(latest_outlet.TryStep() == 1);
  CHECK(latest_outlet.Get() == 3);
  CHECK(((Tally{} += inlet.Tally()) += outlet.Tally()).Balanced());
  CHECK(((Tally{} += latest_inlet.Tally()) += latest_outlet.Tally()).Balanced());
}

TEST_CASE("What is read after the fabric has closed is reported to nobody") {
  TwoProcesses two{{.num_slots = 4}};  // of two hosts
  In<> inlet{two.Reach(0)};
  Out<> outlet{two.Reach(1)};
  In<> back{two.Reach(1, 1)};
  const Out<> end_of_back{two.Reach(0, 1)};
  two.Connect();
  for (int i = 1; i <= 8; ++i) CHECK(inlet.TryPut(i));
  two.PollBoth();
  for (int i = 1; i <= 8; ++i) CHECK(back.TryPut(i));  // the other takes four of them
  CHECK_FALSE(two.fabrics[1]->Close(After(1ms)));
  for (int i = 1; i <= 8; ++i) {  // half of the window, so a report is due
    REQUIRE(outlet.TryStep() == 1);
    CHECK(outlet.Get() == i);
  }
  CHECK_FALSE(back.TryFlush());
  CHECK(outlet.TryStep() == 0);
  two.fabrics[0]->Close(After(1ms));
}

TEST_CASE("Within a host messages go from end to end, without a poll and past the link, unless they are very large") {
  struct Large {
    std::array<int, 100'000> values;
  };
  TwoProcesses two{{}, {}, 2};
  In<> inlet{two.Reach(0)};
  Out<> outlet{two.Reach(1)};
  const auto large_ends = [&](std::uint64_t channel) {
    return std::pair{Inlet<Large, every, W>{two.Reach(0, channel)}, Outlet<Large, every, W>{two.Reach(1, channel)}};
  };
  auto [large_inlet, large_outlet] = large_ends(1);
  two.Connect();
  REQUIRE(inlet.TryPut(5));
  REQUIRE(outlet.TryStep() == 1);
  CHECK(outlet.Get() == 5);

  auto large = std::make_unique<Large>();
  large->values.back() = 7;
  REQUIRE(large_inlet.TryPut(*large));
  REQUIRE(large_outlet.TryStep() == 1);
  CHECK(large_outlet.Get().values.back() == 7);
  CHECK(two.fabrics[1]->NumFramesReceived() == 2);
}

TEST_CASE("Within a host an aggregated exchange has shared memory of its own by default") {
  TwoProcesses two{{}, {}, 2};
  Inlet<int, every_aggregated, W> inlet{two.Reach(0)};
  Outlet<int, every_aggregated, W> outlet{two.Reach(1)};
  Inlet<std::vector<int>, every_aggregated, W> row_inlet{two.Reach(0, 1)};
  Outlet<std::vector<int>, every_aggregated, W> row_outlet{two.Reach(1, 1)};
  two.Connect();
  for (const auto& fabric : two.fabrics) CHECK(fabric->UnsharedExchanges().empty());
  for (std::size_t index = 0; index < two.fabrics[0]->Engine()->NumOutgoing(); ++index)
    CHECK(two.fabrics[0]->Engine()->Outgoing(index).box->IsShared());
  REQUIRE(inlet.TryPut(5));
  REQUIRE(inlet.TryFlush());
  CHECK(outlet.TryStep() == 1);
}

TEST_CASE("A fabric counts the exchanges that are too large for shared memory of their own") {
  using Counts = std::map<std::size_t, std::size_t>;
  for (const bool is_one_host : {true, false}) {
    CAPTURE(is_one_host);
    TwoProcesses two{{}, {}, is_one_host ? std::size_t{2} : std::size_t{1}};
    const auto reach = [&](std::size_t rank, std::uint64_t channel) {
      Process process = two.Reach(rank, channel);
      process.depth = 8192;                         // so that messages could fill the buffer
      process.num_frames = channel == 1 ? 11 : 12;  // one more frame than fits
      return process;
    };
    const auto check_counts = [&](std::size_t count) {
      CHECK(two.fabrics[0]->UnsharedExchanges() == (is_one_host ? Counts{{1, count}} : Counts{}));
      CHECK(two.fabrics[1]->UnsharedExchanges() == (is_one_host ? Counts{{0, count}} : Counts{}));
    };
    Inlet<int, every_aggregated, W> small_inlet{reach(0, 1)}, inlet{reach(0, 2)}, inlet_back{reach(1, 3)};
    Outlet<int, every_aggregated, W> small_outlet{reach(1, 1)}, outlet{reach(1, 2)}, outlet_back{reach(0, 3)};
    two.Connect();
    check_counts(2);
    Inlet<int, every_aggregated, W> late_inlet{reach(0, 4)};
    Outlet<int, every_aggregated, W> late_outlet{reach(1, 4)};
    two.Connect();
    check_counts(3);
  }
}

TEST_CASE("A closed fabric says so, and closes once") {
  TwoProcesses two;
  In<> inlet{two.Reach(0)};
  Out<> outlet{two.Reach(1)};
  two.Connect();
  CHECK(two.Close());
  CHECK(two.Close());
  CheckThrows([&] { In<>(two.Reach(0, 1)); }, "closed");
  CheckThrows([&] { two.fabrics[0]->Connect(); }, "closed");
  CHECK(two.network.NumReleased() == 2);
}

TEST_CASE("A close without an answer ends at its deadline and marks the process as broken") {
  TwoProcesses two;
  In<> inlet{two.Reach(0)};
  Out<> outlet{two.Reach(1)};
  two.Connect();
  CHECK(inlet.TryPut(1));
  SECTION("of the peer") {
    CHECK_FALSE(two.fabrics[0]->Close(After(20ms)));
    CHECK_FALSE(two.fabrics[0]->Close(After(20ms)));
    CHECK(two.network.NumReleased() == 0);
    two.fabrics[1]->Close(After(1ms));
  }
  SECTION("of others, though not of the peer") {
    two.network.LosePeers();
    CHECK_FALSE(two.Close());
  }
}

TEST_CASE("A wait for a process that has ended returns on every transport") {
  for (const std::size_t processes_per_host : {0U, 2U}) {
    CAPTURE(processes_per_host);
    CheckWaitsEndWithPeer<every>(processes_per_host);
    CheckWaitsEndWithPeer<every_pooled>(processes_per_host);
    CheckWaitsEndWithPeer<every_aggregated>(processes_per_host);
    CheckWaitsEndWithPeer<latest>(processes_per_host);
  }
}

TEST_CASE("A wait for a live process continues after another has ended") {
  for (const std::size_t num_processes : {3U, 4U}) {
    for (const bool shares_memory : {false, true}) {
      CAPTURE(num_processes, shares_memory);
      CheckWaitsForTheLiving<every>(num_processes, shares_memory);
      CheckWaitsForTheLiving<latest>(num_processes, shares_memory);
      CheckWaitsForTheLiving<accumulate_pooled>(num_processes, shares_memory);
    }
  }
}

TEST_CASE("A pair is spliced to another process and back, and nothing is lost") {
  using Wide = TransportSet<Intra, Thread, Process>;
  LoopbackNetwork network{1};
  Fabric fabric{network.World(0)};
  Conduit<int, every, Wide> conduit{Thread{.depth = 8}};
  auto& [inlet, outlet] = conduit;
  int num_put = 0;
  const auto put = [&](int count) {
    for (int i = 0; i < count; ++i) CHECK(inlet.TryPut(++num_put));
  };
  put(3);
  CHECK(outlet.TryStep() == 1);
  const Process reach{.fabric = &fabric};
  Splice(inlet, outlet, reach);
  fabric.Connect();
  put(3);
  CHECK(outlet.TryStep() == 1);
  CHECK(outlet.Get() == 2);
  for (int i = 0; i < 4; ++i) fabric.Poll();
  Splice(inlet, outlet, Intra{.depth = 8});
  put(1);
  for (int i = 3; i <= 7; ++i) {
    CHECK(outlet.TryStep() == 1);
    CHECK(outlet.Get() == i);
  }
  Splice(inlet, outlet, reach);  // the same channel again
  put(1);
  fabric.Poll();
  CHECK(outlet.Step(After(5s)));
  CHECK(outlet.Get() == 8);
  fabric.Close();
  Tally tally;
  tally += inlet.Tally();
  tally += outlet.Tally();
  CHECK(tally.Balanced());
  CHECK(tally.get.unread == 0);
}

TEST_CASE("A splice to another process and back carries a sum, and what it stands for") {
  using Wide = TransportSet<Intra, Thread, Process>;
  LoopbackNetwork network{1};
  Fabric fabric{network.World(0)};
  const Process reach{.fabric = &fabric, .num_channels = 2, .depth = 2};
  Conduit<std::uint8_t, accumulate_pooled, Wide> conduit{Thread{}};
  auto& [inlet, outlet] = conduit;
  const auto tally = [&in = inlet, &out = outlet] { return (Tally{} += in.Tally()) += out.Tally(); };
  for (int i = 0; i < 3; ++i) CHECK(inlet.TryPut(50));
  Splice(inlet, outlet, reach);
  fabric.Connect();
  CHECK(tally().InFlight() == 3);
  CHECK(inlet.TryPut(50));
  const auto step = [&, &in = inlet, &out = outlet] {
    in.TryFlush();
    out.TryStep();
    return tally().InFlight() == 0;
  };
  REQUIRE(WaitUntil(step, After(5s)));
  CHECK(tally().get.stepped + tally().get.folded == 4);

  CHECK(inlet.TryPut(250));  // as much as there is room for
  CHECK(inlet.TryFlush());
  CHECK(inlet.TryPut(25));
  Splice(inlet, outlet, Intra{});
  CHECK(tally().get.unread == 1);  // the second sum found no room beside the first
  CHECK(outlet.JumpGet() == 250);
  CHECK(outlet.JumpGet() == 0);
  CHECK(tally().put.dropped == 0);
  CHECK(tally().Balanced());
  fabric.Close();
}

TEST_CASE("A splice carries what waits in a pool for room at the peer") {
  constexpr Policy pooled{.consolidate = Consolidate::pooled};
  using Wide = TransportSet<Intra, Thread, Process>;
  LoopbackNetwork network{1};
  Fabric fabric{network.World(0)};
  const Process reach{.fabric = &fabric, .num_channels = 2, .depth = 2};
  Process other_reach = reach;
  other_reach.channel = 1;
  Conduit<int, pooled, Wide> conduit{reach};
  Conduit<int, pooled, Wide> other{other_reach};
  fabric.Connect();
  for (int i = 1; i <= 2; ++i) {  // until no more frames may depart
    CHECK(other.inlet.TryPut(i));
    CHECK(other.inlet.TryFlush());
  }
  CHECK(conduit.inlet.TryPut(7));
  CHECK_FALSE(conduit.inlet.TryFlush());
  Splice(conduit.inlet, conduit.outlet, Intra{});
  CHECK(conduit.outlet.TryStep() == 1);
  CHECK(conduit.outlet.Get() == 7);
  Tally tally;
  tally += conduit.inlet.Tally();
  tally += conduit.outlet.Tally();
  CHECK(tally.Balanced());
}

TEST_CASE("Two workers of a process share a box at once, if the fabric joins its own exchanges") {
  constexpr Policy aggregated{.consolidate = Consolidate::aggregated};
  LoopbackNetwork network{1};
  Fabric fabric{network.World(0), {.num_workers = 2, .joins_own = true}};
  const Process reach{.fabric = &fabric, .key = {.source = 0, .destination = 1}, .depth = 2, .worker = 0};
  const Process back{.fabric = &fabric, .key = {.source = 1, .destination = 0}, .depth = 2, .worker = 1};
  Conduit<int, aggregated, TransportSet<Intra, Process>> there{reach};
  Conduit<int, aggregated, TransportSet<Intra, Process>> here{back};
  for (int i = 1; i <= 2; ++i) CHECK(there.inlet.TryPut(i));
  CHECK_FALSE(there.inlet.TryPut(3));
  CHECK(there.inlet.TryFlush());  // before Connect, and without a poll
  CHECK(here.outlet.Jump() == 0);
  CHECK(there.outlet.Jump() == 2);
  CHECK(there.outlet.Get() == 2);
  fabric.Connect();
  CHECK(here.inlet.TryPut(4));
  CHECK(fabric.Close());
  CHECK(fabric.NumFramesReceived() == 0);  // by a link
  CHECK_FALSE(there.inlet.TryPut(5));
  CHECK(here.outlet.JumpGet() == 4);
  Tally tally;
  for (const auto* const conduit : {&there, &here}) {
    tally += conduit->inlet.Tally();
    tally += conduit->outlet.Tally();
  }
  CHECK(tally.put.dropped == 2);
  CHECK(tally.Balanced());
}

TEST_CASE("The halves of an exchange within a process are compared, and a half without the other is named by Connect") {
  const bool is_receiver_first = GENERATE(false, true);
  LoopbackNetwork network{1};
  Fabric fabric{network.World(0), {.num_workers = 2, .joins_own = true}};
  const ExchangeSpec spec{.key = {.channel = 4, .source = 0, .destination = 1}, .frame_bytes = 8, .depth = 2};
  ExchangeSpec deeper = spec;
  deeper.depth = 3;
  const auto add = [&](const ExchangeSpec& with, bool is_incoming) {
    if (is_incoming) fabric.AddIncoming(0, with, FrameBox::Every(2));
    else fabric.AddOutgoing(0, 0, with, FrameBox::Every(2));
  };
  const std::string name = spec.Name();
  add(spec, is_receiver_first);
  CHECK(WordsThrownBy([&] { add(spec, is_receiver_first); }) == name + (is_receiver_first ? " has two outlets" : " has two inlets"));
  CHECK(WordsThrownBy([&] { add(deeper, !is_receiver_first); }).starts_with(name + ": the depth is "));
  CHECK(WordsThrownBy([&] { fabric.Connect(); }) == "rank 0 cannot exchange with itself: " + name +
                                                         (is_receiver_first ? " has an outlet and no inlet" : " has an inlet and no outlet"));
  add(spec, !is_receiver_first);
  CHECK(WordsThrownBy([&] { fabric.Connect(); }).empty());
}

TEST_CASE("Between two workers of a process a frame is read where it was written, whichever half came first") {
  const bool keeps_latest = GENERATE(false, true);
  const bool is_receiver_first = GENERATE(false, true);
  constexpr std::uint32_t num_bytes = 600;
  std::shared_ptr<FrameBox> box;
  {
    LoopbackNetwork network{1};
    Fabric fabric{network.World(0), {.num_workers = 2, .joins_own = true}};
    const ExchangeSpec spec{.key = {.source = 0, .destination = 1}, .frame_bytes = num_bytes};
    const auto make_box = [&] { return keeps_latest ? FrameBox::Latest() : FrameBox::Every(2); };
    const auto receive = [&] {
      auto lending = make_box();
      lending->LendFrom(1);
      box = fabric.AddIncoming(0, spec, std::move(lending));
    };
    if (is_receiver_first) receive();
    OutPort port = fabric.AddOutgoing(0, 0, spec, make_box());
    if (!is_receiver_first) {
      Frame early(num_bytes);
      early.Header() = {.num_bytes = 3, .update = 1};
      std::fill_n(early.Payload(), 3, std::byte{6});
      REQUIRE(port.TryDepart(early));  // before there is anybody to read it
      receive();
      REQUIRE(box->TryStep());
      CHECK(box->View().Header().update == 1);
      CHECK(std::ranges::count(box->Lent(), std::byte{6}) == 3);
    }

    std::byte* const place = port.TryLend(num_bytes);
    REQUIRE(place != nullptr);
    std::fill_n(place, num_bytes, std::byte{7});
    port.Publish({.num_bytes = num_bytes, .update = 5});
    REQUIRE(box->TryStep());
    CHECK(box->View().Payload() == place);
    std::byte* const next = port.TryLend(num_bytes);
    REQUIRE(next != nullptr);
    CHECK(next != place);
    std::fill_n(next, num_bytes, std::byte{8});
    CHECK(std::ranges::count(box->Lent(), std::byte{7}) == num_bytes);
    port.Publish({.num_bytes = num_bytes, .update = 6});
  }
  REQUIRE(box->TryStep());  // the memory is there as long as an end
  CHECK(box->View().Header().update == 6);
  CHECK(std::ranges::count(box->Lent(), std::byte{8}) == num_bytes);
  CHECK_FALSE(box->TryStep());
}

TEMPLATE_TEST_CASE_SIG("A sender that only puts and flushes gets room again as soon as the receiver has read", "", ((Policy policy), policy),
                       accumulate, accumulate_pooled, every_pooled, every_aggregated) {
  typename ExchangeSubject<policy, ToOther>::template Pair<int> pair{2, 0, {.num_slots = 16}};
  int num_refused = 0;  // in a row
  int sum = 0;
  for (int num_put = 0; num_put < 200 && num_refused < 100;) {
    const bool is_put = pair.inlets.back().TryPut(1);
    num_put += is_put ? 1 : 0;
    const bool is_flushed = pair.TryFlush();
    num_refused = is_put && is_flushed ? 0 : num_refused + 1;
    pair.There().Poll();
    while (pair.outlets.back().TryStep(1) != 0) sum += pair.Get();
    pair.There().Poll();
  }
  CHECK(num_refused < 100);
  CHECK(sum > 100);
}
