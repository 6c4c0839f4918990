// A live pair changes its transport between updates: from Null to Intra, Thread, MPI and back to Null. Messages are in flight
// at each change. They are carried over, or counted.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>

#include <uit/conduit.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/pmpi/watch.hpp"
#include "tests/uit/exchange/support/policies.hpp"
#include "tests/uit/mpi/support/ring.hpp"

using namespace uit;
using namespace uit::testing;
using namespace std::chrono_literals;

namespace {

using Wide = TransportSet<Intra, Thread, Process>;
using Payload = Load<64>;

/// An inlet and an outlet that live through a whole test, and their counts. An update puts 4, reads, and puts 1.
template <Policy policy>
struct Pair {
  static constexpr bool keeps_every = policy.retain == Retain::every;

  /// Puts the next number and flushes. Returns whether it was accepted.
  bool Put() {
    if (!inlet.TryPut(Payload::Number(num_put + 1))) return false;
    ++num_put;
    inlet.TryFlush();
    return true;
  }
  bool Step(Deadline deadline = After(0s)) {
    if (!outlet.Step(deadline)) return false;
    const std::uint64_t number = outlet.Get().Number();
    is_right = is_right && outlet.Get().IsWhole() && number > num_got;
    num_got = number;
    return true;
  }
  /// Reads the next message. Under Retain::latest, reads until it is our newest or a newer one, which may take several steps.
  void Read() {
    do {
      if (!Step(After(10s))) FAIL("nothing has arrived");
    } while (!keeps_every && num_got < num_put);
  }
  void Update() {
    for (int i = 0; i < 4; ++i) CHECK(Put());
    Read();
    CHECK(Put());
  }
  void UpdateMuted() {
    for (int i = 0; i < 5; ++i) CHECK_FALSE(Put());
    CHECK_FALSE(Step());
  }
  Tally Both() const { return (Tally{} += inlet.Tally()) += outlet.Tally(); }
  std::uint64_t Current() const { return outlet.Get().Number(); }

  Inlet<Payload, policy, Wide> inlet;
  Outlet<Payload, policy, Wide> outlet;
  std::uint64_t num_put = 0;  // accepted
  std::uint64_t num_got = 0;  // number of the current message
  bool is_right = true;
};

PutTally Since(const PutTally& before, const PutTally& now) {
  return {.attempted = now.attempted - before.attempted,
          .dropped = now.dropped - before.dropped,
          .muted = now.muted - before.muted,
          .preempted = now.preempted - before.preempted};
}
GetTally Since(const GetTally& before, const GetTally& now) {
  return {.stepped = now.stepped - before.stepped,
          .skipped = now.skipped - before.skipped,
          .unread = now.unread - before.unread};
}

/// Null, Intra and Thread, with one update on each.
template <Policy policy>
void GoThroughMemory(Pair<policy>& pair) {
  Splice(pair.inlet, pair.outlet, Null{});
  pair.UpdateMuted();
  Splice(pair.inlet, pair.outlet, Intra{.depth = 16});
  CHECK(pair.Both().InFlight() == 0);
  pair.Update();
  Splice(pair.inlet, pair.outlet, Thread{.depth = 16});
  CHECK(pair.Both().InFlight() == (pair.keeps_every ? 4 : 1));
  CHECK(pair.Current() == pair.num_got);
  pair.Update();
  CHECK(pair.Both().InFlight() == (pair.keeps_every ? 8 : 1));
}

template <Policy policy>
void CheckWholeTrip() {
  const World world = TheWorld();
  Fabric fabric{world};
  Pair<policy> pair;
  GoThroughMemory(pair);
  Splice(pair.inlet, pair.outlet, Process{.fabric = &fabric, .peer = world.Rank()});
  fabric.Connect();
  CHECK(pair.Both().InFlight() == (pair.keeps_every ? 8 : 1));
  CHECK(pair.Current() == pair.num_got);
  pair.Update();
  CHECK(pair.Both().InFlight() == (pair.keeps_every ? 12 : 1));
  Splice(pair.inlet, pair.outlet, Null{});
  CHECK(pair.Current() == pair.num_got);
  pair.UpdateMuted();

  CHECK(pair.is_right);
  const Tally tally = pair.Both();
  CHECK(tally.put.attempted == 15);
  CHECK(tally.put.dropped == 0);
  CHECK(tally.put.muted == 10);
  CHECK(tally.get.unread == (pair.keeps_every ? 12 : 1));
  if (pair.keeps_every) CHECK(tally.get.stepped == 3);
  CHECK(tally.Balanced());
  CHECK(fabric.Close());
  CHECK(pair.Both() == tally);
  CHECK(pmpi::NumPending() == 0);
}

/// Between two processes, each end is spliced by itself, and the fabric remains.
template <Policy policy>
void CheckTripOfEnds() {
  const World world = TheWorld();
  const RingPlace place{world};
  const auto number = [](std::size_t rank) { return static_cast<std::uint32_t>(rank); };
  Fabric fabric{world};
  const Process to_next{.fabric = &fabric,
                        .peer = place.next,
                        .key = {.source = number(place.rank), .destination = number(place.next)}};
  const Process from_previous{.fabric = &fabric,
                              .peer = place.previous,
                              .key = {.source = number(place.previous), .destination = number(place.rank)}};
  Pair<policy> pair;
  GoThroughMemory(pair);
  Splice(pair.inlet, to_next);
  Splice(pair.outlet, from_previous);
  CHECK(pair.Both().Balanced());
  CHECK(pair.Both().get.unread == (pair.keeps_every ? 8 : 1));
  CHECK(pair.Current() == pair.num_got);
  const PutTally puts_before = pair.inlet.Tally();
  const GetTally gets_before = pair.outlet.Tally();
  fabric.Connect();
  pair.num_put = pair.num_got = 100;  // all ranks put the same numbers, so that a receiver knows what to expect
  pair.Update();
  Splice(pair.inlet, Null{});
  Splice(pair.outlet, Null{});
  CHECK(pair.Current() == pair.num_got);
  pair.UpdateMuted();
  world.Agree({});  // so that no process puts to an outlet that is about to be destroyed
  // The channel's next end receives what had not arrived.
  Splice(pair.inlet, to_next);
  Splice(pair.outlet, from_previous);
  pair.Update();
  CHECK(fabric.Close());
  Splice(pair.inlet, Null{});
  Splice(pair.outlet, Null{});
  pair.UpdateMuted();

  CHECK(pair.is_right);
  const PutTally puts = Since(puts_before, pair.inlet.Tally());
  CHECK(puts.attempted == 10);
  CHECK(puts.dropped == 0);
  CHECK(puts.muted == 10);
  CHECK(JoinTallies(world, place, puts, Since(gets_before, pair.outlet.Tally())).Balanced());
  CHECK(pmpi::NumPending() == 0);
}

/// A pair joins a pool and leaves it, while another pair stays.
template <Policy policy>
void CheckVisitToPool() {
  const World world = TheWorld();
  Fabric fabric{world};
  Process reach{.fabric = &fabric, .peer = world.Rank(), .num_channels = 2};
  Pair<policy> resident;
  Splice(resident.inlet, resident.outlet, reach);
  fabric.Connect();
  reach.channel = 1;
  Pair<policy> visitor;
  const auto update = [&](bool is_muted) {
    if (is_muted)
      visitor.UpdateMuted();
    else
      visitor.Update();
    CHECK(resident.Put());
    resident.Read();
  };
  GoThroughMemory(visitor);
  CHECK(resident.Put());
  resident.Read();
  Splice(visitor.inlet, visitor.outlet, reach);
  CHECK(visitor.Both().get.unread == (visitor.keeps_every ? 1 : 0));  // refused, until the resident is not waited for
  CHECK(visitor.Both().InFlight() == (visitor.keeps_every ? 7 : 1));
  visitor.inlet.TryFlush();
  update(false);
  Splice(visitor.inlet, visitor.outlet, Null{});
  update(true);
  Splice(visitor.inlet, visitor.outlet, reach);  // the same channel again
  update(false);
  Splice(visitor.inlet, visitor.outlet, Intra{.depth = 16});
  update(false);

  CHECK(visitor.is_right);
  CHECK(resident.is_right);
  CHECK(resident.num_got == resident.num_put);
  CHECK(fabric.Close());
  Splice(visitor.inlet, visitor.outlet, Null{});
  CHECK(visitor.Both().put.dropped == 0);
  CHECK(visitor.Both().Balanced());
  CHECK(resident.Both().Balanced());
}

/// Hundreds of random splices, with any number of messages in flight.
template <Policy policy>
void CheckRandomTrip() {
  const World world = TheWorld();
  Fabric fabric{world};
  std::array<Process, 2> reaches{Process{.fabric = &fabric, .peer = world.Rank(), .key = {.channel = 0}},
                                 Process{.fabric = &fabric, .peer = world.Rank(), .key = {.channel = 1}}};
  Pair<policy> pair;
  for (const Process& reach : reaches) Splice(pair.inlet, pair.outlet, reach);
  fabric.Connect();
  std::mt19937 random{static_cast<unsigned>(7 + world.Rank())};
  const auto up_to = [&](unsigned most) { return static_cast<unsigned>(random() % (most + 1)); };
  std::size_t num_reached = 0;
  for (int i = 0; i < 500; ++i) {
    switch (up_to(3)) {
      case 0: Splice(pair.inlet, pair.outlet, Null{}); break;
      case 1: Splice(pair.inlet, pair.outlet, Intra{.depth = 1 + up_to(15)}); break;
      case 2: Splice(pair.inlet, pair.outlet, Thread{.depth = 1 + up_to(15)}); break;
      default: Splice(pair.inlet, pair.outlet, reaches[num_reached++ % 2]);  // a channel that it does not use now
    }
    const std::int64_t num_under_way = pair.Both().InFlight();
    if (pair.inlet.IsMuted()) CHECK(num_under_way == 0);
    for (unsigned n = up_to(20); n > 0; --n) pair.Put();
    for (unsigned n = up_to(10); n > 0; --n) pair.Step();
  }
  CHECK(fabric.Close());
  Splice(pair.inlet, pair.outlet, Null{});
  CHECK(pair.is_right);
  const Tally tally = pair.Both();
  CHECK(tally.put.Accepted() == pair.num_put);
  CHECK(tally.get.stepped > 0);
  CHECK(tally.get.unread > 0);
  CHECK(tally.put.muted > 0);
  CHECK(tally.Balanced());
}

}  // namespace

TEST_CASE("A live pair is spliced to every transport and its account stays exact") {
  SECTION("every message is kept") { CheckWholeTrip<every>(); }
  SECTION("the latest is kept") { CheckWholeTrip<latest>(); }
  SECTION("a pool of one keeps every message") { CheckWholeTrip<every_pooled>(); }
  SECTION("a pool of one keeps the latest") { CheckWholeTrip<latest_pooled>(); }
}

TEST_CASE("The ends of a live pair are spliced to other processes and away, and the account of each link is exact") {
  SECTION("every message is kept") { CheckTripOfEnds<every>(); }
  SECTION("the latest is kept") { CheckTripOfEnds<latest>(); }
}

TEST_CASE("A pair is spliced to a pool in use and away, and the pool's other members continue") {
  SECTION("every message is kept") { CheckVisitToPool<every_pooled>(); }
  SECTION("the latest is kept") { CheckVisitToPool<latest_pooled>(); }
}

TEST_CASE("A pair that is spliced at random times accounts for every message") {
  SECTION("every message is kept") { CheckRandomTrip<every>(); }
  SECTION("the latest is kept") { CheckRandomTrip<latest>(); }
}

TEST_CASE("Messages that find no room on MPI count as unread, and the rest is carried over in order") {
  const World world = TheWorld();
  Fabric fabric{world};
  Pair<every> pair;
  GoThroughMemory(pair);  // 3 to 10 messages are in flight
  Splice(pair.inlet, pair.outlet, Process{.fabric = &fabric, .peer = world.Rank(), .depth = 2});
  fabric.Connect();
  CHECK(pair.Both().get.unread == 6);
  CHECK_FALSE(pair.Put());
  CHECK(pair.Step(After(10s)));
  CHECK(pair.num_got == 3);
  CHECK(pair.Step(After(10s)));
  CHECK(pair.num_got == 4);
  CHECK(fabric.Close());
  CHECK(pair.Both().Balanced());
}
