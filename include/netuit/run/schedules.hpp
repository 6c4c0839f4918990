#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

#include <netuit/mesh/reduction.hpp>
#include <netuit/run/schedule.hpp>
#include <uit/config.hpp>

namespace netuit {

/// For Free::slack: each worker tries slacks from 0 to 256, and keeps to the one with which its effective updates come fastest. It
/// begins with 256 if it reads few values of other workers and has a core of its own, and with 0 if not.
inline constexpr std::uint64_t automatic = std::numeric_limits<std::uint64_t>::max();

/// Mode 0: a barrier follows every update, and each node sees the values that its neighbours published in the previous update.
/// The result is the same for any number of threads and processes and any placement.
struct EveryUpdate {
  std::uint64_t updates = 0;             ///< of each worker; 0: no limit
  std::chrono::nanoseconds duration{0};  ///< 0: no limit
  std::optional<Until> until{};          ///< ends the run when it holds: `change < 1e-9`; see Reduction
  std::optional<Steals> steals{};        ///< waiting workers update nodes of others; see Steals

  /// Returns the plan for the run loop.
  RunPlan MakePlan() const;
};

/// Mode 1: workers update for a span between barriers. The span starts at the end of the barrier before. Nodes see the newest
/// values that have arrived.
struct Rolling {
  std::chrono::nanoseconds span = std::chrono::milliseconds(10);  ///< between barriers
  std::uint64_t updates = 0;                                      ///< of each worker; 0: no limit
  std::chrono::nanoseconds duration{0};                           ///< 0: no limit
  std::optional<Until> until{};          ///< ends the run when it holds: `change < 1e-9`; see Reduction

  /// Returns the plan for the run loop. Throws uit::InputError unless `span` is positive.
  RunPlan MakePlan() const;
};

/// Mode 2: a barrier is due at each multiple of a period since the start. Nodes see the newest values that have arrived.
struct Fixed {
  std::chrono::nanoseconds period = std::chrono::seconds(1);  ///< between barriers
  std::uint64_t updates = 0;                                  ///< of each worker; 0: no limit
  std::chrono::nanoseconds duration{0};                       ///< 0: no limit
  std::optional<Until> until{};          ///< ends the run when it holds: `change < 1e-9`; see Reduction

  /// Returns the plan for the run loop. Throws uit::InputError unless `period` is positive.
  RunPlan MakePlan() const;
};

/// Mode 3: best effort. No worker waits for another, and nodes see the newest values that have arrived.
///
/// With a slack, a worker waits while a worker whose published values it reads is more than so many updates behind (stale
/// synchronous parallel). So values are at most slack + 1 updates old. With slack 0, a worker waits for the values of the update
/// before, or newer ones. Processes that have ended or fallen silent are not waited for.
///
/// A condition `until` is an estimate in modes 1 to 3: it must hold for all numbers that nodes have given since their worker's
/// effective updates were two or more fewer, so not only for numbers that come of old values. Of a sum, each worker brings that of the
/// update that is worst for the condition. But that a maximum is above a bound, or a minimum below one, holds as soon as one such number
/// is. On a CutReduction the condition is exact. The loss of a process ends a run of mode 3 with a condition,
/// because the others cannot agree on it any more.
struct Free {
  std::chrono::nanoseconds duration{0};  ///< 0: no limit
  std::uint64_t updates = 0;             ///< of each worker; 0: no limit
  std::uint64_t clock_every = 1;         ///< updates between readings of the clock; at least 1
  /// Updates that a worker may be ahead of those whose values it reads, or `automatic`. Nothing: no limit.
  std::optional<std::uint64_t> slack{};
  std::optional<Until> until{};          ///< ends the run when it holds: `change < 1e-9`; see Reduction

  /// Returns the plan for the run loop.
  RunPlan MakePlan() const;
};

/// Mode 4: no value or message leaves its thread until the run ends. It measures the cost of computation alone.
struct Isolated {
  std::chrono::nanoseconds duration{0};  ///< 0: no limit
  std::uint64_t updates = 0;             ///< of each worker; 0: no limit
  std::uint64_t clock_every = 1;         ///< updates between readings of the clock; at least 1

  /// Returns the plan for the run loop.
  RunPlan MakePlan() const;
};

/// Mode 5: each node sees the values that its neighbours published in the previous update, as in EveryUpdate, and the result is
/// the same. But no barrier follows an update: a worker waits only for the workers that own in-neighbours of its nodes, or
/// out-neighbours to which they send messages. All workers end the run after the same update. A replay makes barriers, because
/// the records of workers may end apart. A condition `until` is looked at every few milliseconds, and ends all workers some updates
/// later; with `lag`, after the same update in every run.
///
/// If edges of the mesh have delays other than 1 (see EdgeDelays), a node sees what its neighbours published so many updates
/// before, or, with delay 0, in the same update. A worker then updates its nodes level by level (see FindLevels), and waits for what
/// a level needs. Messages still take one update.
struct Dataflow {
  std::uint64_t updates = 0;             ///< of each worker; 0: no limit
  std::chrono::nanoseconds duration{0};  ///< 0: no limit
  std::optional<Until> until{};          ///< ends the run when it holds: `change < 1e-9`; see Reduction
  std::optional<Steals> steals{};        ///< waiting workers update nodes of others; see Steals
  /// If not 0: `until` is looked at after each multiple of `lag` updates, and ends the run `lag` updates later. The workers then have
  /// so many updates to agree, and the end does not depend on timing. In a run in parts, such as one with checkpoints, the updates
  /// count from the begin of each part, and parts look at their end, too. Other reasons to stop take effect at a multiple of `lag`,
  /// so `lag` updates should take seconds at most.
  std::uint64_t lag = 0;

  /// Returns the plan for the run loop.
  RunPlan MakePlan() const;
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/run/schedules.ipp>
#endif
