#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include <netuit/mesh/layer_part.hpp>
#include <netuit/mesh/reduction.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>

namespace netuit {

/// A worker's next action.
enum class Step {
  update,  ///< update each of its nodes once
  meet,    ///< wait at a barrier until all workers have come to it
  wait,    ///< wait until a worker from which its nodes read has sent newer values, but not for long
  vote,    ///< wait for the outcome of the last vote, and begin another, for whose outcome the worker does not wait
  stop     ///< make no more updates
};

/// The information from which a schedule decides.
struct Moment {
  uit::TimePoint now{};           ///< when the worker last read its clock
  std::uint64_t num_updates = 0;  ///< number of updates that the worker has made
  std::uint64_t num_behind = 0;   ///< updates by which the slowest worker is behind whose values it reads; see RunPlan::slack
  std::uint64_t num_effective = 0;  ///< updates of the worker that count; see EffectiveUpdates
  bool is_apart = false;          ///< the worker reads few values of others, and has a core of its own
  bool has_made_all = false;      ///< the worker has made all updates of the run
  bool others_go_on = false;      ///< at the last barrier, some worker still had updates to make
  bool is_to_stop = false;        ///< the duration has passed, or the run is to end for another reason
};

/// Decides when one worker of a run updates its nodes, waits at a barrier, or stops. Each worker has its own schedule and
/// clock, and only that worker calls it. A schedule decides from the moment only, so a test can run it step by step.
class Schedule {
 public:
  Schedule() = default;
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;
  virtual ~Schedule() = default;

  /// Called when all workers leave the barrier that starts the run.
  virtual void Start(uit::TimePoint) {}
  /// Returns the next action. If the others are to wait at a barrier, a worker that is to stop comes there too, so that all end
  /// together.
  virtual Step Next(const Moment&) = 0;
  /// Returns a number that the worker brings to a barrier or a vote.
  virtual std::uint64_t Propose(uit::TimePoint) const { return 0; }
  /// Called when all workers leave a barrier, or when a worker begins a vote. `now` is the time before the barrier, or after it if
  /// CountsFromBarriers. `agreed` is the largest number that any worker brought to that barrier, or to the vote before; 0 at the
  /// first vote.
  virtual void Met([[maybe_unused]] uit::TimePoint now, [[maybe_unused]] std::uint64_t agreed) {}
  /// Whether Met needs the time at which the workers left the barrier.
  virtual bool CountsFromBarriers() const { return false; }
  /// Returns the time between barriers, if they go by the clock: so much longer than usual the others may take to come to one.
  virtual std::chrono::nanoseconds Span() const { return std::chrono::nanoseconds{0}; }
  /// Returns how long to wait at a barrier before a silent process counts as lost. A worker that has finished comes at once;
  /// the others come when their barrier is due.
  std::chrono::nanoseconds Patience(std::chrono::nanoseconds peer_timeout) const {
    return peer_timeout + std::min(Span(), std::chrono::nanoseconds::max() - peer_timeout);
  }
};

/// How workers of a process help each other: one that waits for others updates nodes of other workers meanwhile. The result is the
/// same, bit for bit. This pays if some workers have more work than others, and each has a core. It has no effect if a process has
/// one thread. A record and a replay throw uit::InputError.
///
///     mesh.Run(netuit::EveryUpdate{.updates = 1000, .steals = netuit::Steals{}}, update);
///
/// Several threads may then update nodes of one worker at once. So an update may write only to what belongs to its node: scratch
/// memory must be thread_local, not one per Node::Worker(). If an update throws, some of the later nodes of its worker may have
/// been updated too; they publish nothing. Nodes with a channel to or from another worker are updated by their own worker only.
struct Steals {
  /// A worker updates so many nodes at a time that it takes at least about this time, and at least 1/64 of the nodes of another
  /// worker. A steal costs about a microsecond, because the data of the nodes moves to another core and back.
  std::chrono::nanoseconds shortest = std::chrono::microseconds(8);
};

/// A run as its schedule describes it; all that the run loop knows about modes. It is a schedule value itself.
struct RunPlan {
  std::uint32_t mode = 0;                ///< the mode's number, for results and records
  Delivery delivery{};                   ///< how values and messages move
  std::uint64_t updates = 0;             ///< of each worker; 0: no limit
  std::chrono::nanoseconds duration{0};  ///< 0: no limit
  std::uint64_t clock_every = 1;         ///< updates between readings of the clock
  /// The schedule lets no worker be further ahead of those whose values it reads, in updates. Only if set, Moment::num_behind is.
  std::optional<std::uint64_t> slack{};
  std::optional<Until> until{};  ///< the run also ends when this holds
  std::optional<Steals> steals{};  ///< waiting workers update nodes of others; only if messages and values move by update
  bool votes_aside = false;      ///< workers vote on `until` between updates, because the schedule makes no barriers and no votes
  bool is_captured = true;       ///< captures copy fields in this run
  std::function<std::unique_ptr<Schedule>()> make{};  ///< makes a worker's schedule

  /// Returns itself.
  RunPlan MakePlan() const { return *this; }
  /// Throws uit::InputError if the plan is invalid.
  void Check() const {
    if (duration.count() < 0) throw uit::InputError("duration must not be negative");
    if (clock_every == 0) throw uit::InputError("clock_every must be at least 1");
    if (!steals) return;
    if (!delivery.is_by_update)
      throw uit::InputError("steals needs mode 0 or 5: in other modes, a result would depend on who updates which node");
    if (steals->shortest.count() < 0) throw uit::InputError("the shortest time of steals must not be negative");
  }
  /// Returns the time at which the duration of a run that started at `start` has passed.
  uit::TimePoint End(uit::TimePoint start) const { return duration.count() > 0 ? uit::Later(start, duration) : uit::never; }
};

}  // namespace netuit
