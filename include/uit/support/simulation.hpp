#pragma once

#include <chrono>

/// 1 in a build for a simulated cluster (CMake preset `simgrid`), where time passes only as the simulation says.
#ifndef UIT_SIMULATED
#define UIT_SIMULATED 0
#endif
#if UIT_SIMULATED
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#endif

namespace uit {

/// Whether this is such a build.
inline constexpr bool is_simulated = UIT_SIMULATED != 0;

#if UIT_SIMULATED

/// The clock of the simulation, which all its hosts share. Reading it takes no time.
struct SimulatedClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<SimulatedClock>;
  static constexpr bool is_steady = true;
  /// Since the simulation's beginning.
  static time_point now() {
    return time_point{std::chrono::round<duration>(std::chrono::duration<double>{simgrid_get_clock()})};
  }
};

/// What can pass simulated time.
namespace simulation {

/// The speed of a host that takes for simulated work the time that is charged for it; others take theirs.
inline constexpr double nominal_flops = 1e9;
/// What a pause and a yield take.
inline constexpr std::chrono::nanoseconds pause_time{40};
/// Likewise.
inline constexpr std::chrono::nanoseconds yield_time{400};
/// What the system adds to a sleep, as Linux does.
inline constexpr std::chrono::microseconds timer_slack{50};

/// The name of the host that the calling process is on.
inline const char* HostName() { return sg_host_self_get_name(); }

/// The calling process does nothing for `span`.
inline void Pass(std::chrono::duration<double> span) { sg_actor_sleep_for(span.count()); }
/// The calling process works for as long as a nominal host would for `span`.
inline void Work(std::chrono::duration<double> span) { sg_actor_execute(span.count() * nominal_flops); }

}  // namespace simulation

#endif

}  // namespace uit
