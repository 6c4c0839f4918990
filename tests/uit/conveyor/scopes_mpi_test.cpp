// Scopes within a set of conveyors: each ends for itself, while the conveyors around it go on.
#include <uit/conveyor/conveyors.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <uit/conveyor/combining_conveyor.hpp>
#include <uit/conveyor/conveyor.hpp>
#include <uit/conveyor/requests.hpp>
#include <uit/conveyor/span_conveyor.hpp>
#include <uit/conveyor/tasks.hpp>
#include <uit/support/pause.hpp>
#include <uit/team/team.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/thrown.hpp"
#include "tests/uit/conveyor/layouts.hpp"
#include "tests/uit/team/members.hpp"

using namespace uit;
using namespace uit::testing;

namespace {

/// With room for one item in a buffer.
ConveyorOptions Small(std::size_t two_hops_above) {
  return {.buffer_bytes = 1, .spill_items = 4000, .num_between_looks = 3, .two_hops_above = two_hops_above};
}

}  // namespace

TEST_CASE("A scope within a set ends again and again while an item around it never rests") {
  ForEachRoute([](Member& me, Checks& checks, std::size_t two_hops_above) {
    Conveyors outer{me};
    bool may_rest = false;
    std::uint64_t num_hops = 0;
    Conveyor<std::uint64_t>* self = nullptr;
    Conveyor<std::uint64_t> restless{outer, [&](const std::uint64_t& item) {
      ++num_hops;
      if (!may_rest) self->Push(me.Right(), item);
    }, Small(two_hops_above)};
    self = &restless;
    std::uint64_t round = 0;
    std::uint64_t num_handled = 0;
    Conveyors inner{outer, me};
    Conveyor<std::uint64_t> steps{inner, [&](const std::uint64_t& of_round) {
      THAT(of_round == round);  // none is handled after the end of another member's scope
      ++num_handled;
    }, Small(two_hops_above)};
    restless.Push(me.Right(), 1);
    for (; round < 30; ++round) {
      for (std::size_t to = 0; to < me.Size(); ++to) steps.Push(to, round);
      inner.Finish();
      THAT(num_handled == (round + 1) * me.Size());
    }
    const std::uint64_t before = num_hops;
    inner.WaitUntil([&] { return num_hops > before; });
    may_rest = true;
    // The end of the outer scope is that of the inner one, too.
    steps.Push(me.Right(), round);
    outer.Finish();
    THAT(num_handled == 30 * me.Size() + 1);
  });
}

TEST_CASE("A Finish that has begun ends by tries, while its member works, and is waited for in the end") {
  ForEachRoute([](Member& me, Checks& checks, std::size_t two_hops_above) {
    std::uint64_t round = 0;
    std::uint64_t num_handled = 0;
    std::uint64_t num_worked = 0;
    Conveyor<std::uint64_t>* self = nullptr;
    Conveyor<std::uint64_t> conveyor{me, [&](const std::uint64_t& item) {
      THAT(item / 8 == round);  // none is handled after the end of another member
      ++num_handled;
      if (item % 8 != 0) self->Push(me.Right(), item - 1);
    }, Small(two_hops_above)};
    self = &conveyor;
    for (; round < 6; ++round) {
      for (std::size_t to = 0; to < me.Size(); ++to) conveyor.Push(to, 8 * round + 7);
      auto finishing = conveyor.StartFinish();
      for (; round % 2 == 0 && !finishing.TryFinish(); ++num_worked) Yield();  // members share cores
      if (round % 2 == 0) THAT(finishing.TryFinish());
      else if (me.IsRoot()) finishing.Get();
      // Elsewhere it is waited for here.
    }
    THAT(num_handled == 6 * 8 * me.Size());
    THAT(num_worked > 0);
    const auto unfinished = conveyor.StartFinish();
  });
}

TEST_CASE("A member at the end of an inner scope handles items for which others wait around it") {
  ForEachRoute([](Member& me, Checks& checks, std::size_t two_hops_above) {
    constexpr std::uint64_t num_items = 500;
    Conveyors outer{me};
    std::uint64_t num_handled = 0;
    Conveyor<std::uint64_t> items{outer, [&](const std::uint64_t&) { ++num_handled; }, Small(two_hops_above)};
    Conveyors inner{outer, me};
    const Conveyor<std::uint64_t> steps{inner, [](const std::uint64_t&) {}};
    if (me.IsRoot())
      for (std::uint64_t i = 0; i < num_items; ++i) items.Push(me.Left(), i);  // has room only while the other handles
    inner.Finish();
    outer.Finish();
    THAT(num_handled == (me.Right() == 0 ? num_items : 0));
  });
}

TEST_CASE("Groups of members have scopes of their own within one scope of all") {
  ForEachRoute([](Member& me, Checks& checks, std::size_t two_hops_above) {
    Conveyors all{me};
    std::uint64_t num_reports = 0;
    Conveyor<std::uint64_t> reports{all, [&](const std::uint64_t&) { ++num_reports; }, Small(two_hops_above)};
    {
      Member half = me.Split(static_cast<std::int64_t>(me.Rank() % 2));
      Conveyors ours{all, half};
      std::uint64_t round = 0;
      std::uint64_t num_handled = 0;
      const auto handle = [&](std::size_t from, const std::uint64_t& of_round) {
        THAT(from < half.Size());
        THAT(of_round == round);
        ++num_handled;
        reports.Push(round % me.Size(), round);
      };
      Conveyor<std::uint64_t> steps{ours, handle, Small(two_hops_above)};
      const std::uint64_t num_rounds = me.Rank() % 2 == 0 ? 20 : 5;  // so that no half waits for the other
      for (; round < num_rounds; ++round) {
        for (std::size_t to = 0; to < half.Size(); ++to) steps.Push(to, round);
        ours.Finish();
        THAT(num_handled == (round + 1) * half.Size());
      }
      all.Finish();
    }
    const std::uint64_t num_even = (me.Size() + 1) / 2;
    const std::uint64_t num_odd = me.Size() / 2;
    THAT(me.AllReduce(num_reports, std::plus<>{}) == 20 * num_even * num_even + 5 * num_odd * num_odd);
  });
}

TEST_CASE("Conveyors of every kind, and tasks, end with the scope in which they are made") {
  ForEachRoute([](Member& me, Checks& checks, std::size_t two_hops_above) {
    Conveyors outer{me};
    Tasks late{outer};
    bool may_end = false;
    const auto wait = [&]() -> Task { co_await late.Until([&] { return may_end; }); };
    late.Start(wait);
    {
      Conveyors scope{outer, me};
      std::uint64_t sum = 0;
      SpanConveyor<std::uint64_t> spans{scope, [&](std::span<const std::uint64_t> item) { sum += item.size(); },
                                        SpanConveyorOptions{.max_item_bytes = 400, .conveyor = Small(two_hops_above)}};
      CombiningConveyor<std::uint32_t, std::uint64_t, std::plus<>> sums{
          scope, [&](const Keyed<std::uint32_t, std::uint64_t>& item) { sum += item.value; }, Combine{std::plus<>{}}};
      Tasks tasks{scope};
      Requests<std::uint64_t, std::uint64_t> twice{tasks, [](const std::uint64_t& value) { return 2 * value; }};
      const auto ask = [&](std::size_t to, std::uint64_t value) -> Task { sum += co_await twice(to, value); };
      for (std::uint64_t round = 1; round <= 3; ++round) {
        for (std::size_t to = 0; to < me.Size(); ++to) {
          const std::vector<std::uint64_t> item(50, 1);
          spans.Push(to, item);
          sums.Push(to, {1, 7});
          tasks.Start(ask, to, std::uint64_t{4});
        }
        scope.Finish();
        THAT(sum == round * me.Size() * (50 + 7 + 8));
        THAT(tasks.NumLive() == 0);
        THAT(late.NumLive() == 1);
      }
    }
    may_end = true;
    outer.Finish();
    THAT(late.NumLive() == 0);
  });
}

TEST_CASE("If a handler throws in a scope, the conveyors around it are refused, and those within in turn") {
  const Team team{MpiTestWorld(), {.threads = 1}};
  for (const bool fails_within : {false, true}) {
    std::string said;
    CheckRefused(team, "a handler fails", [&](Member& me) {
      Conveyors outer{me};
      const auto fail = [](const int&) { throw std::runtime_error("a handler fails"); };
      Conveyor<int> around{outer, fail};
      Conveyors inner{outer, me};
      Conveyor<int> within{inner, fail};
      try {
        Conveyor<int>& failing = fails_within ? within : around;
        failing.Push(me.Rank(), 1);
        failing.Flush();
        failing.HandleArrived();
      } catch (const std::runtime_error&) {
        said = WordsThrownBy([&] { (fails_within ? outer : inner).Finish(); });
        throw;
      }
    });
    CHECK(said.find("has thrown before") != std::string::npos);
  }
}

TEST_CASE("A group has conveyors only in a scope, and the end of a scope is refused in a handler of the set around it") {
  CheckRefused(Team{MpiTestWorld(), {.threads = 1}}, "on the member of the whole team", [](Member& me) {
    Member all = me.Split(0);
    const Conveyor<int> conveyor{all, [](const int&) {}};
  });
  CheckRefused(Team{MpiTestWorld(), {.threads = 1}}, "may push, and call nothing else", [](Member& me) {
    Conveyors outer{me};
    Conveyors inner{outer, me};
    Conveyor<int> conveyor{outer, [&](const int&) { inner.Finish(); }};
    conveyor.Push(me.Rank(), 1);
    outer.Finish();
  });
}
