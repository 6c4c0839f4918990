// A conveyor between all members of a team: accounts, order, recursion through handlers, the fence of Finish, and failures.
#include <uit/conveyor/conveyor.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <uit/team/team.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/uit/core/support/sanitized.hpp"
#include "tests/uit/team/members.hpp"

using namespace uit;
using namespace uit::testing;

namespace {

constexpr ConveyorOptions smallest{.buffer_bytes = 1, .spill_items = 64, .num_between_looks = 3};

/// Runs `work` on teams of 1, 2 and 3 threads per process.
void ForEachLayout(const std::function<void(Member&, Checks&)>& work) {
  for (const std::uint32_t threads : {1U, 2U, 3U}) {
    Checks checks;
    Team{MpiTestWorld(), {.threads = threads}}.Run([&](Member& me) { work(me, checks); });
  }
}

/// Checks that as much was handled as was pushed, over all members, and that it is `expected`.
template <typename T>
bool HasHandled(Member& me, const Conveyor<T>& conveyor, std::uint64_t expected) {
  const std::uint64_t pushed = me.AllReduce(conveyor.Tally().pushed, std::plus<>{});
  const std::uint64_t handled = me.AllReduce(conveyor.Tally().handled, std::plus<>{});
  return pushed == expected && handled == expected;
}

/// Returns what a run throws on this process.
std::string Failure(const Team& team, const std::function<void(Member&)>& work) {
  try {
    team.Run(work);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing";
}

struct Numbered {
  std::uint32_t from = 0;
  std::uint64_t number = 0;
};

}  // namespace

TEST_CASE("A conveyor hands over every item once, in the order of its sender") {
  ForEachLayout([](Member& me, Checks& checks) {
    for (const ConveyorOptions& options : {ConveyorOptions{}, smallest}) {
      std::vector<std::uint64_t> num_seen(me.Size(), 0);
      Conveyor<Numbered> conveyor{me, [&](std::size_t from, const Numbered& item) {
        THAT(item.from == from);
        THAT(item.number == num_seen[from]);
        ++num_seen[from];
      }, options};
      THAT(conveyor.NumBytes() <= options.budget_bytes);
      for (std::uint64_t round = 1; round <= 3; ++round) {
        for (std::uint64_t i = 0; i < 500; ++i)
          for (std::size_t to = 0; to < me.Size(); ++to)
            conveyor.Push(to, {static_cast<std::uint32_t>(me.Rank()), (round - 1) * 500 + i});
        conveyor.Finish();
        THAT(num_seen == std::vector<std::uint64_t>(me.Size(), round * 500));
        THAT(HasHandled(me, conveyor, round * 500 * me.Size() * me.Size()));
      }
    }
  });
}

TEST_CASE("A push in a handler keeps the order, spills if need be, and does not recurse") {
  ForEachLayout([](Member& me, Checks& checks) {
    // Each item is passed on until it has come to its end; every member starts some.
    constexpr std::uint64_t num_hops = 300;
    std::size_t depth = 0;
    Conveyor<std::uint64_t>* self = nullptr;
    Conveyor<std::uint64_t> conveyor{me, [&](const std::uint64_t& num_left) {
      THAT(++depth == 1);
      if (num_left > 0) self->Push((me.Rank() + num_left % me.Size()) % me.Size(), num_left - 1);
      --depth;
    }, smallest};
    self = &conveyor;
    for (int i = 0; i < 8; ++i) conveyor.Push(me.Right(), num_hops);
    conveyor.Finish();
    THAT(HasHandled(me, conveyor, 8 * (num_hops + 1) * me.Size()));

    // Bursts that do not fit must wait in the spill, and stay in order.
    std::vector<std::uint64_t> num_seen(me.Size(), 0);
    Conveyor<Numbered>* other = nullptr;
    std::uint64_t num_replies = 0;
    Conveyor<Numbered> bursts{me, [&](std::size_t from, const Numbered& item) {
      if (item.from == 0) {
        for (int i = 0; i < 10; ++i) other->Push(me.Left(), {1, num_replies++});
      } else {
        THAT(item.number == num_seen[from]++);
      }
    }, smallest};
    other = &bursts;
    bursts.Push(me.Right(), {0, 0});
    bursts.Finish();
    THAT(HasHandled(me, bursts, 11 * me.Size()));
    THAT(bursts.Tally().spilled > 0);
    THAT(bursts.Tally().most_spilled <= 64);
  });
}

TEST_CASE("Nothing that is pushed after one member's Finish is handled before the end of another's") {
  ForEachLayout([](Member& me, Checks& checks) {
    // Many members take turns on few cores, and MPI yields slowly.
    const std::uint64_t num_rounds = (uit::testing::is_sanitized ? 100 : 1500) / (me.Size() > 4 ? 5 : 1);
    std::uint64_t round = 0;
    std::uint64_t num_handled = 0;
    Conveyor<std::uint64_t> conveyor{me, [&](const std::uint64_t& of_round) {
      THAT(of_round == round);
      ++num_handled;
    }, ConveyorOptions{.buffer_bytes = 256}};
    while (round < num_rounds) {
      for (std::size_t to = 0; to < me.Size(); ++to) conveyor.Push(to, round);
      if (round % 7 == me.Rank() % 7) conveyor.Flush();
      conveyor.Finish();
      ++round;
      THAT(num_handled == round * me.Size());
    }
    THAT(HasHandled(me, conveyor, num_rounds * me.Size() * me.Size()));
  });
}

TEST_CASE("A member that keeps itself busy still sends, until it gets an answer") {
  enum class Kind : std::uint8_t { wait, ask, answer };
  ForEachLayout([](Member& me, Checks& checks) {
    bool has_asked = false;
    bool is_answered = false;
    Conveyor<Kind>* self = nullptr;
    Conveyor<Kind> conveyor{me, [&](std::size_t from, const Kind& kind) {
      if (kind == Kind::ask) self->Push(from, Kind::answer);
      if (kind == Kind::wait && !is_answered) self->Push(me.Rank(), Kind::wait);
      if (!std::exchange(has_asked, true)) self->Push(me.Right(), Kind::ask);  // while it is busy
      is_answered |= kind == Kind::answer;
    }};
    self = &conveyor;
    for (int i = 0; i < 1500; ++i) conveyor.Push(me.Rank(), Kind::wait);  // more than a block
    conveyor.Finish();
    THAT(is_answered);
  });
}

TEST_CASE("Flush sends all items without a Finish") {
  ForEachLayout([](Member& me, Checks& checks) {
    std::uint64_t num_handled = 0;
    Conveyor<std::uint64_t> conveyor{me, [&](const std::uint64_t&) { ++num_handled; }};
    conveyor.Push(me.Right(), 1);
    conveyor.Flush();
    THAT(uit::WaitUntil([&] { return num_handled == 1; }, After(std::chrono::seconds(30)), [&] { return conveyor.HandleArrived(); }));
    conveyor.Finish();
  });
}

TEST_CASE("If a handler throws, or a member leaves, the others notice") {
  const Team team{MpiTestWorld(), {.threads = 2}};
  const std::string thrown = Failure(team, [](Member& me) {
    Conveyor<std::uint64_t> conveyor{me, [&](const std::uint64_t&) {
      if (me.Rank() == 1) throw std::runtime_error("the handler of member 1");
    }};
    conveyor.Push(1, 0);
    conveyor.Finish();
  });
  CHECK(thrown == (MpiTestWorld().IsRoot() ? "the handler of member 1" : "rank 0 failed"));

  const std::string left = Failure(team, [](Member& me) {
    Conveyor<std::uint64_t> conveyor{me, [](const std::uint64_t&) {}};
    if (me.Rank() != 1) conveyor.Finish();
  });
  const bool is_told = left.find("left, so a collective call of the others can never end") != std::string::npos;
  CHECK((is_told || left.ends_with("failed")));
}

TEST_CASE("A conveyor refuses what it cannot do") {
  const Team team{MpiTestWorld(), {.threads = 2}};
  const auto tells = [&](const std::string& words, const std::function<void(Member&)>& work) {
    const std::string failure = Failure(team, work);
    INFO(failure);
    CHECK((failure.find(words) != std::string::npos || failure.ends_with("failed")));
  };
  tells("needs a budget of at least", [](Member& me) {
    Conveyor<std::uint64_t>{me, [](const std::uint64_t&) {}, {.budget_bytes = 100}};
  });
  tells("raise spill_items", [](Member& me) {
    Conveyor<int>* self = nullptr;
    Conveyor<int> conveyor{me, [&](const int& item) {
      for (int i = 0; i < 2; ++i) self->Push(me.Right(), item);
    }, smallest};
    self = &conveyor;
    conveyor.Push(me.Rank(), 1);
    conveyor.Finish();
  });
  tells("may push, and call nothing else", [](Member& me) {
    Conveyor<int>* self = nullptr;
    Conveyor<int> conveyor{me, [&](const int&) { self->Finish(); }};
    self = &conveyor;
    conveyor.Push(me.Rank(), 1);
    conveyor.Finish();
  });
  Checks checks;
  team.Run([&](Member& me) {
    const ConveyorOptions narrow{.budget_bytes = 200'000, .spill_items = 16};
    const Conveyor<std::uint64_t> conveyor{me, [](const std::uint64_t&) {}, narrow};
    THAT(conveyor.NumBytes() <= narrow.budget_bytes);
  });
}
