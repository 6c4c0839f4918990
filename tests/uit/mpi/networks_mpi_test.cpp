// Networks are created and destroyed, many in succession and several at once: no communicator is leaked, and no network
// receives another's messages.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "tests/support/catch.hpp"
#include "tests/support/goal.hpp"
#include "tests/support/pmpi/watch.hpp"
#include "tests/uit/core/support/sanitized.hpp"
#include "tests/uit/exchange/support/policies.hpp"
#include "tests/uit/mpi/support/ring.hpp"

using namespace uit;
using namespace uit::testing;
using namespace std::chrono_literals;

namespace {

using Message = Load<64>;
using Ends = RingEnds<Message, every>;

/// Puts and steps until the ends have received message number `last`.
bool Exchange(Ends& ends, std::uint64_t last) {
  return WaitUntil(
      [&] {
        ends.TryPut(last);
        ends.TryStep();
        return ends.num_got == last && ends.num_put == last;
      },
      After(20s));
}

/// After a fabric has closed, its inlet puts or its outlet steps, while another fabric has its memory.
template <Policy policy>
void CheckOldEnds(bool puts) {
  CAPTURE(puts, static_cast<int>(policy.retain), static_cast<int>(policy.consolidate));
  const World world = TheWorld();
  const RingPlace place{world};
  const Process options{.depth = 4, .buffer_bytes = 512, .max_message_bytes = 512};
  Fabric first{world, {.num_slots = 2}};
  RingEnds<Message, policy> old_ends{first, place, options};
  first.Connect();
  const std::size_t num_with_first = pmpi::NumUnfreed();
  REQUIRE(first.Close());
  Fabric second{world, {.num_slots = 2}};
  RingEnds<Message, policy> ends{second, place, options};
  second.Connect();
  CHECK(pmpi::NumUnfreed() <= num_with_first);  // the window was reused
  if (puts) {
    for (int i = 0; i < 3; ++i) {
      CHECK_FALSE(old_ends.inlet.TryPut(Message::Number(999)));
      old_ends.inlet.TryFlush();
    }
    world.Agree("");  // all have tried
    for (int i = 0; i < 20; ++i) {
      CHECK_FALSE(ends.TryStep());
      second.Poll();
    }
    world.Agree("");  // no process puts before all have checked
  }
  REQUIRE(ends.TryPut(1));
  ends.inlet.TryFlush();
  world.Agree("");  // all have put; with shared memory, the messages have arrived
  if (!puts) {
    for (int i = 0; i < 20; ++i) CHECK_FALSE(old_ends.TryStep());
  }
  const auto has_come = [&] {
    ends.inlet.TryFlush();
    return ends.TryStep();
  };
  CHECK(WaitUntil(has_come, After(20s), [&] { return second.Poll(); }));
  CHECK(ends.num_got == 1);
  CHECK(ends.is_right);
  world.Agree("");
  CHECK(second.Close());
}

}  // namespace

TEST_CASE("Thousands of networks in succession free all their communicators") {
  const World world = TheWorld();
  const RingPlace place{world};
  const int num_networks = PerCommitOrNight(is_sanitized ? 100 : 300, 5000);
  const std::size_t num_before = pmpi::NumUnfreed();
  std::size_t most_unfreed = 0;
  for (int i = 0; i < num_networks; ++i) {
    Fabric fabric{world, {.num_slots = 2}};
    Ends ends{fabric, place, {}};
    fabric.Connect();
    REQUIRE(Exchange(ends, 3));
    most_unfreed = std::max(most_unfreed, pmpi::NumUnfreed());
    REQUIRE(fabric.Close());
    REQUIRE(ends.is_right);
    REQUIRE(pmpi::NumPending() == 0);
  }
  CHECK(most_unfreed <= num_before + 3);             // a communicator, a window and its lock
  CHECK(pmpi::NumUnfreed() <= num_before + 2);       // one window and its lock: windows are kept and reused
}

TEST_CASE("The ends of a closed fabric do not touch memory that was lent again") {
  for (const bool puts : {true, false}) {
    CheckOldEnds<every>(puts);
    CheckOldEnds<latest>(puts);
    CheckOldEnds<every_aggregated>(puts);
    CheckOldEnds<latest_aggregated>(puts);
  }
}

TEST_CASE("A process in several nested networks keeps their messages apart") {
  const World world = TheWorld();
  const RingPlace place{world};
  Fabric outer{world};
  Ends outer_ends{outer, place, {}};
  outer.Connect();
  REQUIRE(Exchange(outer_ends, 100));
  for (int i = 0; i < 3; ++i) {
    const World own = world.Duplicate();  // its own communicator
    {
      Fabric inner{own};
      Ends inner_ends{inner, place, {}};  // with the same key
      inner.Connect();
      Fabric third{own};
      Ends third_ends{third, place, {}};
      third.Connect();
      while (outer_ends.TryPut(1'000'000)) {
      }
      REQUIRE(Exchange(inner_ends, 100));
      while (third_ends.TryPut(8)) {
      }
      REQUIRE(Exchange(third_ends, 100));
      REQUIRE(Exchange(inner_ends, 200));
      CHECK(third.Close());
      CHECK(inner.Close());
      CHECK((inner_ends.is_right && third_ends.is_right));
    }
    CHECK(own.Release());
  }
  CHECK(outer.Close());
  while (outer_ends.TryStep()) {
  }
  CHECK(outer_ends.is_right);
  const Tally tally = JoinTallies(world, place, outer_ends.inlet.Tally(), outer_ends.outlet.Tally());
  CHECK(tally.Balanced());
  CHECK(outer_ends.num_got == tally.put.Accepted());
  CHECK(pmpi::NumPending() == 0);
}
