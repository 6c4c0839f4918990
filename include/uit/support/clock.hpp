#pragma once

#include <chrono>

#include <uit/support/simulation.hpp>

namespace uit {

/// The library's only clock: monotonic, its own in each process; in a simulation, that of the simulation.
#if UIT_SIMULATED
using Clock = SimulatedClock;
#else
using Clock = std::chrono::steady_clock;
#endif
/// A reading of the clock; it means something in its own process alone.
using TimePoint = Clock::time_point;

/// When a wait gives up.
using Deadline = TimePoint;

/// A deadline that never passes.
inline constexpr Deadline never = TimePoint::max();

/// The time now. Every reading of a clock goes through here.
[[nodiscard]] inline TimePoint Now() { return Clock::now(); }

/// The deadline `wait` from now; `never` if that lies beyond the clock's range.
template <typename Rep, typename Period>
[[nodiscard]] Deadline After(std::chrono::duration<Rep, Period> wait) {
  const TimePoint now = Now();
  const std::chrono::duration<double> room = never - now;
  if (std::chrono::duration<double>(wait) >= room) return never;
  return now + std::chrono::ceil<Clock::duration>(wait);
}

/// Keeps this core busy for `span`, as a simulation's own work would: no sleeping, no yielding. On a simulated host,
/// the work that takes `span` at nominal speed.
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
