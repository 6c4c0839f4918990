// A conveyor between all members of a team: accounts, order, recursion through handlers, the fence of Finish, and failures.
#include <uit/conveyor/conveyor.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <uit/conveyor/combining_conveyor.hpp>
#include <uit/conveyor/conveyors.hpp>
#include <uit/conveyor/prefetching.hpp>
#include <uit/conveyor/span_conveyor.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/pause.hpp>
#include <uit/team/team.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/uit/core/support/sanitized.hpp"
#include "tests/uit/conveyor/layouts.hpp"
#include "tests/uit/team/members.hpp"

using namespace uit;
using namespace uit::testing;

namespace {

ConveyorOptions Smallest(std::size_t two_hops_above) {
  return {.buffer_bytes = 1, .spill_items = 64, .num_between_looks = 3, .two_hops_above = two_hops_above};
}

/// Checks that as much was handled as was pushed, over all members, and that it is `expected`.
template <typename T>
bool HasHandled(Member& me, const Conveyor<T>& conveyor, std::uint64_t expected) {
  const std::uint64_t pushed = me.AllReduce(conveyor.Tally().pushed, std::plus<>{});
  const std::uint64_t handled = me.AllReduce(conveyor.Tally().handled, std::plus<>{});
  return pushed == expected && handled == expected;
}

struct Numbered {
  std::uint32_t from = 0;
  std::uint64_t number = 0;
};

}  // namespace

TEST_CASE("A conveyor hands over every item once, in the order of its sender") {
  ForEachRoute([](Member& me, Checks& checks, std::size_t two_hops_above) {
    const ConveyorOptions usual{.two_hops_above = two_hops_above};
    const ConveyorOptions narrow{.budget_bytes = 200'000, .spill_items = 64, .two_hops_above = two_hops_above};  // smaller buffers
    for (const ConveyorOptions& options : {usual, narrow, Smallest(two_hops_above)}) {
      std::vector<std::uint64_t> num_seen(me.Size(), 0);
      Conveyor<Numbered> conveyor{me, [&](std::size_t from, const Numbered& item) {
        THAT(item.from == from);
        THAT(item.number == num_seen[from]);
        ++num_seen[from];
      }, options};
      THAT(conveyor.NumBytes() <= options.budget_bytes);
      // Each member sends so many to each other member in a round. The smallest buffers hold one at a time.
      const std::uint64_t num_items = (options.buffer_bytes != 1 ? 500 : me.Size() > 4 ? 20 : 100) / (is_sanitized ? 4 : 1);
      for (std::uint64_t round = 1; round <= 3; ++round) {
        for (std::uint64_t i = 0; i < num_items; ++i)
          for (std::size_t to = 0; to < me.Size(); ++to)
            conveyor.Push(to, {static_cast<std::uint32_t>(me.Rank()), (round - 1) * num_items + i});
        conveyor.Finish();
        THAT(num_seen == std::vector<std::uint64_t>(me.Size(), round * num_items));
        THAT(HasHandled(me, conveyor, round * num_items * me.Size() * me.Size()));
      }
    }
  });
}

TEST_CASE("A push in a handler keeps the order, spills if need be, and does not recurse") {
  ForEachRoute([](Member& me, Checks& checks, std::size_t two_hops_above) {
    // Each item is passed on until it has come to its end; every member starts some.
    constexpr std::uint64_t num_hops = is_sanitized ? 75 : 300;
    std::size_t depth = 0;
    Conveyor<std::uint64_t>* self = nullptr;
    Conveyor<std::uint64_t> conveyor{me, [&](const std::uint64_t& num_left) {
      THAT(++depth == 1);
      if (num_left > 0) self->Push((me.Rank() + num_left % me.Size()) % me.Size(), num_left - 1);
      --depth;
    }, Smallest(two_hops_above)};
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
    }, Smallest(two_hops_above)};
    other = &bursts;
    bursts.Push(me.Right(), {0, 0});
    bursts.Finish();
    THAT(HasHandled(me, bursts, 11 * me.Size()));
    THAT(bursts.Tally().spilled > 0);
    THAT(bursts.Tally().most_spilled <= 64);
  });
}

TEST_CASE("Pushes in handlers keep their order when the spill empties before the block behind it") {
  ForEachRoute([](Member& me, Checks& checks, std::size_t two_hops_above) {
    constexpr std::uint64_t num_items = is_sanitized ? 250 : 1000;  // of each member to each other
    // A block of several items, and little room behind it.
    const ConveyorOptions options{.buffer_bytes = 64, .two_hops_above = two_hops_above};
    std::vector<std::uint64_t> num_pushed(me.Size(), 0);
    std::vector<std::uint64_t> num_seen(me.Size(), 0);
    Conveyor<std::uint64_t>* self = nullptr;
    Conveyor<std::uint64_t> conveyor{me, [&](std::size_t from, const std::uint64_t& number) {
      THAT(number == num_seen[from]++);
      // Every third item leads to three others, so the spill grows and empties.
      for (std::size_t i = 0; number % 3 == 0 && i < 3 * me.Size(); ++i) {
        const std::size_t to = (from + i) % me.Size();
        if (num_pushed[to] < num_items) self->Push(to, num_pushed[to]++);
      }
    }, options};
    self = &conveyor;
    for (std::size_t to = 0; to < me.Size(); ++to) conveyor.Push(to, num_pushed[to]++);
    conveyor.Finish();
    THAT(num_seen == std::vector<std::uint64_t>(me.Size(), num_items));
    THAT(HasHandled(me, conveyor, num_items * me.Size() * me.Size()));
  });
}

TEST_CASE("Items for others are handled while a member pushes to itself only") {
  ForEachRoute([](Member& me, Checks& checks, std::size_t two_hops_above) {
    if (me.Size() == 1) return;
    bool has_got_one = false;
    Conveyor<int> conveyor{me, [&](std::size_t from, const int&) { has_got_one |= from != me.Rank(); }, Smallest(two_hops_above)};
    for (int i = 0; i < 2; ++i) conveyor.Push(me.Right(), 1);
    conveyor.Flush();
    const Deadline end = After(std::chrono::seconds(30));
    while (!has_got_one && Now() < end) conveyor.Push(me.Rank(), 0);
    THAT(has_got_one);
    conveyor.Finish();
  });
}

TEST_CASE("Nothing that is pushed after one member's Finish is handled before the end of another's") {
  ForEachRoute([](Member& me, Checks& checks, std::size_t two_hops_above) {
    // Many members take turns on few cores, and MPI yields slowly.
    const std::uint64_t num_rounds = (uit::testing::is_sanitized ? 100 : 1000) / (me.Size() > 4 ? 20 : 1);
    std::uint64_t round = 0;
    std::uint64_t num_handled = 0;
    Conveyor<std::uint64_t> conveyor{me, [&](const std::uint64_t& of_round) {
      THAT(of_round == round);
      ++num_handled;
    }, ConveyorOptions{.buffer_bytes = 256, .two_hops_above = two_hops_above}};
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
  ForEachRoute([](Member& me, Checks& checks, std::size_t two_hops_above) {
    bool has_asked = false;
    bool is_answered = false;
    Conveyor<Kind>* self = nullptr;
    Conveyor<Kind> conveyor{me, [&](std::size_t from, const Kind& kind) {
      if (kind == Kind::ask) self->Push(from, Kind::answer);
      if (kind == Kind::wait && !is_answered) self->Push(me.Rank(), Kind::wait);
      if (!std::exchange(has_asked, true)) self->Push(me.Right(), Kind::ask);  // while it is busy
      is_answered |= kind == Kind::answer;
    }, {.two_hops_above = two_hops_above}};
    self = &conveyor;
    for (int i = 0; i < 1500; ++i) conveyor.Push(me.Rank(), Kind::wait);  // more than a block
    conveyor.Finish();
    THAT(is_answered);
  });
}

TEST_CASE("Flush sends all items without a Finish") {
  ForEachRoute([](Member& me, Checks& checks, std::size_t two_hops_above) {
    std::uint64_t num_handled = 0;
    Conveyor<std::uint64_t> conveyor{me, [&](const std::uint64_t&) { ++num_handled; }, {.two_hops_above = two_hops_above}};
    for (std::size_t to = 0; to < me.Size(); ++to) conveyor.Push(to, 1);
    conveyor.Flush();
    THAT(uit::WaitUntil([&] { return num_handled == me.Size(); }, After(std::chrono::seconds(30)),
                        [&] { return conveyor.HandleArrived(); }));
    conveyor.Finish();
  });
}

TEST_CASE("A member that tries to push and handles in turn needs no Flush to find room") {
  ForEachRoute([](Member& me, Checks& checks, std::size_t two_hops_above) {
    // Each member sends so many to each, also to itself: several times what a block and a lane hold.
    constexpr std::uint64_t num_items = 200;
    std::uint64_t num_handled = 0;
    Conveyor<std::uint64_t>* self = nullptr;
    Conveyor<std::uint64_t> conveyor{me, [&](const std::uint64_t& item) {
      ++num_handled;
      if (item == 0) self->Push(me.Rank(), 1);  // on its own way
    }, {.buffer_bytes = 64, .num_between_looks = 8, .two_hops_above = two_hops_above}};
    self = &conveyor;
    const Deadline deadline = After(std::chrono::seconds(30));
    bool has_room = true;
    for (std::uint64_t i = 0; has_room && i < num_items * me.Size(); ++i) {
      const auto try_push = [&] { return conveyor.TryPush(i % me.Size(), 0); };
      has_room = uit::WaitUntil(try_push, deadline, [&] { return conveyor.HandleArrived(); });
    }
    THAT(has_room);
    if (!has_room) return;  // the others notice
    conveyor.Finish();
    THAT(num_handled == 2 * num_items * me.Size());
    THAT(HasHandled(me, conveyor, 2 * num_items * me.Size() * me.Size()));
  });
}

TEST_CASE("What handlers have spilled for other members arrives while all only handle") {
  ForEachRoute([](Member& me, Checks& checks, std::size_t two_hops_above) {
    constexpr std::uint64_t num_items = 2000;
    std::uint64_t num_handled = 0;
    Conveyor<std::uint64_t>* self = nullptr;
    Conveyor<std::uint64_t> conveyor{me, [&](const std::uint64_t& is_first) {
      if (is_first == 0) return void(++num_handled);
      for (std::uint64_t i = 0; i < num_items; ++i)
        for (std::size_t to = 0; to < me.Size(); ++to) self->Push(to, 0);
    }, {.buffer_bytes = 64, .num_between_looks = 8, .two_hops_above = two_hops_above}};
    self = &conveyor;
    conveyor.Push(me.Rank(), 1);
    conveyor.Flush();
    // What is left in blocks and lanes that are not full stays there: less than 500 items of each other.
    const std::uint64_t enough = (num_items - 500) * me.Size();
    const bool are_handled =
        uit::WaitUntil([&] { return num_handled >= enough; }, After(std::chrono::seconds(30)), [&] { return conveyor.HandleArrived(); });
    THAT(are_handled);
    if (!are_handled) return;  // the others notice
    conveyor.Finish();
    THAT(num_handled == num_items * me.Size());
  });
}

TEST_CASE("Items leave in time while their member goes on pushing, if the options say so") {
  ForEachRoute([](Member& me, Checks& checks, std::size_t two_hops_above) {
    if (me.Size() == 1) return;
    bool has_answer = false;
    Conveyor<bool>* self = nullptr;
    Conveyor<bool> conveyor{me, [&](std::size_t from, const bool& is_answer) {
      if (from == me.Rank()) return;
      if (is_answer) has_answer = true;
      else self->Push(from, true);
    }, {.max_age = std::chrono::milliseconds(1), .two_hops_above = two_hops_above}};
    self = &conveyor;
    if (me.IsRoot()) {
      conveyor.Push(me.Left(), false);
      const Deadline end = After(std::chrono::seconds(30));
      while (!has_answer && Now() < end) conveyor.Push(me.Rank(), false);
      THAT(has_answer);
    }
    conveyor.Finish();
  });
}

TEST_CASE("A member that waits for answers sends what it has pushed, and handles what arrives") {
  ForEachRoute([](Member& me, Checks& checks, std::size_t two_hops_above) {
    constexpr std::uint64_t num_rounds = 20;
    std::uint64_t num_answers = 0;
    Conveyor<bool>* self = nullptr;
    Conveyor<bool> conveyor{me, [&](std::size_t from, const bool& is_answer) {
      if (is_answer) ++num_answers;
      else self->Push(from, true);
    }, {.two_hops_above = two_hops_above}};
    self = &conveyor;
    for (std::uint64_t round = 1; round <= num_rounds; ++round) {
      for (std::size_t to = 0; to < me.Size(); ++to) conveyor.Push(to, false);
      conveyor.WaitUntil([&] { return num_answers == round * me.Size(); });
    }
    conveyor.Finish();
    THAT(num_answers == num_rounds * me.Size());
  });
}

TEST_CASE("After a failure, every kind of push to any conveyor of the set is refused") {
  const Team team{MpiTestWorld(), {.threads = 1}};
  Checks checks;
  CheckRefused(team, "the handler", [&](Member& me) {
    Conveyors set{me};
    Conveyor<int> failing{set, [](const int&) { throw std::runtime_error("the handler"); }};
    Conveyor<int> other{set, [](const int&) {}};
    CombiningConveyor<int, int, std::plus<>> combining{set, [](const Keyed<int, int>&) {}, Combine{std::plus<>{}}};
    SpanConveyor<int> spans{set, [](std::span<const int>) {}};
    combining.Push(me.Rank(), {1, 1});
    failing.Push(me.Rank(), 0);
    failing.Flush();
    const std::string failure = WordsThrownBy([&] { failing.HandleArrived(); });
    const auto is_refused = [&](auto&& use) { return WordsThrownBy(use).find("has thrown before") != std::string::npos; };
    const std::vector<int> item(3);
    for (Conveyor<int>* const conveyor : {&failing, &other}) {
      THAT(is_refused([&] { conveyor->Push(me.Rank(), 0); }));
      THAT(is_refused([&] { conveyor->TryPush(me.Rank(), 0); }));
      THAT(is_refused([&] { conveyor->MakeRoom(me.Rank()); }));
      THAT(is_refused([&] { conveyor->HandleArrived(); }));
      THAT(is_refused([&] { conveyor->Flush(); }));
    }
    for (const int key : {1, 2}) {
      THAT(is_refused([&] { combining.Push(me.Rank(), {key, 1}); }));
      THAT(is_refused([&] { combining.TryPush(me.Rank(), {key, 1}); }));
    }
    THAT(is_refused([&] { spans.Push(me.Rank(), item); }));
    THAT(is_refused([&] { spans.TryPush(me.Rank(), item); }));
    throw std::runtime_error(failure);
  });
}

TEST_CASE("If a handler throws, or a member leaves, the others notice") {
  const Team team{MpiTestWorld(), {.threads = 2}};
  for (const std::size_t two_hops_above : {256U, 0U}) {
    CAPTURE(two_hops_above);
    const ConveyorOptions options{.two_hops_above = two_hops_above};
    const std::string thrown = Failure(team, [&](Member& me) {
      Conveyor<std::uint64_t> conveyor{me, [&](const std::uint64_t&) {
        if (me.Rank() == 1) throw std::runtime_error("the handler of member 1");
      }, options};
      conveyor.Push(1, 0);
      conveyor.Finish();
    });
    CHECK(thrown == (MpiTestWorld().IsRoot() ? "the handler of member 1" : "rank 0 failed"));

    const std::string left = Failure(team, [&](Member& me) {
      Conveyor<std::uint64_t> conveyor{me, [](const std::uint64_t&) {}, options};
      if (me.Rank() != 1) conveyor.Finish();
    });
    const bool is_told = left.find("left, so a collective call of the others can never end") != std::string::npos;
    CHECK((is_told || left.ends_with("failed")));
  }
}

TEST_CASE("No wait and no loop of tries goes on once the member that it needs is gone") {
  const Team team{MpiTestWorld(), {.threads = 2}};
  using Pushing = std::function<void(Conveyor<std::uint64_t>&)>;
  const Pushing waits = [](Conveyor<std::uint64_t>& conveyor) { conveyor.WaitUntil([] { return false; }); };
  const Pushing pushes = [](Conveyor<std::uint64_t>& conveyor) {
    while (true) conveyor.Push(1, 0);
  };
  const Pushing tries = [](Conveyor<std::uint64_t>& conveyor) {
    while (true)
      if (!conveyor.TryPush(1, 0)) conveyor.HandleArrived();
  };
  for (const std::size_t two_hops_above : {256U, 0U}) {
    for (const bool is_busy : {false, true}) {
      for (const Pushing& work : {waits, pushes, tries}) {
        CAPTURE(two_hops_above, is_busy);
        const std::string failure = Failure(team, [&](Member& me) {
          Conveyor<std::uint64_t>* self = nullptr;
          Conveyor<std::uint64_t> conveyor{me, [&](const std::uint64_t&) {
            if (is_busy && me.IsRoot()) self->Push(0, 0);  // this member always has something to handle
          }, {.buffer_bytes = 1024, .two_hops_above = two_hops_above}};
          self = &conveyor;
          if (is_busy && me.IsRoot()) conveyor.Push(0, 0);
          if (me.IsRoot()) work(conveyor);
          else if (me.Rank() != 1) conveyor.Finish();
        });
        INFO(failure);
        if (MpiTestWorld().IsRoot()) CHECK(failure == "member 1 has left, but another member waits for it");
        else CHECK((failure.find(" left, ") != std::string::npos || failure.ends_with("failed")));
      }
    }
  }
}

TEST_CASE("A member that fails ends the waits and loops of tries of all others, also on other hosts") {
  const Team team{MpiTestWorld(), {.threads = 2}};
  const std::size_t culprit = 2 * MpiTestWorld().Size() - 1;
  using Pushing = std::function<void(Conveyor<std::uint64_t>&)>;
  const Pushing waits = [](Conveyor<std::uint64_t>& conveyor) { conveyor.WaitUntil([] { return false; }); };
  const Pushing pushes = [&](Conveyor<std::uint64_t>& conveyor) {
    while (true) conveyor.Push(culprit, 0);
  };
  const Pushing tries = [&](Conveyor<std::uint64_t>& conveyor) {
    while (true)
      if (!conveyor.TryPush(culprit, 0)) conveyor.HandleArrived();
  };
  for (const std::size_t two_hops_above : {256U, 0U}) {
    for (const Pushing& work : {waits, pushes, tries}) {
      CAPTURE(two_hops_above);
      const std::string failure = Failure(team, [&](Member& me) {
        Conveyor<std::uint64_t> conveyor{me, [](const std::uint64_t&) {}, {.buffer_bytes = 1024, .two_hops_above = two_hops_above}};
        if (me.Rank() == culprit) throw std::runtime_error("the culprit");
        work(conveyor);
      });
      CHECK(failure == (MpiTestWorld().Rank() == culprit / 2 ? "the culprit" : "rank " + std::to_string(culprit / 2) + " failed"));
    }
  }
}

TEST_CASE("What a member has sent before it left is handled by those that wait for it") {
  if (MpiTestWorld().Size() > 2) return;  // others would have to stay, too
  const Team team{MpiTestWorld(), {.threads = MpiTestWorld().Size() == 1 ? 2U : 1U}};
  for (int round = 0; round < 50; ++round) {
    std::uint64_t num_handled = 0;
    const std::string failure = Failure(team, [&](Member& me) {
      Conveyor<std::uint64_t> conveyor{me, [&](const std::uint64_t&) { ++num_handled; }, {.two_hops_above = 256}};
      if (me.Rank() == 1) {
        for (std::uint64_t i = 0; i < 5000; ++i) conveyor.Push(0, i);
        conveyor.Flush();
      } else if (me.IsRoot()) {
        conveyor.WaitUntil([&] { return num_handled == 5000; });
      }
    });
    INFO(failure);
    if (MpiTestWorld().IsRoot()) CHECK(num_handled == 5000);
    CHECK(failure.empty());
  }
}

TEST_CASE("A conveyor refuses what it cannot do") {
  const Team team{MpiTestWorld(), {.threads = 2}};
  for (const std::size_t two_hops_above : {256U, 0U}) {
    CheckRefused(team, "needs a budget of at least", [&](Member& me) {
      Conveyor<std::uint64_t>{me, [](const std::uint64_t&) {}, {.budget_bytes = 100, .two_hops_above = two_hops_above}};
    });
    CheckRefused(team, "raise budget_bytes or spill_items", [&](Member& me) {
      Conveyor<int>* self = nullptr;
      Conveyor<int> conveyor{me, [&](const int& item) {
        for (int i = 0; i < 2; ++i) self->Push(me.Right(), item);
      }, Smallest(two_hops_above)};
      self = &conveyor;
      conveyor.Push(me.Rank(), 1);
      conveyor.Finish();
    });
  }
  CheckRefused(team, "may push, and call nothing else", [](Member& me) {
    Conveyor<int>* self = nullptr;
    Conveyor<int> conveyor{me, [&](const int&) { self->Finish(); }};
    self = &conveyor;
    conveyor.Push(me.Rank(), 1);
    conveyor.Finish();
  });
  Checks checks;
  team.Run([&](Member& me) {
    for (const std::size_t two_hops_above : {256U, 0U}) {
      const ConveyorOptions narrow{.budget_bytes = 200'000, .spill_items = 16, .two_hops_above = two_hops_above};
      const Conveyor<std::uint64_t> conveyor{me, [](const std::uint64_t&) {}, narrow};
      THAT(conveyor.NumBytes() <= narrow.budget_bytes);
    }
  });
}

TEST_CASE("Handlers may push much more than buffers have room for, within the budget") {
  const Team team{MpiTestWorld(), {.threads = 2}};
  Checks checks;
  team.Run([&](Member& me) {
    constexpr int num_levels = 17;
    const ConveyorOptions options{.buffer_bytes = 64, .budget_bytes = std::size_t{4} << 20U};
    Conveyor<int>* self = nullptr;
    Conveyor<int> conveyor{me, [&](const int& level) {
      if (level == num_levels) return;
      self->Push(me.Rank(), level + 1);
      self->Push(me.Right(), level + 1);
    }, options};
    self = &conveyor;
    conveyor.Push(me.Rank(), 1);
    conveyor.Finish();
    THAT(HasHandled(me, conveyor, me.Size() * ((std::uint64_t{1} << num_levels) - 1)));
    THAT(me.AllReduce(conveyor.Tally().most_spilled, [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); }) > 2 * 4096);
    THAT(conveyor.NumBytes() <= options.budget_bytes);
  });
}

TEST_CASE("A handler that says what it accesses gets each item once, in order") {
  ForEachRoute([](Member& me, Checks& checks, std::size_t two_hops_above) {
    constexpr std::uint64_t num_items = 700;  // of each member to each other
    std::vector<std::uint64_t> num_seen(me.Size());
    std::uint64_t num_places = 0;
    const auto place = [&](const auto& number) {
      THAT(number < num_items);
      ++num_places;
      return num_seen.data() + number % num_seen.size();
    };
    Conveyor<std::uint64_t> conveyor{
        me, Prefetching{place, [&](std::size_t from, const std::uint64_t& number) { THAT(num_seen[from]++ == number); }},
        {.two_hops_above = two_hops_above}};
    for (std::uint64_t number = 0; number < num_items; ++number)
      for (std::size_t to = 0; to < me.Size(); ++to) conveyor.Push(to, number);
    conveyor.Finish();
    THAT(num_seen == std::vector<std::uint64_t>(me.Size(), num_items));
    THAT(num_places == num_items * me.Size() || two_hops_above < me.Size());  // not those that a relay handles one by one
    THAT(HasHandled(me, conveyor, num_items * me.Size() * me.Size()));
  });
}

TEST_CASE("Several conveyors of a member end together, and none waits while another must be handled") {
  ForEachRoute([](Member& me, Checks& checks, std::size_t two_hops_above) {
    constexpr std::uint32_t num_questions = 100;
    ConveyorOptions roomy = Smallest(two_hops_above);
    roomy.spill_items = 4000;
    Conveyors set{me};
    bool is_in_handler = false;
    bool is_alone = true;
    const auto enter = [&] { is_alone = is_alone && !std::exchange(is_in_handler, true); };
    std::uint64_t sum = 0;
    Conveyor<std::uint64_t> answers{set, [&](const std::uint64_t& answer) {
      enter();
      sum += answer;
      is_in_handler = false;
    }, roomy};
    // Each question leads to an answer and, if it has one left, to another question.
    Conveyor<Numbered>* self = nullptr;
    Conveyor<Numbered> questions{set, [&](std::size_t from, const Numbered& question) {
      enter();
      answers.Push(question.from, question.number);
      if (question.number % 2 == 0) self->Push(from, {question.from, question.number + 1});
      is_in_handler = false;
    }, roomy};
    self = &questions;
    // Even members push to one conveyor and odd ones to the other, so that each waits for room where the others push nothing.
    for (std::uint32_t i = 0; i < num_questions; ++i) {
      if (me.Rank() % 2 == 0) questions.Push(i % me.Size(), {static_cast<std::uint32_t>(me.Rank()), 2 * std::uint64_t{i}});
      else answers.Push(i % me.Size(), 1);
    }
    set.Finish();
    THAT(is_alone);
    const std::uint64_t num_even = (me.Size() + 1) / 2;
    const std::uint64_t num_odd = me.Size() / 2;
    THAT(HasHandled(me, questions, 2 * num_even * num_questions));
    THAT(HasHandled(me, answers, (2 * num_even + num_odd) * num_questions));
    const std::uint64_t all = me.AllReduce(sum, std::plus<>{});
    constexpr std::uint64_t n = num_questions;
    THAT(all == num_even * (2 * n * (n - 1) + n) + num_odd * n);
  });
}

TEST_CASE("While a member pushes to one conveyor, what handlers push to another one is handled, too") {
  ForEachRoute([](Member& me, Checks& checks, std::size_t two_hops_above) {
    const ConveyorOptions options{.two_hops_above = two_hops_above};
    constexpr std::uint64_t num_questions = 20'000;
    std::uint64_t num_answered = 0;
    Conveyors set{me};
    Conveyor<std::uint64_t> answers{set, [&](const std::uint64_t&) { ++num_answered; }, options};
    Conveyor<std::uint64_t> questions{set, [&](std::size_t from, const std::uint64_t& number) { answers.Push(from, number); },
                                      options};
    for (std::uint64_t i = 0; i < num_questions; ++i) questions.Push(me.Rank(), i);
    THAT(num_answered > num_questions / 2);
    THAT(answers.Tally().spilled == 0);
    set.Finish();
    THAT(num_answered == num_questions);
  });
}

TEST_CASE("If a handler throws, other conveyors of its set are refused, too") {
  const Team team{MpiTestWorld(), {.threads = 1}};
  bool is_refused = false;
  try {
    team.Run([&](Member& me) {
      Conveyors set{me};
      Conveyor<int> one{set, [](const int&) { throw std::runtime_error("a handler fails"); }};
      Conveyor<int> other{set, [](const int&) {}};
      one.Push(me.Rank(), 1);
      try {
        one.Flush();
        for (;;) one.HandleArrived();
      } catch (const std::runtime_error&) {
        try {
          other.HandleArrived();
        } catch (const Error&) {
          is_refused = true;
        }
        throw;
      }
    });
  } catch (const std::exception&) {
  }
  CHECK(is_refused);
}
