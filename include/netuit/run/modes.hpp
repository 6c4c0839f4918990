#pragma once

#include <chrono>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>

#include <netuit/mesh/reduction.hpp>
#include <netuit/run/schedule.hpp>
#include <netuit/run/schedules.hpp>
#include <uit/support/error.hpp>

namespace netuit {

/// Numbers of the schedules, as used by command lines and results; see mode_table.
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
  std::optional<Steals> steals{};                          ///< of EveryUpdate and Dataflow; the others ignore it
  std::uint64_t lag = 0;                                   ///< of Dataflow
};

/// A schedule of the library, as command lines and results call it.
struct Mode {
  AsyncMode number;  ///< its number
  const char* name;  ///< its name
  /// Returns the plan of a run with these settings. Throws uit::InputError if one that the schedule needs is invalid.
  RunPlan (*make)(const ModeSettings& settings);
};

/// All modes, in the order of their numbers, which start at 0. A further mode is one more row.
inline constexpr Mode mode_table[] = {
    {AsyncMode::every_update, "every_update",
     [](const ModeSettings& of) { return EveryUpdate{of.updates, of.duration, of.until, of.steals}.MakePlan(); }},
    {AsyncMode::rolling, "rolling",
     [](const ModeSettings& of) { return Rolling{of.span, of.updates, of.duration, of.until}.MakePlan(); }},
    {AsyncMode::fixed, "fixed",
     [](const ModeSettings& of) { return Fixed{of.period, of.updates, of.duration, of.until}.MakePlan(); }},
    {AsyncMode::no_barrier, "no_barrier",
     [](const ModeSettings& of) { return Free{of.duration, of.updates, of.clock_every, of.slack, of.until}.MakePlan(); }},
    {AsyncMode::no_communication, "no_communication",
     [](const ModeSettings& of) { return Isolated{of.duration, of.updates, of.clock_every}.MakePlan(); }},
    {AsyncMode::dataflow, "dataflow",
     [](const ModeSettings& of) { return Dataflow{of.updates, of.duration, of.until, of.steals, of.lag}.MakePlan(); }},
};

static_assert([] {
  std::uint32_t position = 0;
  for (const Mode& mode : mode_table)
    if (static_cast<std::uint32_t>(mode.number) != position++) return false;
  return true;
}());

/// Returns the mode with this number. Throws uit::InputError if there is none.
inline const Mode& ModeOf(AsyncMode number) {
  const auto position = static_cast<std::uint32_t>(number);
  if (position < std::size(mode_table)) return mode_table[position];
  throw uit::InputError("asynchronicity mode " + std::to_string(position) + " is not one of 0 to " +
                        std::to_string(std::size(mode_table) - 1));
}

/// Returns the plan of a mode, for Mesh::Run. Throws uit::InputError if there is no such mode or a setting is invalid.
///
///     mesh.Run(netuit::ScheduleOf(options.mode, {.duration = options.duration}), update);
inline RunPlan ScheduleOf(AsyncMode mode, const ModeSettings& settings) { return ModeOf(mode).make(settings); }

}  // namespace netuit
