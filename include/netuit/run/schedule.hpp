#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <netuit/mesh/layer_part.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>

namespace netuit {

/// A later time, or never.
inline uit::TimePoint Later(uit::TimePoint now, std::chrono::nanoseconds span) {
  return span < uit::never - now ? now + span : uit::never;
}

/// What a worker does next.
enum class Step {
  update,  ///< updates each of its nodes once
  meet,    ///< waits until all workers have come to the same meeting
  stop     ///< makes no more updates
};

/// What a schedule decides by.
struct Moment {
  uit::TimePoint now{};           ///< when the worker last looked at its clock
  std::uint64_t num_updates = 0;  ///< that it has made
  bool has_made_all = false;      ///< as many as the run is to have
  bool others_go_on = false;      ///< when the workers met last, some had updates to make
  bool is_to_stop = false;        ///< its time is up, or there is another reason for the run to end
};

/// When one worker of a run updates its nodes, meets the others, and stops. Each worker has its own, by its own clock; that
/// worker only. A schedule decides by the moment alone, so that a test can play it through.
class Schedule {
 public:
  Schedule() = default;
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;
  virtual ~Schedule() = default;

  /// All workers leave the meeting with which a run starts.
  virtual void Start(uit::TimePoint) {}
  /// What to do now. Where the others are to meet, a worker that is to stop meets them, too: they end together.
  virtual Step Next(const Moment&) = 0;
  /// A number that the worker brings to a meeting.
  virtual std::uint64_t Propose(uit::TimePoint) const { return 0; }
  /// All workers leave a meeting; `agreed` is the largest number that any has brought.
  virtual void Met(uit::TimePoint, [[maybe_unused]] std::uint64_t agreed) {}
  /// How much longer than usual the others may take to come to a meeting.
  virtual std::chrono::nanoseconds Span() const { return std::chrono::nanoseconds{0}; }
  /// How long to wait for the others at a meeting before one that is silent counts as lost: a worker that has nothing more to
  /// do comes at once, the others when they are due.
  std::chrono::nanoseconds Patience(std::chrono::nanoseconds peer_timeout) const {
    return peer_timeout + std::min(Span(), std::chrono::nanoseconds::max() - peer_timeout);
  }
};

/// A run as its schedule wants it: all that the run loop knows of modes. Itself a schedule to run by.
struct RunPlan {
  std::uint32_t mode = 0;                ///< the schedule's number, for results and records
  Delivery delivery{};                   ///< how values and messages move
  std::uint64_t updates = 0;             ///< of each worker; 0: no limit
  std::chrono::nanoseconds duration{0};  ///< 0: no limit
  std::uint64_t clock_every = 1;         ///< updates from one look at the clock to the next
  std::function<std::unique_ptr<Schedule>()> make{};  ///< a worker's schedule

  /// Itself.
  RunPlan MakePlan() const { return *this; }
  /// Throws uit::InputError if no run can be so.
  void Check() const {
    if (duration.count() < 0) throw uit::InputError("duration must not be negative");
    if (clock_every == 0) throw uit::InputError("clock_every must be at least 1");
  }
  /// When the time of a run is up that has started at `start`.
  uit::TimePoint End(uit::TimePoint start) const { return duration.count() > 0 ? Later(start, duration) : uit::never; }
};

}  // namespace netuit
