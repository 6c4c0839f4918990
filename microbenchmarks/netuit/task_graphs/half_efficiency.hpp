#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "microbenchmarks/support/contest.hpp"
#include "microbenchmarks/support/team.hpp"
#include "pattern.hpp"

namespace bench::task_graphs {

/// The time of a sample of the contests here.
inline constexpr std::chrono::milliseconds sample_window{30};

/// Finds the smallest grain, in ns of work per task, at which a system reaches half of the machine's throughput: METG(50 %) of
/// Slaughter et al., Task Bench, SC 2020. The machine's throughput is that of the work alone on one thread, times the number of
/// workers.
///
/// Grains are powers of two of steps. A search starts at the smallest grain that an earlier one has ended with, so it usually tries
/// two, one on either side. After each trial, the digest of what the tasks have written is compared with a serial loop's, so no
/// system can leave out an input.
class HalfEfficiency {
 public:
  HalfEfficiency(Team& team, std::shared_ptr<System> system, const Pattern& pattern)
      : team_{team}, system_{std::move(system)}, name_{pattern.name}, serial_{pattern} {}

  /// Collective. Takes about `window`, or longer if the system is slower than before.
  double Find(std::chrono::nanoseconds window) {
    const std::chrono::duration<double, std::nano> each = window / 2;
    std::size_t exponent = start_;
    Trial last = Try(exponent, each.count());
    for (;;) {
      const bool was_efficient = last.IsEfficient();
      if (was_efficient ? exponent == 0 : exponent == max_exponent) return last.overhead;
      was_efficient ? --exponent : ++exponent;
      const Trial next = Try(exponent, each.count());
      if (next.IsEfficient() != was_efficient) {
        start_ = is_first_ ? exponent : std::min(start_, exponent);
        is_first_ = false;
        return Between(last, next);
      }
      last = next;
    }
  }

 private:
  struct Trial {
    double grain;     // ns of work per task
    double overhead;  // ns per task beyond it, on its worker

    [[nodiscard]] bool IsEfficient() const { return overhead <= grain; }
    /// The logarithm of the efficiency's odds: 0 at one half.
    [[nodiscard]] double Odds() const { return std::log2(grain / overhead); }
  };

  Trial Try(std::size_t exponent, double budget) {
    const std::uint64_t num_steps = std::uint64_t{1} << exponent;
    const double grain = team_.Agree(TimeOfStep()) * static_cast<double>(num_steps);
    double& pace = paces_[exponent];
    const double guess = pace != 0 ? pace : static_cast<double>(tasks_per_worker) * (grain + first_guess);
    const auto num_updates = static_cast<std::uint64_t>(std::max(1.0, budget / guess));
    pace = team_.Agree(system_->Time(num_updates, num_steps));
    serial_.Advance(num_updates);
    if (system_->Digest() != serial_.Digest()) {
      std::fprintf(stderr, "%s: after %llu updates with %llu steps the tasks have not read what they should\n", name_.c_str(),
                   static_cast<unsigned long long>(num_updates), static_cast<unsigned long long>(num_steps));
      std::abort();
    }
    const double overhead = pace / static_cast<double>(tasks_per_worker) - grain;
    return {.grain = grain, .overhead = std::max(overhead, 0.01 * grain)};
  }

  /// The grain at which overhead and grain are equal, if the overhead's logarithm is linear in that of the grain.
  static double Between(const Trial& a, const Trial& b) {
    const double part = a.Odds() / (a.Odds() - b.Odds());
    return a.grain * std::pow(b.grain / a.grain, part);
  }

  static constexpr std::size_t max_exponent = 15;
  static constexpr double first_guess = 2000;  // ns of overhead per task

  Team& team_;
  std::shared_ptr<System> system_;
  std::string name_;
  Serial serial_;
  std::size_t start_ = 8;  // an exponent of two
  bool is_first_ = true;
  std::array<double, max_exponent + 1> paces_{};  // last time of an update, by exponent
};

/// Adds a system to a contest in which smaller grains win. `C` is a crew or ranks.
template <typename C>
void AddSystem(Contest& contest, const std::string& name, C& team, const Pattern& pattern, std::shared_ptr<System> system) {
  const auto search = std::make_shared<HalfEfficiency>(team, system, pattern);
  contest.Add(name, [&team, system = std::move(system), search](const Load& load) {
    if constexpr (requires { team.Unpin(); })
      if (system->HasOwnThreads()) team.Unpin();
    const double grain = search->Find(load.window);
    if constexpr (requires { team.Pin(); }) team.Pin();
    if (system->HasOwnThreads()) team.AddRunQueueDelay(system->TakeRunQueueDelay());
    return grain;
  });
}

}  // namespace bench::task_graphs
