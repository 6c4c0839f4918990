// A conveyor that combines values of the same key: exact sums and accounts, order within a key, and nothing stays in its table.
#include <uit/conveyor/combining_conveyor.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <uit/conveyor/tasks.hpp>
#include <uit/team/team.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/goal.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/uit/conveyor/layouts.hpp"
#include "tests/uit/team/members.hpp"

using namespace uit;
using namespace uit::testing;

namespace {

using Sums = CombiningConveyor<std::uint32_t, std::uint64_t, std::plus<>>;

/// Options with a table of so many slots, and a small conveyor or one of default size.
template <typename Operation = std::plus<>>
Combine<Operation> Table(std::size_t num_slots, bool is_small, std::size_t slot_bytes = 32) {
  Combine<Operation> options{.operation = {}, .table_bytes = num_slots * slot_bytes};
  if (is_small) options.conveyor = {.buffer_bytes = 1, .spill_items = 64, .num_between_looks = 3};
  return options;
}

struct Account {
  std::uint64_t pushed = 0;
  std::uint64_t handled = 0;
  std::uint64_t combined = 0;
};

/// Adds up what all members have done.
template <typename C>
Account Together(Member& me, const C& conveyor) {
  const ConveyorTally tally = conveyor.Tally();
  return me.AllReduce(Account{tally.pushed, tally.handled, tally.combined}, [](const Account& a, const Account& b) {
    return Account{a.pushed + b.pushed, a.handled + b.handled, a.combined + b.combined};
  });
}

/// Numbers in a row.
struct Range {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};
/// Joins ranges that follow each other; otherwise returns one that no test expects.
struct Join {
  Range operator()(const Range& earlier, const Range& later) const {
    return later.first == earlier.last + 1 ? Range{earlier.first, later.last} : Range{1'000'000, 0};
  }
};

}  // namespace

TEST_CASE("Values of a key are combined, and all sums and accounts are exact") {
  constexpr std::uint32_t num_keys = 40;
  ForEachRoute([](Member& me, Checks& checks, std::size_t two_hops_above) {
    const std::uint64_t num_pushes = me.Size() > 4 ? 3 : 8;  // of each member for each key; many take turns on few cores
    for (const std::size_t num_slots : {1U, 16U, 4096U}) {
      for (const bool is_small : {false, true}) {
        std::vector<std::uint64_t> sum(num_keys, 0);
        Combine<std::plus<>> options = Table(num_slots, is_small);
        options.conveyor.two_hops_above = two_hops_above;
        Sums conveyor{me, [&](const Sums::Item& item) { sum[item.key] += item.value; }, options};
        for (std::uint64_t round = 1; round <= 3; ++round) {
          for (std::uint64_t i = 1; i <= num_pushes; ++i)
            for (std::uint32_t key = 0; key < num_keys; ++key) conveyor.Push((key + i) % me.Size(), {key, i * (key + 1)});
          conveyor.Finish();
          std::uint64_t num_wrong = 0;
          for (std::uint32_t key = 0; key < num_keys; ++key) {
            std::uint64_t expected = 0;  // of one member in one round
            for (std::uint64_t i = 1; i <= num_pushes; ++i)
              if ((key + i) % me.Size() == me.Rank()) expected += i * (key + 1);
            num_wrong += sum[key] != round * me.Size() * expected ? 1U : 0U;
          }
          THAT(num_wrong == 0);
          const Account account = Together(me, conveyor);
          THAT(account.pushed == round * num_pushes * num_keys * me.Size());
          THAT(account.pushed == account.handled + account.combined);
          // Up to 80 pairs of key and member in 4096 slots: few displace each other.
          THAT(num_slots < 4096 || me.Size() > 3 || account.combined > account.handled);
        }
      }
    }
  });
}

TEST_CASE("Items of a key keep their order") {
  ForEachRoute([](Member& me, Checks& checks, std::size_t two_hops_above) {
    const std::uint32_t num_items = me.Size() > 4 ? 90 : 390;  // many members take turns on few cores
    constexpr std::uint32_t num_keys = 3;
    using Ranges = CombiningConveyor<std::uint32_t, Range, Join>;
    std::map<std::pair<std::size_t, std::uint32_t>, std::uint32_t> num_seen;  // by sender and key
    std::map<std::pair<std::size_t, std::uint32_t>, std::uint32_t> num_pushed;
    Ranges* self = nullptr;
    Ranges conveyor{me, [&](std::size_t from, const Ranges::Item& item) {
      std::uint32_t& seen = num_seen[{from, item.key}];
      THAT(item.value.first == seen);
      seen = item.value.last + 1;
      // Items that are pushed lead to as many answers of another key.
      for (std::uint32_t i = item.value.first; item.key < num_keys && i <= item.value.last; ++i) {
        std::uint32_t& pushed = num_pushed[{from, item.key + num_keys}];
        self->Push(from, {item.key + num_keys, {pushed, pushed}});
        ++pushed;
      }
    }, [two_hops_above] {
      Combine<Join> options = Table<Join>(2, true);
      options.conveyor.spill_items = 100'000;
      options.conveyor.two_hops_above = two_hops_above;
      return options;
    }()};
    self = &conveyor;
    for (std::uint32_t i = 0; i < num_items; ++i) {
      const std::uint32_t number = i / 15 * 5 + i % 5;  // five of each key in turn
      for (std::size_t to = 0; to < me.Size(); ++to) conveyor.Push(to, {(i / 5) % num_keys, {number, number}});
    }
    conveyor.Finish();
    std::uint64_t num_all = 0;
    for (const auto& [place, count] : num_seen) num_all += count;
    THAT(num_all == 2 * num_items * me.Size());
    const Account account = Together(me, conveyor);
    THAT(account.pushed == 2 * num_items * me.Size() * me.Size());
    THAT(account.pushed == account.handled + account.combined);
    THAT(account.combined > 0);
  });
}

TEST_CASE("What handlers push is combined, and Finish waits for all of it, also that of a set") {
  ForEachLayout([](Member& me, Checks& checks) {
    for (const std::size_t num_slots : {1U, 1024U}) {
      // A handler takes one of what it gets, and passes on the rest in two halves.
      const std::uint64_t amount = me.Size() > 4 ? 300 : 1500;  // of each member; many take turns on few cores
      Conveyors set{me};
      std::uint64_t num_taken = 0;
      Conveyor<std::uint64_t> plain{set, [&](const std::uint64_t& taken) { num_taken += taken; }};
      Sums* self = nullptr;
      Combine<std::plus<>> options = Table(num_slots, true);
      options.conveyor.spill_items = 100'000;
      Sums conveyor{set, [&](const Sums::Item& item) {
        plain.Push(me.Right(), 1);
        const std::uint64_t half = (item.value - 1) / 2;
        if (half > 0) self->Push(me.Right(), {item.key + 1, half});
        if (item.value - 1 > half) self->Push((me.Rank() + item.key) % me.Size(), {item.key / 2, item.value - 1 - half});
      }, options};
      self = &conveyor;
      conveyor.Push(me.Rank(), {7, amount});
      set.Finish();
      THAT(me.AllReduce(num_taken, std::plus<>{}) == amount * me.Size());
      const Account account = Together(me, conveyor);
      THAT(account.pushed == account.handled + account.combined);
      THAT(account.handled == amount * me.Size());
    }
  });
}

TEST_CASE("Flush sends the whole table without a Finish, and so does a wait") {
  ForEachLayout([](Member& me, Checks& checks) {
    std::uint64_t sum = 0;
    Sums conveyor{me, [&](const Sums::Item& item) { sum += item.value; }, Table(1024, true)};
    for (std::uint32_t key = 0; key < 100; ++key) conveyor.Push(me.Right(), {key % 50, 1});
    conveyor.Flush();
    THAT(uit::WaitUntil([&] { return sum >= 100; }, After(std::chrono::seconds(30)), [&] { return conveyor.HandleArrived(); }));
    for (std::uint32_t key = 0; key < 100; ++key) conveyor.Push(me.Right(), {key % 50, 1});
    conveyor.WaitUntil([&] { return sum == 200; });
    conveyor.Finish();
  });
}

TEST_CASE("A member that waits for a task to end sends its table") {
  ForEachLayout([](Member& me, Checks& checks) {
    Conveyors set{me};
    Tasks tasks{set, {.max_tasks = 1}};
    std::uint64_t num_come = 0;
    Sums conveyor{set, [&](const Sums::Item& item) { num_come += item.value; }, Table(1024, false)};
    std::uint64_t num_ended = 0;
    const auto wait = [&](std::uint64_t number) -> Task {
      conveyor.Push(me.Rank(), {1, 1});
      while (num_come <= number) co_await tasks.Yield();
      ++num_ended;
    };
    for (std::uint64_t i = 0; i < 3; ++i) tasks.Start(wait, i);
    set.Finish();
    THAT(num_ended == 3);
  });
}

TEST_CASE("Finish does not end while the table holds an item, whenever that was pushed") {
  ForEachLayout([](Member& me, Checks& checks) {
    Conveyors set{me};
    Tasks tasks{set};
    std::uint64_t num_come = 0;
    Sums conveyor{set, [&](const Sums::Item& item) { num_come += item.value; }, Table(1024, false)};
    // While the task yields, the member is busy and sends nothing.
    const auto push_late = [&](std::uint64_t num_turns) -> Task {
      for (std::uint64_t i = 0; i < num_turns; ++i) co_await tasks.Yield();
      conveyor.Push(me.Rank(), {1, 1});
    };
    const std::uint64_t num_rounds = me.Size() > 4 ? 70 : 140;
    for (std::uint64_t round = 0; round < num_rounds; ++round) {
      tasks.Start(push_late, round);
      set.Finish();
      THAT(num_come == round + 1);
    }
  });
}

TEST_CASE("TryPush of a combining conveyor takes an item or counts it as refused") {
  ForEachLayout([](Member& me, Checks& checks) {
    std::uint64_t sum = 0;
    Sums conveyor{me, [&](const Sums::Item& item) { sum += item.value; }, Table(4, true)};
    std::uint64_t num_taken = 0;
    std::uint64_t num_refused = 0;
    for (std::uint32_t i = 0; i < 1000; ++i) ++(conveyor.TryPush(me.Right(), {i / 2, 1}) ? num_taken : num_refused);
    THAT(sum == 0);
    THAT(num_refused > 0);
    THAT(conveyor.Tally().refused == num_refused);
    THAT(conveyor.Tally().pushed == num_taken);
    conveyor.Finish();
    THAT(me.AllReduce(sum, std::plus<>{}) == me.AllReduce(num_taken, std::plus<>{}));
    THAT(conveyor.Tally().refused == num_refused);
  });
}

TEST_CASE("A push for which the spill has no room leaves the table as it was") {
  ForEachLayout([](Member& me, Checks& checks) {
    std::uint64_t sum = 0;
    std::uint64_t num_taken = 0;
    std::uint64_t num_refused = 0;
    Sums* self = nullptr;
    Sums conveyor{me, [&](const Sums::Item& item) {
      sum += item.value;
      if (item.key != 0) return;
      for (std::uint32_t key = 1; key <= 200; ++key) {
        const std::string words = WordsThrownBy([&] { self->Push(me.Rank(), {key, 1}); });
        ++(words.empty() ? num_taken : num_refused);
      }
    }, Table(4, true)};
    self = &conveyor;
    conveyor.Push(me.Rank(), {0, 1});
    conveyor.Finish();
    THAT(num_refused > 0);
    THAT(sum == 1 + num_taken);
    THAT(conveyor.Tally().pushed == 1 + num_taken);
  });
}

TEST_CASE("The table of a combining conveyor is part of the budget") {
  const Team team{MpiTestWorld(), {.threads = 2}};
  {
    Checks checks;
    team.Run([&](Member& me) {
      Combine<std::plus<>> options = Table(1024, false);
      options.conveyor.budget_bytes = 2'000'000;
      const Sums conveyor{me, [](const Sums::Item&) {}, options};
      THAT(conveyor.NumBytes() > 1024 * sizeof(Sums::Item));
      THAT(conveyor.NumBytes() <= options.conveyor.budget_bytes);
    });
  }
  const auto open = [](std::size_t table_bytes) {
    return [table_bytes](Member& me) {
      Sums{me, [](const Sums::Item&) {}, Combine<std::plus<>>{.table_bytes = table_bytes, .conveyor = {.budget_bytes = 1'000'000}}};
    };
  };
  CheckRefused(team, "needs at least", open(27));
  CheckRefused(team, "needs a budget_bytes of more than that", open(1'000'000));
}
