#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/goal.hpp"
#include "tests/support/schedule_explorer.hpp"
#include "tests/uit/core/support/sanitized.hpp"

namespace uit::testing {

/// Preemptions of a schedule; a schedule with fewer is among those with more.
inline int PreemptionBound() { return is_sanitized ? 2 : PerCommitOrNight(3, 5); }

/// What a program has explored; it prints so at its end, if that was anything.
class ScheduleCount {
 public:
  static ScheduleCount& Get() {
    static ScheduleCount count;
    return count;
  }
  void Add(const Explorer::Result& result) {
    ++num_structures_;
    num_schedules_ += result.num_executions;
    if (!result.failure.empty()) ++num_wrong_;
  }
  std::uint64_t NumSchedules() const { return num_schedules_; }
  ~ScheduleCount() {
    PrintGoal("R4", std::to_string(num_schedules_) + " schedules of " + std::to_string(num_structures_) +
                        " structures at bound " + std::to_string(PreemptionBound()) + ", " +
                        (num_wrong_ == 0 ? "none" : std::to_string(num_wrong_)) + " wrong");
  }

 private:
  ScheduleCount() = default;
  int num_structures_ = 0;
  int num_wrong_ = 0;
  std::uint64_t num_schedules_ = 0;
};

/// Explores all schedules of a scenario that has to be right; at night, with a larger bound, the first few million.
template <typename Scenario>
void CheckExhausted(const std::string& name) {
  const auto result = Explorer::Explore<Scenario>(PreemptionBound(), PerCommitOrNight<std::uint64_t>(10'000'000, 3'000'000));
  std::printf("%-36s %9llu executions\n", name.c_str(), static_cast<unsigned long long>(result.num_executions));
  ScheduleCount::Get().Add(result);
  INFO(name);
  CHECK(result.failure == "");
  CHECK((result.is_exhausted || IsNightly()));
}

/// Explores the schedules of a scenario with a fault until that shows.
template <typename Scenario>
void CheckCaught(const std::string& name, int bound = is_sanitized ? 2 : 3) {
  const auto result = Explorer::Explore<Scenario>(bound);
  INFO(name);
  CHECK(result.failure != "");
}

}  // namespace uit::testing
