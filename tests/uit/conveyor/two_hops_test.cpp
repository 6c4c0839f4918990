// Conveyors whose items go over a member in between: what that one keeps, when it sends, and what it refuses.
#include <uit/conveyor/conveyor.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <uit/conveyor/conveyor_sizes.hpp>
#include <uit/conveyor/dealer.hpp>
#include <uit/conveyor/grid.hpp>
#include <uit/support/clock.hpp>
#include <uit/team/team.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/thrown.hpp"
#include "tests/uit/team/members.hpp"

using namespace uit;
using namespace uit::testing;

// Four members stand in two rows: 0 and 1, 2 and 3. Items of member 0 for member 3 go over member 1.
constexpr TeamOptions four{.threads = 4};

TEST_CASE("Four members stand in two rows") {
  const detail::Grid grid{{0, 0, 0, 0}};
  CHECK(grid.Next(0, 3) == 1);
  CHECK(grid.Next(0, 2) == 2);
  CHECK(grid.Next(0, 1) == 1);
}

TEST_CASE("A member in between takes no more than its buffers hold while the destination handles nothing") {
  constexpr std::uint64_t num_items = 5000;
  constexpr ConveyorOptions options{.buffer_bytes = 64, .two_hops_above = 0};
  std::atomic<bool> is_full{false};
  std::uint64_t num_accepted = 0;
  Checks checks;
  Team{World{}, four}.Run([&](Member& me) {
    std::uint64_t num_seen = 0;
    Conveyor<std::uint64_t> conveyor{me, [&](std::size_t from, const std::uint64_t& number) {
      THAT(from == 0);
      THAT(number == num_seen++);
    }, options};
    if (me.Rank() == 0) {
      for (int attempt = 0; attempt < 20'000; ++attempt) {
        if (num_accepted < num_items && conveyor.TryPush(3, num_accepted)) ++num_accepted;
        conveyor.HandleArrived();
        std::this_thread::yield();
      }
      is_full = true;
      for (std::uint64_t number = num_accepted; number < num_items; ++number) conveyor.Push(3, number);
    } else {
      while (!is_full) {
        if (me.Rank() != 3) conveyor.HandleArrived();
        std::this_thread::yield();
      }
    }
    conveyor.Finish();
    THAT(num_seen == (me.Rank() == 3 ? num_items : 0));
    THAT(conveyor.Tally().handled == num_seen);
    THAT(conveyor.Tally().pushed == (me.Rank() == 0 ? num_items : 0));
    THAT(conveyor.Tally().spilled == 0);
  });
  CHECK(num_accepted > 0);
  CHECK(num_accepted < 200);
}

TEST_CASE("A member in between that is idle sends items on without being asked to") {
  constexpr ConveyorOptions options{.two_hops_above = 0};
  std::atomic<bool> has_arrived{false};
  Checks checks;
  Team{World{}, four}.Run([&](Member& me) {
    Conveyor<std::uint64_t> conveyor{me, [&](const std::uint64_t&) { has_arrived = true; }, options};
    if (me.Rank() == 0) {
      conveyor.Push(3, 1);
      conveyor.Flush();
    }
    const Deadline end = After(std::chrono::seconds(30));
    while (!has_arrived && Now() < end) {
      if (me.Rank() != 0) conveyor.HandleArrived();
      std::this_thread::yield();
    }
    THAT(has_arrived);
    conveyor.Finish();
  });
}

TEST_CASE("An item for a member to which the member in between does not send is refused") {
  using Item = detail::Routed<int>;
  for (const std::uint32_t destination : {1U, 3U, 4U, 1'000'000U}) {  // members 0 and 2 are those to which member 0 may pass it
    CAPTURE(destination);
    std::string words;
    std::atomic<bool> is_over{false};
    Checks checks;
    Team{World{}, four}.Run([&](Member& me) {
      if (me.Rank() != 1) {
        Conveyor<int> conveyor{me, [](const int&) {}, {.two_hops_above = 0}};
        const Deadline end = After(std::chrono::seconds(30));
        if (me.Rank() == 0) {
          words = WordsThrownBy([&] {
            while (Now() < end) conveyor.HandleArrived();
          });
          is_over = true;
        }
        while (!is_over) std::this_thread::yield();
        return;
      }
      // Does by hand what the constructor does, and sends what no conveyor would.
      const std::vector<std::size_t> processes = me.AllGather(me.Process());
      const detail::Grid grid{me.AllGather(me.Host())};
      me.AllReduce(detail::CountLanes(grid, processes, 1), detail::MostOfEach{});
      auto own_inlet = me.InletTo<int, detail::in_frames>(1);
      auto own_outlet = me.OutletFrom<int, detail::in_frames>(1);
      auto first_inlet = me.InletTo<Item, detail::in_frames>(0);
      auto first_outlet = me.OutletFrom<Item, detail::in_frames>(0);
      auto second_inlet = me.InletTo<Item, detail::in_frames>(3);
      auto second_outlet = me.OutletFrom<Item, detail::in_frames>(3);
      me.Connect();
      THAT(first_inlet.TryPut({destination, 5}));
      while (!is_over) std::this_thread::yield();
    });
    CHECK(words == "an item of a conveyor has come to a member that does not send to its destination");
  }
}
