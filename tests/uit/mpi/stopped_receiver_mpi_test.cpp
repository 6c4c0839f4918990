// A receiver stops: first it does not step one of its channels, then the system suspends it. Senders continue, no process's
// memory grows, and MPI holds no more requests than its links have slots.
//
// UIT_TEST_STOP_SECONDS sets the length of a stop; by default a few seconds.

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/goal.hpp"
#include "tests/support/other_process.hpp"
#include "tests/support/pmpi/watch.hpp"
#include "tests/uit/core/support/sanitized.hpp"
#include "tests/uit/exchange/support/policies.hpp"
#include "tests/uit/mpi/support/ring.hpp"

using namespace uit;
using namespace uit::testing;
using namespace std::chrono_literals;

namespace {

using Kilobyte = Load<1024>;
constexpr std::uint64_t no_end = ~std::uint64_t{0};
constexpr std::int64_t max_growth = 5'000'000;  // bytes
// bytes put to a stopped receiver; memory would grow noticeably if they were kept
constexpr std::int64_t min_flood = 4 * max_growth;

constexpr FabricOptions options{};
/// The largest number of frames in flight to a peer: those that need its credit, and those that need none. As many come from
/// it.
constexpr std::size_t num_frames_each_way = options.num_slots + Connection::num_uncredited;

/// The largest number of MPI requests at once.
constexpr std::size_t MaxRequests(std::size_t num_peers) { return 2 * num_frames_each_way * num_peers; }

/// Conduits of both kinds to one process and from one.
struct Line {
  Line(Fabric& fabric, const RingPlace& place, std::uint32_t layer)
      : all(fabric, place, {.key = {.layer = layer}}), newest(fabric, place, {.key = {.layer = layer + 1}}) {}

  void Put() {
    all.TryPut(no_end);
    newest.TryPut(no_end);
  }
  PutTally Puts() const { return all.inlet.Tally() + newest.inlet.Tally(); }
  void Step() {
    all.TryStep();
    newest.TryStep();
  }

  RingEnds<Kilobyte, every> all;
  RingEnds<Kilobyte, latest> newest;
};

/// The ring place of a process with a single neighbour.
RingPlace Between(const World& world, std::size_t peer) {
  RingPlace place{world};
  place.next = peer;
  place.previous = peer;
  return place;
}

/// Calls `work_once` in bursts, with pauses that leave the core to others, until `until` holds or `span` has passed.
template <typename F, typename Until>
bool WorkFor(std::chrono::duration<double> span, F&& work_once, Until&& until) {
  const Deadline end = After(span);
  while (!until()) {
    if (Now() >= end) return false;
    for (int i = 0; i < 64; ++i) work_once();
    std::this_thread::sleep_for(100us);
  }
  return true;
}
bool Never() { return false; }

/// Prints what the sending side has done in a period, and how much memory both sides have taken.
void Print(const char* what, const PutTally& before, const PutTally& after, std::int64_t here, std::int64_t there,
           std::size_t num_peers) {
  std::printf("%s: %llu messages of 1 KiB put, %llu of them refused; grown by %lld bytes, the receiver by %lld\n", what,
              static_cast<unsigned long long>(after.attempted - before.attempted),
              static_cast<unsigned long long>(after.dropped - before.dropped), static_cast<long long>(here),
              static_cast<long long>(there));
  std::array<char, 240> figure{};
  std::snprintf(figure.data(), figure.size(),
                "%s for %.0f s: the sender has grown by %.1f MB, the receiver by %.1f MB; at most %.1f requests of MPI per peer, "
                "of %zu",
                what, StopFor().count(), static_cast<double>(here) / 1e6, static_cast<double>(there) / 1e6,
                static_cast<double>(pmpi::MostPending()) / static_cast<double>(num_peers), MaxRequests(1));
  PrintGoal("R6", figure.data());
}

void CheckMemory(const Growth& here, const Growth& there, std::uint64_t num_put) {
  if (is_sanitized) {
    std::printf("left out under a sanitizer, which is slow and takes memory itself: how much memory has grown\n");
    return;
  }
  CHECK(num_put * sizeof(Kilobyte) > static_cast<std::uint64_t>(min_flood));
  CHECK(here.Most() <= max_growth);
  CHECK(there.Most() <= max_growth);
}

void CheckRequests(const World& world, std::size_t num_peers) {
  CHECK(pmpi::MostPending() <= MaxRequests(num_peers));
  const bool is_all_over_mpi = world.HostRanks().size() == 1;
  if (is_all_over_mpi) CHECK(pmpi::MostPending() > num_frames_each_way * num_peers);  // receives, and then sends
}

template <typename Ends>
void CheckAccount(Ends& ends, const Tally& tally) {
  while (ends.TryStep()) {
  }
  CHECK(ends.is_right);
  CHECK((Tally{} += tally.put).put.Accepted() == ends.num_got);
  CHECK(((Tally{} += tally.put) += ends.outlet.Tally()).Balanced());
}

}  // namespace

TEST_CASE("A channel that is not stepped stalls no other channel and makes no memory grow") {
  const World world = TheWorld();
  const RingPlace place{world};
  const std::vector<pid_t> pids = Pids(world);
  Fabric fabric{world, options};
  Line unread{fabric, place, 0};
  Line read{fabric, place, 2};
  fabric.Connect();
  const std::size_t num_peers = place.next == place.previous ? 1 : 2;
  const auto work_once = [&] {
    unread.Put();
    read.Put();
    read.Step();
  };
  WorkFor(500ms, work_once, Never);
  Growth here{getpid()};
  Growth there{pids[place.next]};
  const PutTally before = unread.Puts();
  const std::uint64_t num_read_before = read.all.num_got;
  const std::uint64_t num_newest_before = read.newest.num_got;
  WorkFor(StopFor(), work_once, Never);
  here.Look();
  there.Look();
  const PutTally after = unread.Puts();
  if (world.IsRoot()) {
    Print("not stepped", before, after, here.Most(), there.Most(), num_peers);
    std::printf("  meanwhile the other channels have read %llu of every message, and were at %llu of the newest\n",
                static_cast<unsigned long long>(read.all.num_got - num_read_before),
                static_cast<unsigned long long>(read.newest.num_got - num_newest_before));
  }
  CHECK(read.all.num_got > num_read_before + 100);
  CHECK(read.newest.num_got > num_newest_before + 100);
  CHECK(after.dropped > before.dropped + 100);
  CHECK(unread.all.num_put == 16);
  CHECK(fabric.Close());
  const auto check = [&](auto& ends) { CheckAccount(ends, JoinTallies(world, place, ends.inlet.Tally(), {})); };
  check(read.all);
  check(read.newest);
  check(unread.all);
  check(unread.newest);
  here.Look();
  CheckMemory(here, there, after.attempted - before.attempted);
  CheckRequests(world, num_peers);
  CHECK(pmpi::NumPending() == 0);
}

TEST_CASE("A suspended process stalls no other process and makes no memory grow") {
  // Rank 0 suspends rank 1, to which all send.
  const World world = TheWorld();
  const std::vector<pid_t> pids = Pids(world);
  Fabric fabric{world, options};
  std::vector<std::size_t> peers;
  std::vector<std::unique_ptr<Line>> lines;
  // Rank 0 tells all ranks how far the test is.
  std::vector<std::unique_ptr<RingEnds<Load<8>, latest>>> stages;
  for (std::size_t peer = 0; peer < world.Size(); ++peer) {
    if (peer == world.Rank()) continue;
    peers.push_back(peer);
    lines.push_back(std::make_unique<Line>(fabric, Between(world, peer), 0));
    if (peer == 0 || world.IsRoot())
      stages.push_back(
          std::make_unique<RingEnds<Load<8>, latest>>(fabric, Between(world, peer), Process{.key = {.layer = 2}}));
  }
  fabric.Connect();
  const auto work_once = [&] {
    for (auto& line : lines) {
      line->Put();
      line->Step();
    }
  };
  if (world.IsRoot()) {
    Line& to_1 = *lines.front();
    Line& to_last = *lines.back();
    WorkFor(500ms, work_once, Never);
    Growth here{getpid()};
    Growth there{pids[1]};
    const PutTally before = to_1.Puts();
    const std::uint64_t num_from_last_before = to_last.all.num_got;
    {
      const Suspension suspension{pids[1]};
      WorkFor(StopFor(), work_once, Never);
      here.Look();
      there.Look();
      // A wait for the suspended process ends at its deadline.
      while (to_1.all.TryStep()) {
      }
      const TimePoint begin = Now();
      CHECK_FALSE(to_1.all.inlet.Put(Kilobyte{}, After(200ms)));
      CHECK_FALSE(to_1.all.outlet.Step(After(200ms)));
      CHECK(Now() - begin >= 400ms);
      CHECK(Now() - begin < 10s);
      CHECK(suspension.IsInForce());
    }
    const PutTally after = to_1.Puts();
    const std::uint64_t num_from_last = to_last.all.num_got - num_from_last_before;
    const std::uint64_t num_from_1_before = to_1.all.num_got;
    // It catches up, and reads what the system has kept.
    CHECK(WorkFor(10s, work_once, [&] { return to_1.all.num_got > num_from_1_before + 1000; }));
    here.Look();
    there.Look();
    Print("suspended", before, after, here.Most(), there.Most(), peers.size());
    if (world.Size() > 2)
      std::printf("  meanwhile %llu of every message came from the last rank\n",
                  static_cast<unsigned long long>(num_from_last));
    CHECK(after.dropped > before.dropped + 100);
    if (world.Size() > 2) CHECK(num_from_last > 100);
    CheckMemory(here, there, after.attempted - before.attempted);
    for (auto& stage : stages) CHECK(stage->TryPut(1));
  } else {
    WorkFor(StopFor() + 60s, work_once, [&] {
      stages.front()->TryStep();
      return stages.front()->num_got == 1;
    });
  }
  CHECK(fabric.Close());
  // Checks the accounts of all pairs at once.
  BytesByRank outgoing;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    for (const PutTally& puts : {lines[i]->all.inlet.Tally(), lines[i]->newest.inlet.Tally()}) {
      const auto bytes = BytesOf(puts);
      outgoing[peers[i]].insert(outgoing[peers[i]].end(), bytes.begin(), bytes.end());
    }
  }
  BytesByRank incoming = world.ExchangeSparsely(std::move(outgoing));
  for (std::size_t i = 0; i < peers.size(); ++i) {
    const ByteView from = incoming[peers[i]];
    CheckAccount(lines[i]->all, Tally{} += LoadBytes<PutTally>(from));
    CheckAccount(lines[i]->newest, Tally{} += LoadBytes<PutTally>(from.subspan(sizeof(PutTally))));
  }
  CheckRequests(world, peers.size());
  CHECK(pmpi::NumPending() == 0);
}
