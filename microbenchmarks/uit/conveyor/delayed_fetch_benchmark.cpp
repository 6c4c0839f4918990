// How much delay of a link can requests hide? A member fetches values from another, which holds each answer back for 100 us, as a
// slow link would. At most N requests are under way, so at most N are answered in 100 us (Little's law), until something else is
// the limit. The competitors are that bound, and a pair of rings by hand with the same delay.

#include <algorithm>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include <uit/conveyor/conveyor.hpp>
#include <uit/conveyor/conveyors.hpp>
#include <uit/conveyor/tasks.hpp>
#include <uit/link/world.hpp>
#include <uit/support/clock.hpp>
#include <uit/team/team.hpp>
#include <uit/team/team_session.hpp>

#include "microbenchmarks/support/amount.hpp"
#include "microbenchmarks/support/baselines.hpp"
#include "microbenchmarks/support/program.hpp"

namespace {

constexpr std::chrono::microseconds delay{100};
constexpr std::uint64_t most_under_way = 16'384;

/// Answers that have yet to leave, in the order in which they are due.
class Held {
 public:
  void Add(std::uint64_t answer) { answers_.push_back({uit::Now() + delay, answer}); }
  /// Calls `send(answer)` for those that are due, until it returns false.
  template <typename Send>
  void SendDue(Send&& send) {
    const uit::TimePoint now = uit::Now();
    while (!answers_.empty() && answers_.front().due <= now && send(answers_.front().answer)) answers_.pop_front();
  }

 private:
  struct Answer {
    uit::TimePoint due;
    std::uint64_t answer;
  };
  std::deque<Answer> answers_{};
};

double PerCount(uit::TimePoint start, std::uint64_t count) {
  return std::chrono::duration<double, std::nano>(uit::Now() - start).count() / static_cast<double>(count);
}

void RequireSum(std::uint64_t sum, std::uint64_t count) {
  if (sum == count * (count + 1) / 2) return;
  std::fprintf(stderr, "answers are missing or wrong\n");
  std::exit(1);
}

/// The ends of a member of two.
struct Lines {
  Lines(uit::Member& me, std::uint64_t max_under_way)
      : set{me},
        tasks{set, {.max_tasks = max_under_way + 1}},
        answers{set, [this](const std::uint64_t& answer) { Take(answer); }},
        questions{set, [this](const std::uint64_t& question) { held.Add(question + 1), ++num_handled; }} {}

  /// `co_await Fetch{lines, question}` in a task waits for the answer. Answers come in the order of the questions.
  struct Fetch {
    Lines& lines;
    std::uint64_t question;
    std::uint64_t answer = 0;
    std::coroutine_handle<> task{};

    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> asking) {
      task = asking;
      lines.waiting.push_back(this);
      lines.questions.Push(1, question);
    }
    std::uint64_t await_resume() const noexcept { return answer; }
  };

  void Take(std::uint64_t answer) {
    ++num_handled;
    if (waiting.empty()) {
      sum += answer;
      return;
    }
    Fetch& first = *waiting.front();
    waiting.pop_front();
    first.answer = answer;
    tasks.Resume(first.task);
  }

  Held held{};
  std::uint64_t num_handled = 0;
  std::uint64_t sum = 0;
  std::deque<Fetch*> waiting{};
  uit::Conveyors set;
  uit::Tasks tasks;
  uit::Conveyor<std::uint64_t> answers;
  uit::Conveyor<std::uint64_t> questions;
};

/// Two threads, of which the second answers. The first asks in a loop, or in as many tasks as requests may be under way.
class ByConveyors {
 public:
  ByConveyors(std::uint64_t max_under_way, bool has_tasks)
      : session_{uit::Team{uit::World{}, {.threads = 2}}}, max_under_way_{max_under_way}, has_tasks_{has_tasks}, lines_(2) {}

  double Time(std::uint64_t count) {
    double time = 0;
    session_.Run([&](uit::Member& me) {
      std::unique_ptr<Lines>& lines = lines_[me.Thread()];
      if (!lines) lines = std::make_unique<Lines>(me, max_under_way_);
      lines->num_handled = lines->sum = 0;
      const uit::TimePoint start = uit::Now();
      if (me.Rank() != 0) Answer(*lines, count);
      else if (has_tasks_) AskInTasks(*lines, count);
      else Ask(*lines, count);
      if (me.Rank() == 0) time = PerCount(start, count);
      if (me.Rank() == 0) RequireSum(lines->sum, count);
      lines->set.Finish();
    });
    return time;
  }

 private:
  void Ask(Lines& lines, std::uint64_t count) const {
    for (std::uint64_t num_asked = 0; lines.num_handled < count; lines.set.HandleArrived()) {
      const std::uint64_t num_before = num_asked;
      while (num_asked < count && num_asked - lines.num_handled < max_under_way_) lines.questions.Push(1, num_asked++);
      if (num_asked != num_before) lines.questions.Flush();
    }
  }
  void AskInTasks(Lines& lines, std::uint64_t count) const {
    std::uint64_t num_asked = 0;
    std::uint64_t num_ended = 0;
    const auto work = [&]() -> uit::Task {
      while (num_asked < count) lines.sum += co_await Lines::Fetch{lines, num_asked++};
      ++num_ended;
    };
    for (std::uint64_t i = 0; i < max_under_way_; ++i) lines.tasks.Start(work);
    for (std::uint64_t num_flushed = 0; num_ended < max_under_way_; lines.set.HandleArrived()) {
      if (num_asked == num_flushed) continue;
      num_flushed = num_asked;
      lines.questions.Flush();
    }
  }
  static void Answer(Lines& lines, std::uint64_t count) {
    for (std::uint64_t num_sent = 0; num_sent < count; lines.set.HandleArrived()) {
      const std::uint64_t num_before = num_sent;
      lines.held.SendDue([&](std::uint64_t answer) {
        lines.answers.Push(0, answer);
        ++num_sent;
        return true;
      });
      if (num_sent != num_before) lines.answers.Flush();
    }
  }

  uit::TeamSession session_;
  std::uint64_t max_under_way_;
  bool has_tasks_;
  std::vector<std::unique_ptr<Lines>> lines_;
};

double ByRings(bench::Crew& crew, std::uint64_t max_under_way, std::uint64_t count) {
  using Ring = bench::hand::Ring<std::uint64_t, most_under_way>;
  const auto questions = std::make_unique<Ring>();
  const auto answers = std::make_unique<Ring>();
  std::uint64_t sum = 0;
  uit::TimePoint start;
  crew.Run([&](std::size_t member) {
    if (member == 1) {
      Held held;
      for (std::uint64_t num_sent = 0; num_sent < count;) {
        while (questions->TryPop([&](std::uint64_t question) { held.Add(question + 1); })) {
        }
        held.SendDue([&](std::uint64_t answer) { return answers->TryPush(answer) && ++num_sent != 0; });
      }
      return;
    }
    start = uit::Now();
    std::uint64_t num_asked = 0;
    for (std::uint64_t num_answered = 0; num_answered < count;) {
      while (num_asked < count && num_asked - num_answered < max_under_way && questions->TryPush(num_asked)) ++num_asked;
      while (answers->TryPop([&](std::uint64_t answer) { sum += answer; })) ++num_answered;
    }
  });
  const double time = PerCount(start, count);
  RequireSum(sum, count);
  return time;
}

/// `peak` is the least time of tasks per request for which something else than the delay was the limit, in ns. Updates it.
void Measure(bench::Program& program, bench::Crew& crew, std::uint64_t max_under_way, double& peak) {
  const std::string name = "fetch over 100 us, " + std::to_string(max_under_way) + " under way";
  bench::Contest contest{name, bench::Unit::millions_per_second};
  // So many that the first and the last delay do not count for much.
  const auto enough = [max_under_way](const bench::Load& load) { return std::max<std::uint64_t>(load.count, 20 * max_under_way); };
  for (const bool has_tasks : {false, true})
    contest.Add(has_tasks ? "tasks" : "conveyors",
                [&crew, enough, way = std::make_shared<ByConveyors>(max_under_way, has_tasks)](const bench::Load& load) {
                  crew.Unpin();  // a thread that it starts inherits the CPU of this one
                  const double time = way->Time(enough(load));
                  crew.Pin();
                  return time;
                });
  contest.Add("rings by hand", [&crew, enough, max_under_way](const bench::Load& load) {
    return ByRings(crew, max_under_way, enough(load));
  });
  const double of_delay = std::chrono::duration<double, std::nano>(delay).count() / static_cast<double>(max_under_way);
  contest.Add("Little's law", bench::Bound(std::max(of_delay, peak)));
  for (const std::string line : {"conveyors", "tasks", "rings by hand", "Little's law"})
    contest.Draw({.chart = "requests over a link with a delay of 100 us",
                  .x_label = "requests under way",
                  .y_label = "million requests per second",
                  .line = line,
                  .x = static_cast<double>(max_under_way),
                  .competitor = line,
                  .amount = 1e3});
  contest.Say({.name = name + ": to rings by hand", .ours = "conveyors", .against = {"rings by hand"}});
  contest.Say({.name = name + ": tasks, to rings by hand", .ours = "tasks", .against = {"rings by hand"}});
  if (max_under_way != most_under_way)  // where the peak is measured
    contest.Say({.name = name + ": tasks, to Little's law", .ours = "tasks", .against = {"Little's law"}, .at_least = 0.9});
  program.Run(contest, crew);
  if (const auto times = contest.AllTimes("tasks"); !times.empty())
    peak = peak == 0 ? bench::Median(times) : std::min(peak, bench::Median(times));
}

}  // namespace

int main(int argc, char** argv) {
  bench::Program program{argc, argv};
  bench::Crew crew{2};
  double peak = 0;
  for (const std::uint64_t max_under_way : std::initializer_list<std::uint64_t>{most_under_way, 4096, 1024, 256, 16, 1})
    Measure(program, crew, max_under_way, peak);
  return program.Finish();
}
