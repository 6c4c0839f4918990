#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/goal.hpp"
#include "tests/support/schedule_explorer.hpp"
#include "tests/uit/core/support/sanitized.hpp"

namespace uit::testing {

/// The bound on preemptions. All schedules up to it are explored.
inline constexpr int preemption_bound = is_sanitized ? 2 : 3;
/// By how much the bounds of a scenario are lower: four threads have too many schedules.
template <typename Scenario>
inline constexpr int lower_by = num_threads_of<Scenario> > 3 ? 1 : 0;
inline constexpr std::uint64_t max_executions = 400'000;  // per structure; more would take too long for a commit
/// The same at night, and for structures with many schedules.
inline constexpr int nightly_bound = 5;
inline constexpr int nightly_bound_of_many = 4;
inline constexpr std::uint64_t max_nightly_executions = 30'000'000;  // of a structure

/// A structure whose schedules have all been explored.
struct ExploredStructure {
  std::string name;
  std::uint64_t num_schedules = 0;
  std::set<OrderSite> orders;
  std::function<Explorer::Result()> explore_again;
};

/// Counts what a program has explored. The destructor prints the counts, if there are any.
class ScheduleCount {
 public:
  static ScheduleCount& Get() {
    static ScheduleCount count;
    return count;
  }
  void Add(const Explorer::Result& result, bool is_between_processes) {
    Add(result, all_);
    if (is_between_processes) Add(result, between_processes_);
    if (!result.failure.empty()) ++num_wrong_;
  }
  void AddNightly(const Explorer::Result& result) {
    Add(result, nightly_);
    if (!result.failure.empty()) ++num_wrong_;
  }
  void Remember(ExploredStructure structure) { structures_.push_back(std::move(structure)); }

  std::uint64_t NumSchedules() const { return all_.num_schedules + nightly_.num_schedules; }
  /// Returns the number of schedules up to the bound of a commit.
  std::uint64_t NumPerCommit() const { return all_.num_schedules; }
  /// Returns how many of those are of memory that processes share.
  std::uint64_t NumBetweenProcesses() const { return between_processes_.num_schedules; }
  const std::vector<ExploredStructure>& Structures() const { return structures_; }
  ~ScheduleCount() {
    const std::string bounds = std::to_string(preemption_bound) + " (of four threads " + std::to_string(preemption_bound - 1) + ")";
    std::string figure = all_.Words(bounds) + ", " +
                         std::to_string(between_processes_.num_schedules) + " of " +
                         std::to_string(between_processes_.num_structures) + " between processes";
    if (nightly_.num_structures != 0) figure += ", " + nightly_.Words("3, 4 or 5");
    PrintGoal("R4", figure + ", " + (num_wrong_ == 0 ? "none" : std::to_string(num_wrong_)) + " wrong");
  }

 private:
  struct AtBound {
    int num_structures = 0;
    int num_exhausted = 0;
    std::uint64_t num_schedules = 0;

    std::string Words(const std::string& bound) const {
      return std::to_string(num_schedules) + " schedules of " + std::to_string(num_structures) +
             " structures at bound " + bound + ", " +
             (num_exhausted == num_structures ? "all" : std::to_string(num_exhausted)) + " exhausted";
    }
  };

  ScheduleCount() = default;
  static void Add(const Explorer::Result& result, AtBound& at_bound) {
    ++at_bound.num_structures;
    at_bound.num_schedules += result.num_executions;
    if (result.is_exhausted) ++at_bound.num_exhausted;
  }

  AtBound all_;
  AtBound between_processes_;
  AtBound nightly_;
  int num_wrong_ = 0;
  std::vector<ExploredStructure> structures_;
};

/// Explores all schedules of a correct scenario; at night, then all with more preemptions.
template <typename Scenario>
void CheckExhausted(const std::string& name, int bound_at_night = nightly_bound, bool is_between_processes = false) {
  INFO(name);
  const auto result = Explorer::Explore<Scenario>(preemption_bound - lower_by<Scenario>, max_executions);
  std::printf("%-44s %9llu executions", name.c_str(), static_cast<unsigned long long>(result.num_executions));
  ScheduleCount::Get().Add(result, is_between_processes);
  ScheduleCount::Get().Remember(
      {name, result.num_executions, result.orders, [] { return Explorer::Explore<Scenario>(preemption_bound - lower_by<Scenario>); }});
  CHECK(result.failure == "");
  CHECK(result.is_exhausted);
  if (IsNightly() && !is_sanitized) {
    const auto deeper = Explorer::Explore<Scenario>(bound_at_night - lower_by<Scenario>, max_nightly_executions);
    std::printf(", %llu with up to %d preemptions", static_cast<unsigned long long>(deeper.num_executions),
                bound_at_night - lower_by<Scenario>);
    ScheduleCount::Get().AddNightly(deeper);
    CHECK(deeper.failure == "");
    CHECK(deeper.is_exhausted);
  }
  std::printf("\n");
}

/// The same for memory that processes share.
template <typename Scenario>
void CheckExhaustedBetweenProcesses(const std::string& name, int bound_at_night = nightly_bound) {
  CheckExhausted<Scenario>(name, bound_at_night, true);
}

/// Explores the schedules of a faulty scenario until the fault shows.
template <typename Scenario>
void CheckCaught(const std::string& name, int bound = preemption_bound) {
  const auto result = Explorer::Explore<Scenario>(bound);
  INFO(name);
  CHECK(result.failure != "");
}

}  // namespace uit::testing
