#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <netuit/run/schedule.hpp>
#include <netuit/run/schedules.hpp>
#include <uit/support/error.hpp>

namespace netuit {

/// The schedules' numbers, by which command lines and results name them.
enum class AsyncMode : std::uint32_t {
  every_update = 0,     ///< EveryUpdate
  rolling = 1,          ///< Rolling
  fixed = 2,            ///< Fixed
  no_barrier = 3,       ///< Free
  no_communication = 4  ///< Isolated
};

/// What a command line says of a run, whatever its mode; a schedule takes what it has a use for.
struct ModeSettings {
  std::uint64_t updates = 0;                               ///< of each worker; 0: no limit
  std::chrono::nanoseconds duration{0};                    ///< 0: no limit
  std::chrono::nanoseconds span = Rolling{}.span;          ///< of Rolling
  std::chrono::nanoseconds period = Fixed{}.period;        ///< of Fixed
  std::uint64_t clock_every = 1;                           ///< of Free and Isolated
};

/// The schedule of a mode, to run a mesh by. Throws uit::InputError if there is no such mode, or it cannot be so.
///
///     mesh.Run(netuit::ScheduleOf(options.mode, {.duration = options.duration}), update);
inline RunPlan ScheduleOf(AsyncMode mode, const ModeSettings& settings) {
  const auto& [updates, duration, span, period, clock_every] = settings;
  switch (mode) {
    case AsyncMode::every_update: return EveryUpdate{updates, duration}.MakePlan();
    case AsyncMode::rolling: return Rolling{span, updates, duration}.MakePlan();
    case AsyncMode::fixed: return Fixed{period, updates, duration}.MakePlan();
    case AsyncMode::no_barrier: return Free{duration, updates, clock_every}.MakePlan();
    case AsyncMode::no_communication: return Isolated{duration, updates, clock_every}.MakePlan();
  }
  throw uit::InputError("there is no asynchronicity mode " + std::to_string(static_cast<std::uint32_t>(mode)) + ", only 0 to 4");
}

}  // namespace netuit
