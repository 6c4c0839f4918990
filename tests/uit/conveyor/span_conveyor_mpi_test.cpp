// A conveyor of items of any length: whole and in order, also if handlers push while a push waits, and all or nothing.
#include <uit/conveyor/span_conveyor.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <uit/support/error.hpp>
#include <uit/team/team.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/uit/conveyor/layouts.hpp"
#include "tests/uit/team/members.hpp"

using namespace uit;
using namespace uit::testing;

namespace {

using Words = std::span<const std::uint32_t>;

const SpanConveyorOptions smallest{.conveyor = {.buffer_bytes = 1, .spill_items = 64, .num_between_looks = 3}};
const SpanConveyorOptions small{.conveyor = {.buffer_bytes = 256, .budget_bytes = std::size_t{1} << 20U}};

/// An item of `length` words, which tell the member that pushes it and its number among the member's.
std::vector<std::uint32_t> Item(std::size_t from, std::uint64_t number, std::size_t length) {
  std::vector<std::uint32_t> words(length);
  for (std::size_t i = 0; i < length; ++i) words[i] = static_cast<std::uint32_t>(1'000'000 * from + 1000 * number + i);
  return words;
}

bool Equal(Words a, Words b) { return std::ranges::equal(a, b); }

/// Checks that as much was handled as was pushed, over all members, and that it is `expected`.
template <typename T>
bool HasHandled(Member& me, const SpanConveyor<T>& conveyor, std::uint64_t expected) {
  const std::uint64_t pushed = me.AllReduce(conveyor.Tally().pushed, std::plus<>{});
  const std::uint64_t handled = me.AllReduce(conveyor.Tally().handled, std::plus<>{});
  return pushed == expected && handled == expected;
}

/// Lengths from none to more than a buffer of the smallest options, and in the end more than one of the default options.
std::size_t Length(std::uint64_t number, std::size_t most) {
  constexpr std::array<std::size_t, 10> lengths{0, 1, 2, 14, 15, 16, 30, 31, 400, 70'000};
  return std::min(lengths[number % lengths.size()], most);
}

}  // namespace

TEST_CASE("Items of any length arrive whole, once, and in the order of their sender") {
  ForEachRoute([](Member& me, Checks& checks, std::size_t two_hops_above) {
    for (SpanConveyorOptions options : {SpanConveyorOptions{}, small, smallest}) {
      options.conveyor.two_hops_above = two_hops_above;
      constexpr std::uint64_t num_items = 20;  // of each member to each other
      std::vector<std::uint64_t> num_seen(me.Size(), 0);
      SpanConveyor<std::uint32_t>* self = nullptr;
      SpanConveyor<std::uint32_t> conveyor{me, [&](std::size_t from, Words item) {
        THAT(Equal(item, Item(from, num_seen[from], Length(num_seen[from], self->MaxItemBytes() / sizeof(std::uint32_t)))));
        ++num_seen[from];
      }, options};
      self = &conveyor;
      const std::size_t max_length = conveyor.MaxItemBytes() / sizeof(std::uint32_t);
      for (std::uint64_t i = 0; i < num_items; ++i)
        for (std::size_t to = 0; to < me.Size(); ++to) conveyor.Push(to, Item(me.Rank(), i, Length(i, max_length)));
      conveyor.WaitUntil([&] { return num_seen == std::vector<std::uint64_t>(me.Size(), num_items); });
      conveyor.Finish();
      THAT(num_seen == std::vector<std::uint64_t>(me.Size(), num_items));
      THAT(HasHandled(me, conveyor, num_items * me.Size() * me.Size()));
      THAT(conveyor.NumBytes() <= options.conveyor.budget_bytes);
    }
  });
}

TEST_CASE("Items that handlers push while a push of a long item waits stay whole, and in order") {
  ForEachLayout([](Member& me, Checks& checks) {
    const std::uint64_t num_questions = me.Size() > 4 ? 5 : 20;  // of each member to each other; many take turns on few cores
    constexpr std::size_t length = 400;          // much longer than the buffers
    std::vector<std::uint64_t> num_asked(me.Size(), 0);
    std::vector<std::uint64_t> num_answered(me.Size(), 0);
    SpanConveyorOptions options = smallest;
    options.conveyor.spill_items = 100'000;
    options.max_item_bytes = length * sizeof(std::uint32_t);
    SpanConveyor<std::uint32_t>* self = nullptr;
    // An item that is one word shorter is an answer.
    SpanConveyor<std::uint32_t> conveyor{me, [&](std::size_t from, Words item) {
      if (item.size() == length) {
        THAT(Equal(item, Item(from, num_asked[from], length)));
        self->Push(from, Item(me.Rank(), num_asked[from]++, length - 1));
      } else {
        THAT(Equal(item, Item(from, num_answered[from]++, length - 1)));
      }
    }, options};
    self = &conveyor;
    for (std::uint64_t i = 0; i < num_questions; ++i)
      for (std::size_t to = 0; to < me.Size(); ++to) conveyor.Push(to, Item(me.Rank(), i, length));
    conveyor.Finish();
    THAT(num_answered == std::vector<std::uint64_t>(me.Size(), num_questions));
    THAT(HasHandled(me, conveyor, 2 * num_questions * me.Size() * me.Size()));
    THAT(conveyor.Tally().waits > 0);
  });
}

TEST_CASE("TryPush takes the whole item or nothing of it") {
  ForEachLayout([](Member& me, Checks& checks) {
    for (const SpanConveyorOptions& options : {small, smallest}) {
      std::vector<std::uint64_t> num_seen(me.Size(), 0);
      SpanConveyor<std::uint32_t> conveyor{me, [&](std::size_t from, Words item) {
        THAT(Equal(item, Item(from, num_seen[from], Length(num_seen[from], 450))));
        ++num_seen[from];
      }, options};
      std::uint64_t num_tries = 0;
      std::uint64_t num_taken = 0;
      for (std::uint64_t num_refused = 0; num_refused < 3; ++num_tries) {
        const bool is_taken = conveyor.TryPush(me.Right(), Item(me.Rank(), num_taken, Length(num_taken, 450)));
        ++(is_taken ? num_taken : num_refused);
      }
      THAT(num_taken > 0);
      THAT(conveyor.Tally().refused == 3);
      THAT(conveyor.Tally().pushed == num_tries - 3);
      conveyor.Push(me.Right(), Item(me.Rank(), num_taken, Length(num_taken, 450)));
      conveyor.Finish();
      THAT(num_seen[me.Left()] == me.AllGather(num_taken)[me.Left()] + 1);
      THAT(HasHandled(me, conveyor, me.AllReduce(num_taken + 1, std::plus<>{})));
    }
    // An empty item takes room, too; and long ones to several members share the spill.
    std::uint64_t num_taken = 0;
    SpanConveyor<std::uint32_t> conveyor{me, [](Words) {}, smallest};
    while (conveyor.TryPush(me.Right(), {})) ++num_taken;
    for (std::size_t to = 0; to < me.Size(); ++to)
      while (conveyor.TryPush(to, Item(me.Rank(), 0, 480))) ++num_taken;
    conveyor.Finish();
    THAT(HasHandled(me, conveyor, me.AllReduce(num_taken, std::plus<>{})));
  });
}

TEST_CASE("An item that has no room is refused before anything of it is sent") {
  ForEachLayout([](Member& me, Checks& checks) {
    const std::vector<std::uint32_t> longest = Item(me.Rank(), 0, 480);
    int num_to_push = 10;
    std::uint64_t num_long = 0;
    std::uint64_t num_refused = 0;
    SpanConveyor<std::uint32_t>* self = nullptr;
    SpanConveyor<std::uint32_t> conveyor{me, [&](Words item) {
      THAT(item.empty() || Equal(item, longest));
      if (!item.empty()) ++num_long;
      for (int i = 0; item.empty() && i < num_to_push; ++i) {
        const std::string words = WordsThrownBy([&] { self->Push(me.Rank(), longest); });
        if (!words.empty()) ++num_refused;
        THAT(words.empty() || words.find("raise budget_bytes or spill_items") != std::string::npos);
      }
    }, smallest};
    self = &conveyor;
    const std::vector<std::uint32_t> too_long = Item(me.Rank(), 0, 481);
    const std::string words = "an item of 1924 bytes is longer than max_item_bytes, which is 1920; raise it, or budget_bytes";
    THAT(WordsThrownBy([&] { conveyor.Push(me.Rank(), too_long); }) == words);
    THAT(WordsThrownBy([&] { conveyor.TryPush(me.Rank(), too_long); }) == words);
    conveyor.Push(me.Rank(), {});  // leads to more than the spill has room for
    conveyor.Finish();
    THAT(num_refused > 0);
    THAT(num_long == 10 - num_refused);
    num_to_push = 1;
    conveyor.Push(me.Rank(), {});
    conveyor.Finish();
    THAT(num_long == 11 - num_refused);
    THAT(HasHandled(me, conveyor, me.AllReduce(num_long + 2, std::plus<>{})));
  });
}

TEST_CASE("A conveyor of spans keeps the items that arrive within its budget, or refuses the budget") {
  const Team team{MpiTestWorld(), {.threads = 2}};
  {
    Checks checks;
    team.Run([&](Member& me) {
      constexpr SpanConveyorOptions options{.max_item_bytes = 10'000, .conveyor = {.budget_bytes = 1'000'000}};
      SpanConveyor<double> conveyor{me, [&](std::span<const double>) {}, options};
      const std::size_t before = conveyor.NumBytes();
      for (int i = 0; i < 3; ++i)
        for (std::size_t to = 0; to < me.Size(); ++to) conveyor.Push(to, std::vector<double>(1250, 1.0));
      conveyor.Finish();
      THAT(conveyor.NumBytes() >= before + 10'000 * me.Size());
      THAT(conveyor.NumBytes() <= options.conveyor.budget_bytes);
    });
  }
  const auto open = [](const SpanConveyorOptions& options) {
    return [options](Member& me) { SpanConveyor<double>{me, [](std::span<const double>) {}, options}; };
  };
  CheckRefused(team, "need a budget of more than", open({.max_item_bytes = std::size_t{1} << 28U}));
  CheckRefused(team, "need a spill of at least", open({.max_item_bytes = 6000, .conveyor = {.spill_items = 199}}));
  CheckRefused(team, "less than 2^31", open({.max_item_bytes = std::size_t{1} << 31U}));
  CheckRefused(team, "needs a budget of at least", open({.conveyor = {.budget_bytes = 100}}));
}
