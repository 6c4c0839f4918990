#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

/// What a test has shown of the goals, R1, R2 and so on, that tools/test_summary.py collects and wants to see.
namespace uit::testing {

/// Whether there is a night's time (UIT_NIGHTLY is set and not 0), instead of what a commit may take.
inline bool IsNightly() {
  const char* text = std::getenv("UIT_NIGHTLY");
  return text != nullptr && *text != '\0' && *text != '0';
}

/// How often to do something: per commit, and at night.
template <typename T>
T PerCommitOrNight(T per_commit, T at_night) {
  return IsNightly() ? at_night : per_commit;
}

/// Prints a line that `tools/test` collects into its table of goals: "goal R4: 138562 schedules, none wrong". On one
/// process. A goal between processes is shown only where there are at least two.
inline void PrintGoal(const char* goal, const std::string& figure) {
  std::printf("goal %s: %s\n", goal, figure.c_str());
  std::fflush(stdout);
}

}  // namespace uit::testing
