#pragma once

#include <chrono>

#include <uit/support/simulation.hpp>

namespace uit {

/// The library's only clock. Monotonic; each process has its own. In a simulation, the simulation's clock.
#if UIT_SIMULATED
using Clock = SimulatedClock;
#else
using Clock = std::chrono::steady_clock;
#endif
/// A reading of the clock. It is meaningful only within its own process.
using TimePoint = Clock::time_point;

/// The time at which a wait gives up.
using Deadline = TimePoint;

/// A deadline that never passes.
inline constexpr Deadline never = TimePoint::max();

/// The current time. Every reading of a clock goes through this function.
[[nodiscard]] inline TimePoint Now() { return Clock::now(); }

/// The time `span` after `now`, or `never` if that is beyond the clock's range.
[[nodiscard]] inline TimePoint Later(TimePoint now, std::chrono::nanoseconds span) {
  return span < never - now ? now + span : never;
}

/// The deadline `wait` from now, or `never` if that is beyond the clock's range.
template <typename Rep, typename Period>
[[nodiscard]] Deadline After(std::chrono::duration<Rep, Period> wait) {
  const TimePoint now = Now();
  const std::chrono::duration<double> room = never - now;
  if (std::chrono::duration<double>(wait) >= room) return never;
  return now + std::chrono::ceil<Clock::duration>(wait);
}

/// Keeps this core busy for `span`, as real work would, without sleeping or yielding. On a simulated host, does the work
/// that takes `span` at nominal speed.
inline void Compute(std::chrono::duration<double> span) {
#if UIT_SIMULATED
  simulation::Work(span);
#else
  const TimePoint start = Now();
  while (Now() - start < span) {
  }
#endif
}

}  // namespace uit
