#pragma once

#include <chrono>

/// 1 in a build for a simulated cluster (CMake preset `simgrid`). There, time passes only as the simulation says.
#ifndef UIT_SIMULATED
#define UIT_SIMULATED 0
#endif
#if UIT_SIMULATED
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#endif

namespace uit {

/// True in a build for a simulated cluster.
inline constexpr bool is_simulated = UIT_SIMULATED != 0;

#if UIT_SIMULATED

/// The clock of the simulation, common to all its hosts. Reading it takes no time.
struct SimulatedClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<SimulatedClock>;
  static constexpr bool is_steady = true;
  /// The time since the start of the simulation.
  static time_point now() {
    return time_point{std::chrono::round<duration>(std::chrono::duration<double>{simgrid_get_clock()})};
  }
};

/// Functions that let simulated time pass.
namespace simulation {

/// The speed of a nominal host: simulated work takes exactly the time charged for it. Other hosts are faster or slower.
inline constexpr double nominal_flops = 1e9;
/// The time of one pause.
inline constexpr std::chrono::nanoseconds pause_time{40};
/// The time of one yield.
inline constexpr std::chrono::nanoseconds yield_time{400};
/// The time that the system adds to a sleep, as Linux does.
inline constexpr std::chrono::microseconds timer_slack{50};

/// The name of the calling process's host.
inline const char* HostName() { return sg_host_self_get_name(); }

/// The calling process is idle for `span`.
inline void Pass(std::chrono::duration<double> span) { sg_actor_sleep_for(span.count()); }
/// The calling process works for as long as a nominal host works in `span`.
inline void Work(std::chrono::duration<double> span) { sg_actor_execute(span.count() * nominal_flops); }

}  // namespace simulation

#endif

}  // namespace uit
