#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>

#include <uit/support/clock.hpp>

namespace netuit::detail {

/// Says once that a wait has lasted for long. Reads no clock in a short one.
class LateNotice {
 public:
  /// After about `span`.
  explicit LateNotice(std::chrono::nanoseconds span) : span_(span) {}
  /// Between two tries of the wait; calls `say()` when it is time.
  template <std::invocable F>
  void Try(F&& say) {
    if (++num_tries_ % 256 != 0) return;
    const uit::TimePoint now = uit::Now();
    if (num_tries_ == 256) end_ = span_ < uit::never - now ? now + span_ : uit::never;
    if (now < end_) return;
    end_ = uit::never;
    say();
  }

 private:
  std::chrono::nanoseconds span_;
  std::uint32_t num_tries_ = 0;
  uit::TimePoint end_ = uit::never;
};

}  // namespace netuit::detail
