// Conveyors whose items go over relays: what a relay keeps, when it sends, and what is refused.
#include <uit/conveyor/conveyor.hpp>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <uit/conveyor/conveyor_sizes.hpp>
#include <uit/conveyor/dealer.hpp>
#include <uit/conveyor/grid.hpp>
#include <uit/conveyor/lanes.hpp>
#include <uit/conveyor/outbox.hpp>
#include <uit/support/clock.hpp>
#include <uit/team/team.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/thrown.hpp"
#include "tests/uit/team/members.hpp"

using namespace uit;
using namespace uit::testing;

using Item = detail::Routed<std::uint64_t>;

// Four members stand in two rows: 0 and 1, 2 and 3. Member 1 is the relay for items of member 0 to member 3.

TEST_CASE("Four members stand in two rows") {
  const detail::Grid grid{{0, 0, 0, 0}};
  CHECK(grid.Next(0, 3) == 1);
  CHECK(grid.Next(0, 2) == 2);
  CHECK(grid.Next(0, 1) == 1);
}

TEST_CASE("A relay takes no more than its buffers hold while the destination handles nothing") {
  constexpr std::uint64_t num_items = 5000;
  constexpr ConveyorOptions options{.buffer_bytes = 64, .two_hops_above = 0};
  const detail::ConveyorSizes sizes = detail::SizeConveyor(
      options, detail::bytes_of<std::uint64_t, Item>, 4, {.num_here = 4, .num_elsewhere = 0});
  const std::size_t of_sender = sizes.block_items + sizes.lane_block_items + sizes.depth;
  const std::size_t of_relay = 1 + sizes.lane_block_items + sizes.depth;  // one is out of the outlet
  std::atomic<std::uint64_t> num_pushed{0};
  std::uint64_t num_kept = 0;
  Checks checks;
  Team{World{}, {.threads = 4}}.Run([&](Member& me) {
    std::uint64_t num_seen = 0;
    Conveyor<std::uint64_t> conveyor{me, [&](std::size_t from, const std::uint64_t& number) {
      THAT(from == 0);
      THAT(number == num_seen++);
    }, options};
    if (me.Rank() == 0) {
      for (std::uint64_t number = 0; number < num_items; ++number, ++num_pushed) conveyor.Push(3, number);
    } else if (me.Rank() == 3) {
      const Deadline end = After(std::chrono::seconds(30));
      while (num_pushed <= of_sender && Now() < end) std::this_thread::yield();  // until the relay has some
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      num_kept = num_pushed;
    }
    conveyor.Finish();
    THAT(num_seen == (me.Rank() == 3 ? num_items : 0));
    THAT(conveyor.Tally().handled == num_seen);
    THAT(conveyor.Tally().pushed == (me.Rank() == 0 ? num_items : 0));
    THAT(conveyor.Tally().spilled == 0);
  });
  CAPTURE(of_sender, of_relay);
  CHECK(num_kept > of_sender);
  CHECK(num_kept <= of_sender + of_relay + 1);
}

TEST_CASE("An idle relay sends items on without being asked to") {
  constexpr ConveyorOptions options{.two_hops_above = 0};
  constexpr std::uint64_t num_items = 3;
  std::atomic<std::uint64_t> num_arrived{0};
  Checks checks;
  Team{World{}, {.threads = 4}}.Run([&](Member& me) {
    Conveyor<std::uint64_t> conveyor{me, [&](const std::uint64_t&) { ++num_arrived; }, options};
    const Deadline end = After(std::chrono::seconds(30));
    for (std::uint64_t item = 0; item < num_items; ++item) {
      if (me.Rank() == 0) {
        conveyor.Push(3, item);
        conveyor.Flush();
      }
      while (num_arrived == item && Now() < end) {
        if (me.Rank() != 0) conveyor.HandleArrived();
        std::this_thread::yield();
      }
      THAT(num_arrived > item);
    }
    conveyor.Finish();
  });
}

TEST_CASE("A relay that never runs out of items for one member sends on those for another") {
  constexpr ConveyorOptions options{.two_hops_above = 0};
  constexpr int num_passes = 200;
  const detail::Grid grid{std::vector<std::size_t>(9)};
  REQUIRE(grid.Next(0, 4) == 1);
  REQUIRE(grid.Next(0, 7) == 1);
  std::barrier<> step(9);
  int num_waited = num_passes;
  Checks checks;
  Team{World{}, {.threads = 9}}.Run([&](Member& me) {
    bool has_arrived = false;
    Conveyor<std::uint64_t> conveyor{me, [&](const std::uint64_t&) { has_arrived = true; }, options};
    for (int pass = 0; pass < num_passes; ++pass) {
      if (me.Rank() == 0) {
        if (pass == 0) conveyor.Push(7, 1);
        conveyor.Push(4, 1);
        conveyor.Flush();
      }
      step.arrive_and_wait();
      if (me.Rank() == 1) THAT(conveyor.HandleArrived());  // in each pass there is something to relay
      step.arrive_and_wait();
      if (me.Rank() == 4 || me.Rank() == 7) conveyor.HandleArrived();
      if (me.Rank() == 7 && has_arrived) num_waited = std::min(num_waited, pass);
    }
    conveyor.Finish();
  });
  CHECK(num_waited > 1);  // a relay fills its frames
  CHECK(num_waited < 100);
}

TEST_CASE("A relay notices that a member has gone for which it has items") {
  constexpr ConveyorOptions options{.buffer_bytes = 64, .two_hops_above = 0};
  std::atomic<bool> is_over{false};
  std::string words;
  const Team team{World{}, {.threads = 4}};
  CHECK_FALSE(WordsThrownBy([&] {
    team.Run([&](Member& me) {
      Conveyor<std::uint64_t> conveyor{me, [](const std::uint64_t&) {}, options};
      const Deadline end = After(std::chrono::seconds(30));
      if (me.Rank() == 3) return;
      if (me.Rank() == 1) {
        words = WordsThrownBy([&] {
          while (Now() < end) conveyor.HandleArrived();
        });
        is_over = true;
      }
      while (!is_over) {
        if (me.Rank() == 0) WordsThrownBy([&] { conveyor.TryPush(3, 1); });  // notices it, too
        std::this_thread::yield();
      }
      if (!words.empty()) throw Error(words);
    });
  }).empty());
  CAPTURE(words);
  CHECK(words.find("left") != std::string::npos);
}

TEST_CASE("An item is refused if a relay does not send to its destination, or if no member can have pushed it") {
  struct Wrong {
    Item item;
    std::size_t to;  // on the first hop to member 0, or on the second one to member 3
  };
  constexpr ConveyorOptions with_two_hops{.two_hops_above = 0};
  const std::string no_destination = "an item of a conveyor has come to a member that does not send to its destination";
  const std::string no_origin = "an item of a conveyor has arrived that no member can have pushed";
  // Member 0 is the relay to member 2 only.
  for (const auto& [wrong, expected] : std::vector<std::pair<Wrong, std::string>>{
           {{{1, 5}, 0}, no_destination}, {{{3, 5}, 0}, no_destination}, {{{4, 5}, 0}, no_destination},
           {{{1'000'000, 5}, 0}, no_destination}, {{{4, 5}, 3}, no_origin}, {{{1'000'000, 5}, 3}, no_origin}}) {
    CAPTURE(wrong.item.member, wrong.to);
    std::string words;
    std::atomic<bool> is_over{false};
    Checks checks;
    Team{World{}, {.threads = 4}}.Run([&](Member& me) {
      if (me.Rank() != 1) {
        Conveyor<std::uint64_t> conveyor{me, [](const std::uint64_t&) {}, with_two_hops};
        const Deadline end = After(std::chrono::seconds(30));
        if (me.Rank() == wrong.to) {
          words = WordsThrownBy([&] {
            while (Now() < end) conveyor.HandleArrived();
          });
          is_over = true;
        }
        while (!is_over) std::this_thread::yield();
        return;
      }
      // Does by hand what the constructor does, and sends what no conveyor would.
      me.AllGather(detail::Place{me.Process(), me.Host()});
      const auto lanes = me.AllReduce(detail::LaneCounts{1, 0}, detail::MostOfEach{});
      const auto sizes = detail::SizeConveyor(with_two_hops, detail::bytes_of<std::uint64_t, Item>, 4, lanes);
      const ConduitOptions other{.depth = sizes.depth};
      auto first_inlet = me.InletTo<Item, detail::in_frames>(0, other);
      auto first_outlet = me.OutletFrom<Item, detail::in_frames>(0, other);
      auto second_inlet = me.InletTo<Item, detail::in_frames>(3, other);
      auto second_outlet = me.OutletFrom<Item, detail::in_frames>(3, other);
      me.Connect();
      THAT((wrong.to == 0 ? first_inlet : second_inlet).TryPut(wrong.item));
      while (!is_over) std::this_thread::yield();
    });
    CHECK(words == expected);
  }
}

TEST_CASE("All threads of a process are on one host") {
  Checks checks;
  Team{World{}, {.threads = 4}}.Run([&](Member& me) { THAT(me.Host() == 0); });
}
