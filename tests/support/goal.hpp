#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

/// Reports what a test has shown of the goals R1, R2 and so on. tools/test_summary.py collects these reports and requires
/// them.
namespace uit::testing {

/// Returns whether this is a nightly run (UIT_NIGHTLY is set and not 0), which may take longer than a run per commit.
inline bool IsNightly() {
  const char* text = std::getenv("UIT_NIGHTLY");
  return text != nullptr && *text != '\0' && *text != '0';
}

/// Returns a number of repetitions: one per commit, another at night.
template <typename T>
T PerCommitOrNight(T per_commit, T at_night) {
  return IsNightly() ? at_night : per_commit;
}

/// Prints a line for the table of goals of `tools/test`: "goal R4: 138562 schedules, none wrong". Call it on one process. A
/// goal between processes counts only if at least two take part.
inline void PrintGoal(const char* goal, const std::string& figure) {
  std::printf("goal %s: %s\n", goal, figure.c_str());
  std::fflush(stdout);
}

}  // namespace uit::testing
