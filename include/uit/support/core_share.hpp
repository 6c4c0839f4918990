#pragma once

#include <chrono>

#include <uit/support/clock.hpp>
#include <uit/support/simulation.hpp>
#if defined(__linux__) && !UIT_SIMULATED
#include <sys/resource.h>
#endif

namespace uit {

/// Tells a thread whether others use its core as well: whether the system has often taken the core away from it lately. Each member
/// is called by that thread. Its yields count, too, so after a time in which it has yielded it forgets what was known.
class CoreShare {
 public:
  /// Whether the system has done so, as far as is known. Makes a system call from time to time, so ask only in long waits.
  [[nodiscard]] bool IsShared(TimePoint now) {
    const auto span = now - start_;
    if (span >= span_to_judge) {
      const long num_taken = NumTaken();
      const bool is_late = span > span_to_remember;  // what has happened in between says little about now
      if (!is_late && num_taken - num_at_start_ >= span / longest_turn) shared_until_ = now + span_to_remember;
      start_ = now;
      num_at_start_ = num_taken;
    }
    return now < shared_until_;
  }
  /// Forgets what was known.
  void Forget() { start_ = shared_until_ = {}; }

  /// A core that is taken away less often than once in this time does not count as shared. A busy program gets turns of some
  /// milliseconds.
  static constexpr std::chrono::milliseconds longest_turn{50};
  /// What has happened is judged after so long.
  static constexpr std::chrono::milliseconds span_to_judge{100};
  /// So long a core counts as shared after that: the system takes it from a thread only while that thread uses it.
  static constexpr std::chrono::milliseconds span_to_remember{1000};

 private:
  /// How often the system has taken a core away from this thread, or the thread has yielded.
  static long NumTaken() {
#if defined(RUSAGE_THREAD) && !UIT_SIMULATED
    rusage usage{};
    if (getrusage(RUSAGE_THREAD, &usage) == 0) return usage.ru_nivcsw;
#endif
    return 0;
  }

  TimePoint shared_until_{};
  TimePoint start_{};      // of the time to be judged next
  long num_at_start_ = 0;  // NumTaken() then
};

}  // namespace uit
