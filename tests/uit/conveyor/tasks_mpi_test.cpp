// Tasks that wait for answers of other members: every question is answered once, and nothing is left when Finish ends.
#include <uit/conveyor/requests.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <uit/conveyor/conveyors.hpp>
#include <uit/conveyor/tasks.hpp>
#include <uit/team/team.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/uit/conveyor/layouts.hpp"
#include "tests/uit/team/members.hpp"

using namespace uit;
using namespace uit::testing;

namespace {

constexpr RequestOptions narrow{.max_under_way = 3, .conveyor = {.buffer_bytes = 1, .num_between_looks = 3}};

}  // namespace

TEST_CASE("Every question of every task is answered once, by the member to which it was put") {
  ForEachRoute([](Member& me, Checks& checks, std::size_t two_hops_above) {
    for (RequestOptions options : {narrow, RequestOptions{}}) {
      options.conveyor.two_hops_above = two_hops_above;
      constexpr std::uint64_t num_tasks = 200;
      Conveyors set{me};
      Tasks tasks{set, {.max_tasks = 50}};
      std::uint64_t num_answered = 0;
      Requests<std::uint64_t, std::uint64_t> ask{tasks, [&](std::size_t from, const std::uint64_t& question) {
        ++num_answered;
        return 1000 * question + 10 * me.Rank() + from;
      }, options};
      std::uint64_t num_right = 0;
      std::size_t most_live = 0;
      const auto work = [&](std::uint64_t i) -> Task {
        most_live = std::max(most_live, tasks.NumLive());
        const std::size_t first = i % me.Size();
        const std::uint64_t one = co_await ask(first, i);
        const std::size_t second = (i + 1) % me.Size();
        const std::uint64_t two = co_await ask(second, one);
        num_right += one == 1000 * i + 10 * first + me.Rank() && two == 1000 * one + 10 * second + me.Rank() ? 1U : 0U;
      };
      for (std::uint64_t i = 0; i < num_tasks; ++i) tasks.Start(work, i);
      set.Finish();
      THAT(num_right == num_tasks);
      THAT(tasks.NumLive() == 0);
      THAT(most_live <= 50);
      const RequestTally& tally = ask.Tally();
      THAT(tally.asked == tally.answered);
      THAT(tally.asked + tally.own == 2 * num_tasks);
      THAT(tally.own == (me.Size() == 1 ? 2 * num_tasks : tally.own));
      THAT(me.AllReduce(num_answered, std::plus<>{}) == 2 * num_tasks * me.Size());
      if (options.max_under_way == 3 && me.Size() > 1) THAT(tally.waited > 0);
    }
  });
}

TEST_CASE("A budget without room for all answers limits the questions under way") {
  ForEachLayout([](Member& me, Checks& checks) {
    if (me.Size() == 1) return;
    const RequestOptions options{.conveyor = {.buffer_bytes = 64, .budget_bytes = 60'000 * me.Size()}};
    Conveyors set{me};
    Tasks tasks{set};
    Requests<std::uint64_t, std::uint64_t> ask{tasks, [](const std::uint64_t& question) { return question + 1; }, options};
    std::uint64_t num_right = 0;
    const auto work = [&](std::uint64_t i) -> Task { num_right += co_await ask(me.Right(), i) == i + 1 ? 1U : 0U; };
    constexpr std::uint64_t num_tasks = 3000;
    for (std::uint64_t i = 0; i < num_tasks; ++i) tasks.Start(work, i);
    set.Finish();
    THAT(num_right == num_tasks);
    THAT(ask.Tally().waited > 0);
  });
}

TEST_CASE("A task that asks again and again does not recurse, and tasks take turns") {
  ForEachLayout([](Member& me, Checks& checks) {
    constexpr std::uint32_t num_steps = 20'000;
    Conveyors set{me};
    Tasks tasks{set};
    // Each member stores where a walk goes on. A member's own questions are answered without a wait.
    Requests<std::uint32_t, std::uint32_t> next{tasks, [&](const std::uint32_t& at) { return at + 1; }};
    std::vector<std::uint32_t> ends(3, 0);
    const auto walk = [&](std::size_t number) -> Task {
      std::uint32_t at = 0;
      while (at < num_steps) at = co_await next(at % 10 == 0 ? me.Right() : me.Rank(), at);
      ends[number] = at;
    };
    for (std::size_t number = 0; number < ends.size(); ++number) tasks.Start(walk, number);
    set.Finish();
    THAT(ends == std::vector<std::uint32_t>(3, num_steps));
  });
}

TEST_CASE("Tasks that yield take turns, and messages get theirs") {
  ForEachLayout([](Member& me, Checks& checks) {
    Conveyors set{me};
    Tasks tasks{set};
    bool has_arrived = false;
    Conveyor<int> conveyor{set, [&](const int&) { has_arrived = true; }};
    std::vector<std::size_t> order;
    const auto wait = [&](std::size_t number) -> Task {
      for (int i = 0; i < 3; ++i) {
        order.push_back(number);
        co_await tasks.Yield();
      }
      while (!has_arrived) co_await tasks.Yield();
    };
    const auto send = [&]() -> Task {
      for (int i = 0; i < 10; ++i) co_await tasks.Yield();
      conveyor.Push(me.Right(), 1);
    };
    const auto both = [&]() -> Task {
      for (std::size_t number = 0; number < 2; ++number) tasks.Start(wait, number);
      tasks.Start(send);
      co_return;
    };
    tasks.Start(both);
    set.Finish();
    const std::vector<std::size_t> in_turn{0, 1, 0, 1, 0, 1};
    THAT(order == in_turn);
    THAT(has_arrived);
  });
}

TEST_CASE("Tasks wait for messages of outlets and for conditions, while others run") {
  ForEachLayout([](Member& me, Checks& checks) {
    constexpr std::uint64_t num_rounds = 200;
    auto inlet = me.InletTo<std::uint64_t, uit::every>(me.Right(), {.depth = 4});
    auto outlet = me.OutletFrom<std::uint64_t, uit::every>(me.Left(), {.depth = 4});
    me.Connect();
    Conveyors set{me};
    Tasks tasks{set};
    std::uint64_t num_got = 0;
    bool has_right_numbers = true;
    std::vector<int> order;
    const auto get = [&]() -> Task {
      for (std::uint64_t i = 0; i < num_rounds; ++i) has_right_numbers &= co_await tasks.Next(outlet) == i;
      num_got = num_rounds;
    };
    const auto put = [&]() -> Task {
      for (std::uint64_t i = 0; i < num_rounds; ++i)
        co_await tasks.Until([&, i] { return inlet.TryPut(i); });
    };
    const auto wait = [&](int number) -> Task {
      co_await tasks.Until([&] { return num_got == num_rounds; });
      order.push_back(number);
    };
    for (const int number : {0, 1, 2}) tasks.Start(wait, number);
    tasks.Start(get);
    tasks.Start(put);
    set.Finish();
    THAT(num_got == num_rounds);
    THAT(has_right_numbers);
    const std::vector<int> in_order{0, 1, 2};
    THAT(order == in_order);
    THAT(tasks.NumLive() == 0);
  });
}

TEST_CASE("A condition may start tasks, and what it starts begins later") {
  ForEachLayout([](Member& me, Checks& checks) {
    Conveyors set{me};
    Tasks tasks{set};
    std::uint64_t num_ended = 0;
    const auto end = [&]() -> Task {
      co_await tasks.Until([] { return true; });
      co_await tasks.Yield();
      ++num_ended;
    };
    const auto wait = [&]() -> Task {
      int num_calls = 0;
      co_await tasks.Until([&, num_calls]() mutable {
        for (int i = 0; i < 5; ++i) tasks.Start(end);
        return ++num_calls == 4;
      });
      ++num_ended;
    };
    for (int i = 0; i < 3; ++i) tasks.Start(wait);
    set.Finish();
    THAT(num_ended == 3 * (1 + 5 * 4));
  });
}

TEST_CASE("A start that waits for other tasks to end notices that a member has gone") {
  const Team team{MpiTestWorld(), {.threads = 2}};
  const std::string failure = Failure(team, [](Member& me) {
    Conveyors set{me};
    Tasks tasks{set, {.max_tasks = 2}};
    Requests<int, int> ask{tasks, [&](const int& x) {
      if (me.Rank() == 1) throw std::runtime_error("member 1 does not answer");
      return x;
    }};
    const auto work = [&]() -> Task { co_await ask(1, 0); };
    if (me.Rank() == 0)
      for (int i = 0; i < 10; ++i) tasks.Start(work);
    set.Finish();
  });
  INFO(failure);
  CHECK((failure == "member 1 does not answer" || failure.ends_with("failed")));
}

TEST_CASE("If a condition throws, its set is refused") {
  const Team team{MpiTestWorld(), {.threads = 1}};
  CheckRefused(team, "has thrown", [](Member& me) {
    Conveyors set{me};
    Tasks tasks{set};
    int num_calls = 0;
    const auto wait = [&]() -> Task {
      co_await tasks.Until([&] {
        if (++num_calls == 3) throw std::runtime_error("in a condition");
        return false;
      });
    };
    tasks.Start(wait);
    const auto look = [&] { return WordsThrownBy([&] { set.HandleArrived(); }); };
    CHECK(look().empty());
    CHECK(look() == "in a condition");
    set.Finish();
  });
}

TEST_CASE("Handlers and tasks may start tasks, and tasks may push") {
  ForEachLayout([](Member& me, Checks& checks) {
    Conveyors set{me};
    Tasks tasks{set, {.max_tasks = 1}};
    std::uint64_t sum = 0;
    Requests<std::uint64_t, std::uint64_t> square{tasks, [](const std::uint64_t& x) { return x * x; }};
    Conveyor<std::uint64_t> results{set, [&](const std::uint64_t& result) { sum += result; }};
    const auto compute = [&](std::uint64_t x) -> Task { results.Push(me.Left(), co_await square(me.Right(), x)); };
    const auto split = [&](std::uint64_t x) -> Task {
      for (std::uint64_t i = 0; i < 10; ++i) tasks.Start(compute, x + i);
      co_return;
    };
    Conveyor<std::uint64_t> orders{set, [&](const std::uint64_t& x) { tasks.Start(split, x); }};
    orders.Push(me.Right(), 5);
    set.Finish();
    THAT(sum == 25 + 36 + 49 + 64 + 81 + 100 + 121 + 144 + 169 + 196);
  });
}

TEST_CASE("If a task throws, the run ends, and the frames of all tasks are destroyed") {
  struct Counted {
    explicit Counted(std::size_t& of) : count(of) { ++count; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    ~Counted() { --count; }
    std::size_t& count;
  };
  const Team team{MpiTestWorld(), {.threads = 1}};
  std::size_t num_frames = 0;
  std::size_t most_frames = 0;
  const std::string failure = Failure(team, [&](Member& me) {
    Conveyors set{me};
    Tasks tasks{set};
    Requests<int, int> ask{tasks, [](const int& x) { return x; }};
    const auto work = [&](int i) -> Task {
      const Counted counted{num_frames};
      most_frames = std::max(most_frames, num_frames);
      if (i == 5) throw std::runtime_error("a task fails");
      co_await ask(me.Right(), i);
      co_await ask(me.Right(), i);
    };
    for (int i = 0; i < 10; ++i) tasks.Start(work, i);
    set.Finish();
  });
  INFO(failure);
  CHECK((failure == "a task fails" || failure.ends_with("failed")));
  CHECK(num_frames == 0);
  CHECK(most_frames > 0);
}

TEST_CASE("A task that was never started is destroyed, and wrong options are refused") {
  const Team team{MpiTestWorld(), {.threads = 1}};
  Checks checks;
  team.Run([&](Member& me) {
    Conveyors set{me};
    Tasks tasks{set};
    bool has_run = false;
    const auto work = [&]() -> Task {
      has_run = true;
      co_return;
    };
    {
      const Task task = work();
    }
    set.Finish();
    THAT(!has_run);
  });
  CheckRefused(team, "max_tasks must be at least 1", [](Member& me) {
    Conveyors set{me};
    const Tasks tasks{set, {.max_tasks = 0}};
  });
  for (const std::size_t wrong : {std::size_t{0}, std::size_t{1} << 34U, std::numeric_limits<std::size_t>::max()}) {
    CheckRefused(team, "max_under_way must be between 1 and", [wrong](Member& me) {
      Conveyors set{me};
      Tasks tasks{set};
      const Requests<int, int> ask{tasks, [](const int& x) { return x; }, {.max_under_way = wrong}};
    });
  }
  CheckRefused(team, "needs a budget of at least", [](Member& me) {
    Conveyors set{me};
    Tasks tasks{set};
    const Requests<int, int> ask{tasks, [](const int& x) { return x; }, {.conveyor = {.budget_bytes = 100}}};
  });
}
