#pragma once

#include <chrono>
#include <concepts>

#include <uit/support/clock.hpp>

namespace netuit::detail {

/// Reports once that a wait takes long. A short wait reads no clock.
class LateNotice {
 public:
  /// Reports when `span` has passed after the first pauses of the wait.
  explicit LateNotice(std::chrono::nanoseconds span) : span_(span) {}
  /// Call it between two tries of the wait. Calls `say()` when it is time.
  ///
  /// After the first pauses, every call reads the clock. A try that yields the core may take milliseconds if others use the
  /// core.
  template <std::invocable F>
  void Try(F&& say) {
    if (num_pauses_ < max_pauses) {
      if (++num_pauses_ == max_pauses) end_ = uit::After(span_);
      return;
    }
    if (uit::Now() < end_) return;
    end_ = uit::never;
    say();
  }

 private:
  static constexpr int max_pauses = 16;  // as in uit::Backoff

  std::chrono::nanoseconds span_;
  int num_pauses_ = 0;
  uit::TimePoint end_ = uit::never;
};

}  // namespace netuit::detail
