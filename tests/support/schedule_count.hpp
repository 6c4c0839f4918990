#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/goal.hpp"
#include "tests/support/schedule_explorer.hpp"
#include "tests/uit/core/support/sanitized.hpp"

namespace uit::testing {

/// Preemptions of a schedule, up to which all are explored; a schedule with fewer is among those with more.
inline constexpr int preemption_bound = is_sanitized ? 2 : 3;
/// The same at night, in a minute or two.
inline constexpr int nightly_bound = 5;
inline constexpr std::uint64_t max_nightly_executions = 30'000'000;  // of a structure; the largest has 10.5 million

/// What a program has explored; it prints so at its end, if that was anything.
class ScheduleCount {
 public:
  static ScheduleCount& Get() {
    static ScheduleCount count;
    return count;
  }
  void Add(const Explorer::Result& result) { Add(result, all_); }
  void AddNightly(const Explorer::Result& result) { Add(result, nightly_); }
  std::uint64_t NumSchedules() const { return all_.num_schedules + nightly_.num_schedules; }
  ~ScheduleCount() {
    std::string figure = all_.Words(preemption_bound);
    if (nightly_.num_structures != 0) figure += ", " + nightly_.Words(nightly_bound);
    PrintGoal("R4", figure + ", " + (num_wrong_ == 0 ? "none" : std::to_string(num_wrong_)) + " wrong");
  }

 private:
  struct AtBound {
    int num_structures = 0;
    int num_exhausted = 0;
    std::uint64_t num_schedules = 0;

    std::string Words(int bound) const {
      return std::to_string(num_schedules) + " schedules of " + std::to_string(num_structures) +
             " structures at bound " + std::to_string(bound) + ", " +
             (num_exhausted == num_structures ? "all" : std::to_string(num_exhausted)) + " exhausted";
    }
  };

  ScheduleCount() = default;
  void Add(const Explorer::Result& result, AtBound& at_bound) {
    ++at_bound.num_structures;
    at_bound.num_schedules += result.num_executions;
    if (result.is_exhausted) ++at_bound.num_exhausted;
    if (!result.failure.empty()) ++num_wrong_;
  }

  AtBound all_;
  AtBound nightly_;
  int num_wrong_ = 0;
};

/// Explores all schedules of a scenario that has to be right; at night, then all with more preemptions.
template <typename Scenario>
void CheckExhausted(const std::string& name) {
  INFO(name);
  const auto result = Explorer::Explore<Scenario>(preemption_bound);
  std::printf("%-36s %9llu executions", name.c_str(), static_cast<unsigned long long>(result.num_executions));
  ScheduleCount::Get().Add(result);
  CHECK(result.failure == "");
  CHECK(result.is_exhausted);
  if (IsNightly() && !is_sanitized) {
    const auto deeper = Explorer::Explore<Scenario>(nightly_bound, max_nightly_executions);
    std::printf(", %llu with up to %d preemptions", static_cast<unsigned long long>(deeper.num_executions), nightly_bound);
    ScheduleCount::Get().AddNightly(deeper);
    CHECK(deeper.failure == "");
    CHECK(deeper.is_exhausted);
  }
  std::printf("\n");
}

/// Explores the schedules of a scenario with a fault until that shows.
template <typename Scenario>
void CheckCaught(const std::string& name, int bound = preemption_bound) {
  const auto result = Explorer::Explore<Scenario>(bound);
  INFO(name);
  CHECK(result.failure != "");
}

}  // namespace uit::testing
