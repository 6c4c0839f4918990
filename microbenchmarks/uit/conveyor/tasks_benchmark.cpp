// What does it cost to switch between 1000 to 500 000 tasks, beside two threads that hand on a turn? How many requests per second do
// two threads answer, by how many are under way?

#include <chrono>
#include <condition_variable>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <uit/conveyor/conveyors.hpp>
#include <uit/conveyor/requests.hpp>
#include <uit/conveyor/tasks.hpp>
#include <uit/link/world.hpp>
#include <uit/support/clock.hpp>
#include <uit/team/team.hpp>
#include <uit/team/team_session.hpp>

#include "microbenchmarks/support/amount.hpp"
#include "microbenchmarks/support/baselines.hpp"
#include "microbenchmarks/support/program.hpp"

namespace {

double PerCount(uit::TimePoint start, std::uint64_t count) {
  return std::chrono::duration<double, std::nano>(uit::Now() - start).count() / static_cast<double>(count);
}

void Require(std::uint64_t number, std::uint64_t expected) {
  if (number == expected) return;
  std::fprintf(stderr, "%llu, not %llu\n", static_cast<unsigned long long>(number), static_cast<unsigned long long>(expected));
  std::exit(1);
}

/// The least that switches between coroutines take: a loop over their handles.
struct BareTask {
  struct promise_type {
    BareTask get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> frame;
};

BareTask CountBare(std::uint64_t& sum) {
  for (;;) {
    ++sum;
    co_await std::suspend_always{};
  }
}

double SwitchBare(std::size_t num_tasks, std::uint64_t count) {
  std::uint64_t sum = 0;
  std::vector<std::coroutine_handle<BareTask::promise_type>> frames(num_tasks);
  for (auto& frame : frames) frame = CountBare(sum).frame;
  for (const auto& frame : frames) frame.resume();
  const std::uint64_t num_rounds = (count + num_tasks - 1) / num_tasks;
  const uit::TimePoint start = uit::Now();
  for (std::uint64_t round = 0; round < num_rounds; ++round)
    for (const auto& frame : frames) frame.resume();
  const double time = PerCount(start, num_rounds * num_tasks);
  Require(sum, (num_rounds + 1) * num_tasks);
  for (const auto& frame : frames) frame.destroy();
  return time;
}

/// Two threads on the CPU of this one hand on a turn through a condition variable.
double SwitchThreads(std::uint64_t count) {
  std::mutex mutex;
  std::condition_variable condition;
  std::uint64_t turn = 0;
  const auto work = [&](std::uint64_t first) {
    std::unique_lock lock{mutex};
    for (std::uint64_t mine = first; mine < count; mine += 2) {
      condition.wait(lock, [&] { return turn == mine; });
      ++turn;
      condition.notify_one();
    }
  };
  const uit::TimePoint start = uit::Now();
  std::thread even{work, 0};
  std::thread odd{work, 1};
  even.join();
  odd.join();
  const double time = PerCount(start, count);
  Require(turn, count);
  return time;
}

double SwitchTasks(std::size_t num_tasks, std::uint64_t count) {
  double time = 0;
  uit::Team{uit::World{}}.Run([&](uit::Member& me) {
    uit::Conveyors set{me};
    uit::Tasks tasks{set, {.max_tasks = num_tasks + 1}};
    std::uint64_t sum = 0;
    bool has_begun = false;
    const std::uint64_t num_rounds = (count + num_tasks - 1) / num_tasks;
    const auto work = [&]() -> uit::Task {
      while (!has_begun) co_await tasks.Yield();
      for (std::uint64_t round = 0; round < num_rounds; ++round) {
        ++sum;
        co_await tasks.Yield();
      }
    };
    const auto start_all = [&]() -> uit::Task {  // tasks that a task starts wait for its end
      for (std::size_t i = 0; i < num_tasks; ++i) tasks.Start(work);
      co_return;
    };
    tasks.Start(start_all);
    set.HandleArrived();  // each task has run once
    has_begun = true;
    const uit::TimePoint start = uit::Now();
    set.Finish();
    time = PerCount(start, num_rounds * num_tasks);
    Require(sum, num_rounds * num_tasks);
  });
  return time;
}

/// Two threads, of which the second answers.
class ByTasks {
 public:
  explicit ByTasks(std::size_t max_under_way)
      : session_{uit::Team{uit::World{}, {.threads = 2}}}, max_under_way_{max_under_way}, lines_(2) {}

  double Time(std::uint64_t count) {
    double time = 0;
    session_.Run([&](uit::Member& me) {
      std::unique_ptr<Lines>& lines = lines_[me.Thread()];
      if (!lines) lines = std::make_unique<Lines>(me, max_under_way_);
      std::uint64_t sum = 0;
      std::uint64_t num_asked = 0;
      const auto work = [&]() -> uit::Task {
        while (num_asked < count) sum += co_await lines->ask(1, num_asked++);
      };
      const uit::TimePoint start = uit::Now();
      for (std::size_t i = 0; me.Rank() == 0 && i < max_under_way_; ++i) lines->tasks.Start(work);
      lines->set.Finish();
      if (me.Rank() != 0) return;
      time = PerCount(start, count);
      Require(sum, count * (count + 1) / 2);
    });
    return time;
  }

 private:
  struct Lines {
    Lines(uit::Member& me, std::size_t max_under_way)
        : set{me}, tasks{set}, ask{tasks, [](const std::uint64_t& x) { return x + 1; }, {.max_under_way = max_under_way}} {}
    uit::Conveyors set;
    uit::Tasks tasks;
    uit::Requests<std::uint64_t, std::uint64_t> ask;
  };

  uit::TeamSession session_;
  std::size_t max_under_way_;
  std::vector<std::unique_ptr<Lines>> lines_;
};

/// By hand: a ring each way, at most so many questions under way, and no tasks.
template <std::size_t max_under_way>
double ByRings(bench::Crew& crew, std::uint64_t count) {
  using Ring = bench::hand::Ring<std::uint64_t, 4096>;
  const auto questions = std::make_unique<Ring>();
  const auto answers = std::make_unique<Ring>();
  std::uint64_t sum = 0;
  uit::TimePoint start;
  crew.Run([&](std::size_t member) {
    if (member == 1) {
      for (std::uint64_t num_answered = 0; num_answered < count;) {
        if (questions->TryPop([&](std::uint64_t x) { while (!answers->TryPush(x + 1)) {} })) ++num_answered;
      }
      return;
    }
    start = uit::Now();
    std::uint64_t num_asked = 0;
    for (std::uint64_t num_answered = 0; num_answered < count;) {
      if (num_asked < count && num_asked - num_answered < max_under_way && questions->TryPush(num_asked)) ++num_asked;
      if (answers->TryPop([&](std::uint64_t x) { sum += x; })) ++num_answered;
    }
  });
  const double time = PerCount(start, count);
  Require(sum, count * (count + 1) / 2);
  return time;
}

void MeasureSwitches(bench::Program& program, bench::Crew& crew, std::size_t num_tasks) {
  const std::string name = "switch between " + std::to_string(num_tasks) + " tasks";
  bench::Contest contest{name, bench::Unit::nanoseconds};
  contest.Add("tasks", [&crew, num_tasks](const bench::Load& load) {
    crew.Unpin();
    const double time = SwitchTasks(num_tasks, load.count);
    crew.Pin();
    return time;
  });
  contest.Add("bare coroutines", [num_tasks](const bench::Load& load) { return SwitchBare(num_tasks, load.count); });
  contest.Add("threads", [](const bench::Load& load) { return SwitchThreads(load.count); });
  contest.Say({.name = name + ": to bare coroutines", .ours = "tasks", .against = {"bare coroutines"}, .at_most = 2.0});
  contest.Say({.name = name + ": to threads that hand on a turn", .ours = "tasks", .against = {"threads"}, .at_least = 10.0});
  if (num_tasks == 500'000) {
    contest.Add("Grappa", bench::Bound(75));  // ns, as its authors published it
    contest.Say({.name = name + ": to 75 ns", .ours = "tasks", .against = {"Grappa"}, .at_most = 1.0});
  }
  program.Run(contest, crew);
}

template <std::size_t max_under_way>
void MeasureRequests(bench::Program& program, bench::Crew& crew) {
  const std::string name = "requests between 2 threads, " + std::to_string(max_under_way) + " under way";
  bench::Contest contest{name, bench::Unit::millions_per_second};
  contest.Add("tasks", [&crew, by_tasks = std::make_shared<ByTasks>(max_under_way)](const bench::Load& load) {
    crew.Unpin();  // a thread that it starts inherits the CPU of this one
    const double time = by_tasks->Time(load.count);
    crew.Pin();
    return time;
  });
  contest.Add("rings by hand", [&crew](const bench::Load& load) { return ByRings<max_under_way>(crew, load.count); });
  contest.Say({.name = name + ": to rings by hand", .ours = "tasks", .against = {"rings by hand"}});
  program.Run(contest, crew);
}

}  // namespace

int main(int argc, char** argv) {
  bench::Program program{argc, argv};
  bench::Crew crew{2};
  for (const std::size_t num_tasks : {1'000U, 30'000U, 500'000U}) MeasureSwitches(program, crew, num_tasks);
  MeasureRequests<1>(program, crew);
  MeasureRequests<16>(program, crew);
  MeasureRequests<256>(program, crew);
  MeasureRequests<4096>(program, crew);
  return program.Finish();
}
