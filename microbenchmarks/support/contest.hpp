#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <uit/config.hpp>

#include "team.hpp"

namespace bench {

/// The task of one sample. Competitors that count do `count` operations, which take about `window`; the others work for
/// `window`.
struct Load {
  std::uint64_t count;
  std::chrono::nanoseconds window;
};

/// How figures are shown; all are kept as ns per operation.
enum class Unit { nanoseconds, milliseconds, millions_per_second, thousands_per_second };

/// A claim about our library: a ratio to the best of `against`, of times or, for a rate, of rates. Without a bound it is an
/// illustration: a ratio of times that is shown and not judged.
struct Claim {
  std::string name;
  std::string ours;
  std::vector<std::string> against;
  std::optional<double> at_most{};   ///< time of ours / time of theirs
  std::optional<double> at_least{};  ///< rate of ours / rate of theirs

  /// Of the times of one round.
  [[nodiscard]] double Ratio(double our_time, double their_time) const {
    return at_least ? their_time / our_time : our_time / their_time;
  }
  [[nodiscard]] bool IsJudged() const { return at_most || at_least; }
  [[nodiscard]] bool Holds(double ratio) const {
    return at_most ? ratio <= *at_most : ratio >= *at_least;
  }
};

/// One competitor's point on a curve.
struct Point {
  std::string chart;  ///< points of one chart are drawn side by side, a panel for each y
  std::string x_label;
  std::string y_label;
  std::string line;
  double x = 0;
  std::string competitor{};
  double amount = 1;         ///< y is this amount per ns,
  bool is_inverse = false;   ///< or its inverse: ns per amount
};

/// One competitor's turn in one round.
struct Sample {
  std::size_t competitor;
  std::size_t round;
  double time;  // ns per operation
  double probe_before;
  double probe_after;
  double run_queue_share;
  Proximity proximity;
  bool is_clean;
};

/// What one thread does for a number of a competitor's operations: both sides in turns, if there are two, so that nothing waits.
struct Counting {
  std::string competitor;
  std::function<void(std::uint64_t)> work;
};

/// Does such work. tools/bench counts what happens in it, and knows it by its name, which no compiler changes.
extern "C" UIT_NOINLINE inline void bench_counted(const std::function<void(std::uint64_t)>& work, std::uint64_t num_operations) {
  work(num_operations);
  asm volatile("" : : : "memory");  // so that this function returns after the work
}

/// How long to take samples.
struct Patience {
  std::chrono::nanoseconds enough;    ///< stop then, if there are enough clean samples
  std::chrono::nanoseconds too_long;  ///< stop then in any case
};

/// Competitors that do the same job in turns, round robin, so that conditions are equal.
class Contest {
 public:
  static constexpr std::size_t min_clean = 5;
  static constexpr std::size_t min_busy = 10;  ///< samples of which the fastest tenth counts, if too few are clean
  /// Classes in which samples can be clean.
  static constexpr std::array classes{Proximity::one_core, Proximity::hyperthread, Proximity::near, Proximity::far};
  static constexpr double max_run_queue_share = 0.03;

  Contest(std::string what, Unit shown_in) : name{std::move(what)}, unit{shown_in} {}

  /// Adds a competitor: `measure` returns ns per operation.
  Contest& Add(std::string competitor, std::function<double(const Load&)> measure) {
    names.push_back(std::move(competitor));
    measures_.push_back(std::move(measure));
    return *this;
  }

  Contest& Say(Claim claim) {
    claims.push_back(std::move(claim));
    return *this;
  }

  /// Adds work of a competitor of which the instructions and cache misses are counted.
  Contest& Count(std::string competitor, std::function<void(std::uint64_t)> work) {
    countings.push_back({std::move(competitor), std::move(work)});
    return *this;
  }

  /// Adds a point on a chart for a competitor. A filter selects a contest with points by its name.
  Contest& Draw(Point point) {
    points.push_back(std::move(point));
    return *this;
  }

  /// Collective over the team. Takes samples.
  void Run(Team& team, const Patience& patience) {
    // The best recent time of an operation, so that samples do not become short when the machine is slow.
    std::vector<double> paces(measures_.size());
    for (std::size_t i = 0; i < paces.size(); ++i) paces[i] = Warm(team, i);
    const uit::TimePoint start = uit::Now();
    double before = team.Probe();
    for (std::size_t round = 0;; ++round) {
      for (std::size_t turn = 0; turn < paces.size(); ++turn) {
        const std::size_t i = (round + turn) % paces.size();
        team.TakeRunQueueDelay();
        const uit::TimePoint sample_start = uit::Now();
        const double time = team.Agree(measures_[i](LoadFor(paces[i])));
        paces[i] = std::min(time, 1.25 * paces[i]);
        const std::chrono::duration<double, std::nano> elapsed = uit::Now() - sample_start;
        const double share = is_oversubscribed ? 0 : team.TakeRunQueueDelay() / elapsed.count();
        const double after = team.Probe();
        const Proximity proximity = team.Compare(before, after);
        samples.push_back({.competitor = i, .round = round, .time = time, .probe_before = before,
                           .probe_after = after, .run_queue_share = share, .proximity = proximity,
                           .is_clean = proximity != Proximity::unclear && share < max_run_queue_share &&
                                       elapsed > window / 2});
        before = after;
      }
      const auto elapsed = uit::Now() - start;
      if (team.Agree((elapsed > patience.enough && HasEnough()) || elapsed > patience.too_long)) return;
    }
  }

  /// Clean times of a competitor in one class, by round.
  [[nodiscard]] std::map<std::size_t, double> Times(const std::string& competitor, Proximity proximity) const {
    std::map<std::size_t, double> times;
    for (const Sample& sample : samples)
      if (sample.is_clean && sample.proximity == proximity && names[sample.competitor] == competitor)
        times[sample.round] = sample.time;
    return times;
  }

  /// All times of a competitor, clean or not.
  [[nodiscard]] std::vector<double> AllTimes(const std::string& competitor) const {
    std::vector<double> times;
    for (const Sample& sample : samples)
      if (names[sample.competitor] == competitor) times.push_back(sample.time);
    return times;
  }

  std::string name;
  Unit unit;
  std::vector<std::string> names;
  std::vector<Claim> claims;
  std::vector<Point> points;
  std::vector<Counting> countings;
  std::uint64_t num_counted = 10'000;  ///< operations, if they are counted
  std::vector<Sample> samples;
  /// There are more members than cores on purpose, so waiting for a core is part of the job.
  bool is_oversubscribed = false;
  /// Programs of others use the same cores. Then it is chance which of the members has a core at the same time as another: so many
  /// samples are taken, and their mean counts.
  bool is_beside_others = false;
  std::chrono::nanoseconds window = std::chrono::milliseconds{8};

  /// Clean samples of each competitor after which a contest may end.
  [[nodiscard]] std::size_t NumEnough() const { return is_beside_others ? 60 : min_clean; }
  /// With fewer clean rounds a claim is not judged.
  [[nodiscard]] std::size_t NumNeeded() const { return is_beside_others ? 20 : min_clean; }

 private:
  [[nodiscard]] Load LoadFor(double time) const {
    const double count = static_cast<double>(window.count()) / time;
    return {.count = static_cast<std::uint64_t>(std::max(1.0, count)), .window = window};
  }

  /// A first estimate of the time, not recorded, from longer and longer trials.
  double Warm(Team& team, std::size_t competitor) {
    const std::chrono::duration<double, std::nano> goal = window / 4;
    double time = goal.count() / 64;
    for (int trial = 0; trial < 12; ++trial) {
      const uit::TimePoint start = uit::Now();
      const double budget = std::min(goal.count(), 64.0 * (1 << trial) * 1000);
      time = team.Agree(measures_[competitor](
          {.count = static_cast<std::uint64_t>(std::max(1.0, budget / time)), .window = window / 4}));
      if (team.Agree(uit::Now() - start >= goal / 2)) break;
    }
    return time;
  }

  /// Whether each claim can be judged and each point drawn, all in one class.
  [[nodiscard]] bool HasEnough() const {
    return std::ranges::any_of(classes, [&](Proximity proximity) {
      const auto can_draw = [&](const Point& point) { return Times(point.competitor, proximity).size() >= NumEnough(); };
      return std::ranges::all_of(points, can_draw) && std::ranges::all_of(claims, [&](const Claim& claim) {
        const auto ours = Times(claim.ours, proximity);
        return std::ranges::all_of(claim.against, [&](const std::string& peer) {
          const auto theirs = Times(peer, proximity);
          const auto is_shared = [&](const auto& time) { return theirs.contains(time.first); };
          return static_cast<std::size_t>(std::ranges::count_if(ours, is_shared)) >= NumEnough();
        });
      });
    });
  }

  std::vector<std::function<double(const Load&)>> measures_;
};

}  // namespace bench
