#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>

#include <uit/support/clock.hpp>

namespace netuit::detail {

/// Reports once that a wait takes long. A short wait reads no clock.
class LateNotice {
 public:
  /// Reports when `span` has passed after the first tries of the wait.
  explicit LateNotice(std::chrono::nanoseconds span) : span_(span) {}
  /// Call it between two tries of the wait. Calls `say()` when it is time.
  ///
  /// Every 16th call reads the clock, because most tries are short. Those that yield the core may take milliseconds each.
  template <std::invocable F>
  void Try(F&& say) {
    if (++num_tries_ % tries_per_look != 0) return;
    const uit::TimePoint now = uit::Now();
    if (num_tries_ == tries_per_look) end_ = uit::Later(now, span_);
    if (now < end_) return;
    end_ = uit::never;
    say();
  }

 private:
  static constexpr std::uint64_t tries_per_look = 16;  // as in uit::Backoff

  std::chrono::nanoseconds span_;
  std::uint64_t num_tries_ = 0;
  uit::TimePoint end_ = uit::never;
};

}  // namespace netuit::detail
