// A conveyor ends round after round: nothing is lost, and nothing is handled in another round than the one in which it was pushed.
#include <uit/conveyor/conveyor.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>

#include <uit/conveyor/quiescence.hpp>
#include <uit/support/pause.hpp>
#include <uit/team/team.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/goal.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/uit/core/support/sanitized.hpp"
#include "tests/uit/conveyor/layouts.hpp"
#include "tests/uit/team/members.hpp"

using namespace uit;
using namespace uit::testing;

namespace {

struct Item {
  std::uint32_t round = 0;
  std::uint32_t num_hops = 0;  // that are left
};

/// Random numbers of a member, the same in every run.
class Dice {
 public:
  explicit Dice(std::size_t seed) : state_(seed + 1) {}
  std::uint32_t Below(std::uint32_t limit) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::uint32_t>((state_ >> 33U) % limit);
  }

 private:
  std::uint64_t state_;
};

void CheckRounds(std::uint32_t num_rounds, std::size_t two_hops_above) {
  Checks checks;
  Team{MpiTestWorld(), {.threads = 1}}.Run([&](Member& me) {
    Dice dice{me.Rank()};
    const auto anybody = [&] { return dice.Below(static_cast<std::uint32_t>(me.Size())); };
    std::uint32_t round = 0;
    std::uint64_t num_handled = 0;
    std::uint64_t num_expected = 0;
    Conveyor<Item>* self = nullptr;
    Conveyor<Item> conveyor{me, [&](const Item& item) {
      THAT(item.round == round);
      ++num_handled;
      if (item.num_hops > 0) self->Push(anybody(), {item.round, item.num_hops - 1});
    }, {.buffer_bytes = 1, .num_between_looks = 3, .two_hops_above = two_hops_above}};
    self = &conveyor;
    for (; round < num_rounds; ++round) {
      const std::uint32_t num_pushes = round % 3 == 0 ? 0 : dice.Below(8);  // in some rounds, few or none have anything to do
      for (std::uint32_t i = 0; i < num_pushes; ++i) {
        const std::uint32_t num_hops = dice.Below(6);
        num_expected += num_hops + 1;
        conveyor.Push(anybody(), {round, num_hops});
      }
      conveyor.Finish();
    }
    THAT(me.AllReduce(num_handled, std::plus<>{}) == me.AllReduce(num_expected, std::plus<>{}));
    THAT(me.AllReduce(conveyor.Tally().pushed, std::plus<>{}) == me.AllReduce(conveyor.Tally().handled, std::plus<>{}));
  });
}

}  // namespace

TEST_CASE("Thousands of rounds end, and no item is handled in another round than its own") {
  const auto num_rounds = static_cast<std::uint32_t>(PerCommitOrNight(is_sanitized ? 50 : 250, is_sanitized ? 500 : 10'000));
  for (const std::size_t two_hops_above : {256U, 0U}) {
    CAPTURE(two_hops_above);
    CheckRounds(IsNightly() && two_hops_above == 0 ? num_rounds / 2 : num_rounds, two_hops_above);
  }
}

TEST_CASE("Quiescence of messages over conduits of one's own ends once all are handled, and none is handled later") {
  const auto num_rounds = static_cast<std::uint32_t>(PerCommitOrNight(is_sanitized ? 20 : 100, is_sanitized ? 200 : 2'000));
  Checks checks;
  Team{MpiTestWorld(), {.threads = 1}}.Run([&](Member& me) {
    auto inlet = me.InletTo<Item>(me.Right(), {.depth = 4});
    auto outlet = me.OutletFrom<Item>(me.Left(), {.depth = 4});
    me.Connect();
    Dice dice{me.Rank()};
    std::deque<Item> held;  // handled, and not passed on yet
    std::uint64_t num_sent = 0;
    std::uint64_t num_handled = 0;
    std::uint64_t num_expected = 0;
    for (std::uint32_t round = 0; round < num_rounds; ++round) {
      for (std::uint32_t i = dice.Below(4); i > 0; --i) {
        held.push_back({round, dice.Below(20)});
        num_expected += held.back().num_hops + 1;
        ++num_sent;
      }
      Quiescence quiescence{me};
      WaitUntil([&] {
        while (!quiescence.IsConfirming() && outlet.TryStep() != 0) {
          const Item item = outlet.Get();
          THAT(item.round == round);
          ++num_handled;
          if (item.num_hops == 0) continue;
          held.push_back({item.round, item.num_hops - 1});
          ++num_sent;
        }
        while (!held.empty() && inlet.TryPut(held.front())) held.pop_front();
        inlet.TryFlush();
        return quiescence.TryEnd(num_sent, num_handled);
      });
      THAT(held.empty());
    }
    THAT(num_sent == num_expected || me.Size() > 1);
    THAT(me.AllReduce(num_handled, std::plus<>{}) == me.AllReduce(num_expected, std::plus<>{}));
  });
}
