#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <netuit/mesh/reduction.hpp>
#include <netuit/run/schedule.hpp>
#include <netuit/run/schedules.hpp>
#include <uit/support/error.hpp>

namespace netuit {

/// Numbers of the schedules, as used by command lines and results.
enum class AsyncMode : std::uint32_t {
  every_update = 0,     ///< EveryUpdate
  rolling = 1,          ///< Rolling
  fixed = 2,            ///< Fixed
  no_barrier = 3,       ///< Free
  no_communication = 4, ///< Isolated
  dataflow = 5          ///< Dataflow
};

/// Settings of a run from a command line, for any mode. Each schedule uses those that it needs.
struct ModeSettings {
  std::uint64_t updates = 0;                               ///< of each worker; 0: no limit
  std::chrono::nanoseconds duration{0};                    ///< 0: no limit
  std::chrono::nanoseconds span = Rolling{}.span;          ///< of Rolling
  std::chrono::nanoseconds period = Fixed{}.period;        ///< of Fixed
  std::uint64_t clock_every = 1;                           ///< of Free and Isolated
  std::optional<std::uint64_t> slack{};                    ///< of Free
  std::optional<Until> until{};                            ///< of all but Isolated
};

/// Returns the plan of a mode, for Mesh::Run. Throws uit::InputError if there is no such mode or a setting is invalid.
///
///     mesh.Run(netuit::ScheduleOf(options.mode, {.duration = options.duration}), update);
inline RunPlan ScheduleOf(AsyncMode mode, const ModeSettings& settings) {
  const auto& [updates, duration, span, period, clock_every, slack, until] = settings;
  switch (mode) {
    case AsyncMode::every_update: return EveryUpdate{updates, duration, until}.MakePlan();
    case AsyncMode::rolling: return Rolling{span, updates, duration, until}.MakePlan();
    case AsyncMode::fixed: return Fixed{period, updates, duration, until}.MakePlan();
    case AsyncMode::no_barrier: return Free{duration, updates, clock_every, slack, until}.MakePlan();
    case AsyncMode::no_communication: return Isolated{duration, updates, clock_every}.MakePlan();
    case AsyncMode::dataflow: return Dataflow{updates, duration, until}.MakePlan();
  }
  throw uit::InputError("asynchronicity mode " + std::to_string(static_cast<std::uint32_t>(mode)) + " is not one of 0 to 5");
}

}  // namespace netuit
