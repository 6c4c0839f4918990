#pragma once

#include <chrono>
#include <concepts>

#include <uit/support/clock.hpp>
#include <uit/support/pause.hpp>

namespace netuit::detail {

/// Reports once that a wait takes long. A short wait reads no clock.
class LateNotice {
 public:
  /// Reports when `span` has passed after the first tries of the wait.
  explicit LateNotice(std::chrono::nanoseconds span) : limit_(span) {}
  /// Call it between two tries of the wait. Calls `say()` when it is time.
  ///
  /// Every 16th call reads the clock, because most tries are short. Those that yield the core may take milliseconds each.
  template <std::invocable F>
  void Try(F&& say) {
    if (++num_tries_ % uit::Backoff::pauses_per_look != 0 || limit_.IsNever() || !limit_.HasPassed()) return;
    limit_ = uit::never;
    say();
  }

 private:
  uit::WaitLimit limit_;
  unsigned num_tries_ = 0;
};

}  // namespace netuit::detail
