#pragma once

#include <chrono>
#include <concepts>

#include <uit/support/clock.hpp>

namespace netuit::detail {

/// Says once that a wait has lasted for long. Reads no clock in a short one.
class LateNotice {
 public:
  /// After `span`, which counts from the end of the wait's pauses.
  explicit LateNotice(std::chrono::nanoseconds span) : span_(span) {}
  /// Between two tries of the wait; calls `say()` when it is time.
  ///
  /// A try that gives the core away may last for milliseconds where others want it, so that each is looked at.
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
  static constexpr int max_pauses = 16;  // as uit::Backoff has

  std::chrono::nanoseconds span_;
  int num_pauses_ = 0;
  uit::TimePoint end_ = uit::never;
};

}  // namespace netuit::detail
