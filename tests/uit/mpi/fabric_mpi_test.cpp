// Fabrics over MPI: an error ends in a message on every rank, and never hangs.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/pmpi/faults.hpp"
#include "tests/support/pmpi/watch.hpp"
#include "tests/support/thrown.hpp"
#include "tests/uit/exchange/support/policies.hpp"
#include "tests/uit/mpi/support/ring.hpp"
#include "tests/uit/mpi/support/set_up_exchanges.hpp"

using namespace uit;
using namespace uit::testing;
using namespace std::chrono_literals;

namespace {

using W = TransportSet<Process>;

/// Returns whether all ranks have the same text.
bool IsEverywhereTheSame(const World& world, const std::string& text) {
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  const Bytes mine(bytes, bytes + text.size());
  for (const Bytes& other : world.AllGather(mine)) {
    if (other != mine) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("Processes that disagree on sharing memory are refused with a message") {
  const World world = TheWorld();
  if (world.Size() == 1) return;
  const RingPlace place{world};
  Fabric fabric{world, {.shares_memory = world.IsRoot()}};
  RingEnds<Load<64>, every> ends{fabric, place, {}};
  const std::string words = WordsThrownBy([&] { fabric.Connect(); });
  CHECK(words == "rank 0 has FabricOptions::shares_memory of 1, where another process has 0");
}

TEST_CASE("Types that differ between ranks are refused on every rank with the same message") {
  const World world = TheWorld();
  const RingPlace place{world};
  Fabric fabric{world};
  Inlet<int, every, W> inlet{Process{.fabric = &fabric, .peer = place.next}};
  Outlet<double, every, W> outlet{Process{.fabric = &fabric, .peer = place.previous}};
  const std::string words = WordsThrownBy([&] { fabric.Connect(); });
  CHECK(words.find("the message's size is 4 at the inlet and 8 at the outlet") != std::string::npos);
  CHECK(IsEverywhereTheSame(world, words));
}

TEST_CASE("A link beyond MPI's counts is refused on all ranks, and the fabric closes") {
  const World world = TheWorld();
  Fabric fabric{world, {.payload_bytes = std::size_t{1} << 31}};
  Inlet<int, every, W> inlet{Process{.fabric = &fabric, .peer = world.Rank()}};
  Outlet<int, every, W> outlet{Process{.fabric = &fabric, .peer = world.Rank()}};
  const std::string words = WordsThrownBy([&] { fabric.Connect(); });
  CHECK(words.find("over the limit of 1 GiB") != std::string::npos);
  CHECK(IsEverywhereTheSame(world, words));
  CHECK(fabric.Close());
}

TEST_CASE("A link that MPI refuses on one rank is an error on all, and nothing is left pending") {
  const World world = TheWorld();
  const RingPlace place{world};
  {
    Fabric fabric{world, {.shares_memory = false}};
    RingEnds<Load<64>, every> ends{fabric, place, {}};
    const int num_greetings = static_cast<int>(std::min<std::size_t>(world.Size(), 3)) - 1;  // of the neighbours in the ring
    const pmpi::Failing failing{"MPI_Irecv", world.IsRoot() ? num_greetings + 1 : 0};
    const std::string words = WordsThrownBy([&] { fabric.Connect(); });
    CHECK(words.find("rank 0 cannot open its links: MPI_Irecv failed") != std::string::npos);
    CHECK(IsEverywhereTheSame(world, words));
    CHECK(fabric.NumLeaked() == 0);
  }
  CHECK(pmpi::NumPending() == 0);
}

TEST_CASE("An MPI error is thrown by the call that met it and the fabric still closes") {
  const World world = TheWorld();
  {
    Fabric fabric{world, {.shares_memory = false}};
    const Process to_self{.fabric = &fabric, .peer = world.Rank()};
    Inlet<int, every, W> inlet{to_self};
    Outlet<int, every, W> outlet{to_self};
    fabric.Connect();
    SECTION("while sending") {
      const pmpi::Failing failing{"MPI_Isend"};
      CheckThrows([&] { inlet.TryPut(1); }, "MPI_Isend failed");
    }
    SECTION("while receiving") {
      const pmpi::Failing failing{"MPI_Test"};
      CheckThrows([&] { outlet.TryStep(); }, "MPI_Test failed");
    }
    SECTION("while posting a receive") {
      CHECK(inlet.TryPut(1));
      const pmpi::Failing failing{"MPI_Irecv"};
      CheckThrows([&] { outlet.Step(After(5s)); }, "MPI_Irecv failed");
    }
    SECTION("while receiving what is longer than its receive") {
      CHECK(inlet.TryPut(1));
      const pmpi::Truncating truncating;
      CheckThrows([&] { outlet.Step(After(5s)); }, "MPI_Test failed");
    }
    CHECK(fabric.Poll() + 1 > 0);  // the lock is free
    fabric.Close(After(200ms));
  }
  pmpi::CleanUp();
}

TEST_CASE("A peer that never closes is given up at the deadline without a collective") {
  const World world = TheWorld();
  if (world.Size() == 1) return;
  const bool shares_memory = GENERATE(true, false);
  {
    Fabric fabric{world, {.shares_memory = shares_memory}};
    // All exchange messages with rank 0, which closes alone.
    std::vector<Inlet<int, every, W>> inlets;
    std::vector<Outlet<int, every, W>> outlets;
    for (std::size_t rank = 1; rank < world.Size(); ++rank) {
      if (world.IsRoot())
        inlets.emplace_back(Process{.fabric = &fabric, .peer = rank});
      else if (world.Rank() == rank)
        outlets.emplace_back(Process{.fabric = &fabric, .peer = 0});
    }
    fabric.Connect();
    for (auto& inlet : inlets) CHECK(inlet.TryPut(1));
    const auto close = [&] {
      const TimePoint before = Now();
      CHECK_FALSE(fabric.Close(After(100ms)));
      CHECK(Now() - before < 5s);
      CHECK(fabric.NumLeaked() > 0);
      CHECK(world.Process()->IsBroken());
    };
    if (world.IsRoot()) close();
    world.Agree({});
    if (!world.IsRoot()) close();
  }
  world.Agree({});
  pmpi::CleanUp();
  world.Agree({});
}

TEST_CASE("A thread level that is too low is refused with a clear message") {
  const auto pretence = pmpi::Pretence::ThreadLevel(MPI_THREAD_FUNNELED);
  CheckThrows([] { TheWorld(); }, "MPI_THREAD_SERIALIZED is needed");
}

TEST_CASE("Set-up exchanges gather, scatter and agree") { CheckSetUpExchanges(TheWorld()); }

TEST_CASE("Options that differ are refused, also between processes that exchange nothing") {
  const World world = TheWorld();
  if (world.Size() == 1) return;
  Fabric fabric{world, {.num_slots = 4 + world.Rank()}};
  const std::string words = WordsThrownBy([&] { fabric.Connect(); });
  CHECK(words == "rank 1 has FabricOptions::num_slots of 5, where another process has 4");
}

TEST_CASE("A half without its other half is refused on every rank") {
  const World world = TheWorld();
  if (world.Size() == 1) return;
  const std::size_t last = world.Size() - 1;
  for (const bool is_inlet : {true, false}) {
    Fabric fabric{world};
    std::optional<Inlet<int, latest, W>> inlet;
    std::optional<Outlet<int, latest, W>> outlet;
    const Process process{.fabric = &fabric, .peer = last};
    if (world.IsRoot() && is_inlet) inlet.emplace(process);
    if (world.IsRoot() && !is_inlet) outlet.emplace(process);
    const std::string words = WordsThrownBy([&] { fabric.Connect(); });
    CAPTURE(words);
    CHECK(words.find(is_inlet ? "has no outlet there" : "has an outlet there and no inlet here") != std::string::npos);
    CHECK(IsEverywhereTheSame(world, words));
  }
}

TEST_CASE("An outlet that is never stepped does not stall the others") {
  using Message = Load<1024>;
  const World world = TheWorld();
  const RingPlace place{world};
  Fabric fabric{world, {.shares_memory = GENERATE(true, false)}};
  RingEnds<Message, every> unread{fabric, place, {.key = {.layer = 0}}};
  RingEnds<Message, every> read{fabric, place, {.key = {.layer = 1}}};
  RingEnds<Message, latest> newest{fabric, place, {.key = {.layer = 2}}};
  fabric.Connect();
  constexpr std::uint64_t last = 2000;
  const auto work = [&] {
    unread.TryPut(1'000'000);
    read.TryPut(last);
    newest.TryPut(last);
    read.TryStep();
    newest.TryStep();
    return read.num_got == last && newest.num_got == last && read.num_put == last && newest.num_put == last;
  };
  CHECK(WaitUntil(work, After(20s)));
  CHECK(unread.num_put == 16);
  CHECK(unread.inlet.Tally().dropped > 0);
  CHECK(fabric.Close());
  CHECK(unread.outlet.Bound().Visit([](auto* duct) { return duct->NumUnread(); }) == 16);
  CHECK(read.is_right);
  CHECK(newest.is_right);
}

TEST_CASE("Two sessions in one program are one MPI") {
  int argc = 0;
  char** argv = nullptr;
  {
    const mpi::Session session{argc, argv};
    CHECK(session.Size() == TheWorld().Size());
    CHECK(session.Rank() == TheWorld().Rank());
  }
  int is_finalised = 1;
  MPI_Finalized(&is_finalised);
  CHECK(is_finalised == 0);
}
