#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include <netuit/run/schedule.hpp>
#include <uit/config.hpp>
#include <uit/support/clock.hpp>

namespace netuit {

namespace detail {

/// Schedules a barrier after every update.
class MeetingAlways final : public Schedule {
 public:
  Step Next(const Moment& moment) override {
    // A worker continues as long as any worker does. It learns this at a barrier: the start of the run, or after an update.
    const bool is_done = num_met_ == 0 && moment.has_made_all && !moment.others_go_on;
    if (moment.num_updates == num_met_) return is_done ? Step::stop : Step::update;
    num_met_ = moment.num_updates;
    return Step::meet;
  }

 private:
  std::uint64_t num_met_ = 0;  // updates that a barrier has followed
};

/// Schedules a barrier at a given time, and at the end.
class MeetingByClock : public Schedule {
 public:
  Step Next(const Moment& moment) final {
    return moment.has_made_all || moment.is_to_stop || moment.now >= next_ ? Step::meet : Step::update;
  }

 protected:
  void MeetAt(uit::TimePoint next) { next_ = next; }

 private:
  uit::TimePoint next_ = uit::never;
};

/// Schedules a barrier when a span has passed since the barrier before.
class MeetingAfterSpans final : public MeetingByClock {
 public:
  explicit MeetingAfterSpans(std::chrono::nanoseconds span) : span_(span) {}

  void Start(uit::TimePoint now) override { MeetAt(Later(now, span_)); }
  void Met(uit::TimePoint now, std::uint64_t) override { MeetAt(Later(now, span_)); }
  std::chrono::nanoseconds Span() const override { return span_; }

 private:
  std::chrono::nanoseconds span_;
};

/// Schedules a barrier at each multiple of a period since the start. Each worker proposes the number of the next barrier, and
/// the largest proposal counts. So all workers come to the same barriers even if their clocks differ.
class MeetingAtMultiples final : public MeetingByClock {
 public:
  explicit MeetingAtMultiples(std::chrono::nanoseconds period) : period_(period) {}

  void Start(uit::TimePoint now) override {
    start_ = now;
    next_ = 1;
    MeetAt(Later(now, period_));
  }
  std::uint64_t Propose(uit::TimePoint now) const override {
    return std::max(next_ + 1, static_cast<std::uint64_t>((now - start_) / period_) + 1);
  }
  void Met(uit::TimePoint, std::uint64_t agreed) override {
    next_ = agreed;
    const bool is_ever = next_ <= static_cast<std::uint64_t>((uit::never - start_) / period_);
    MeetAt(is_ever ? start_ + static_cast<std::int64_t>(next_) * period_ : uit::never);
  }
  std::chrono::nanoseconds Span() const override { return period_; }

 private:
  std::chrono::nanoseconds period_;
  uit::TimePoint start_{};
  std::uint64_t next_ = 1;
};

/// Schedules no barriers.
class MeetingNever final : public Schedule {
 public:
  Step Next(const Moment& moment) override { return moment.has_made_all || moment.is_to_stop ? Step::stop : Step::update; }
};

}  // namespace detail

/// Mode 0: a barrier follows every update, and each node sees the values that its neighbours published in the update before.
/// The result is the same for any number of threads and processes and any placement.
struct EveryUpdate {
  std::uint64_t updates = 0;             ///< of each worker; 0: no limit
  std::chrono::nanoseconds duration{0};  ///< 0: no limit

  /// Returns the plan for the run loop.
  RunPlan MakePlan() const;
};

/// Mode 1: workers update for a span between barriers. The span starts at the end of the barrier before. Nodes see the newest
/// values that have arrived.
struct Rolling {
  std::chrono::nanoseconds span = std::chrono::milliseconds(10);  ///< between barriers
  std::uint64_t updates = 0;                                      ///< of each worker; 0: no limit
  std::chrono::nanoseconds duration{0};                           ///< 0: no limit

  /// Returns the plan for the run loop. Throws uit::InputError unless `span` is positive.
  RunPlan MakePlan() const;
};

/// Mode 2: a barrier is due at each multiple of a period since the start. Nodes see the newest values that have arrived.
struct Fixed {
  std::chrono::nanoseconds period = std::chrono::seconds(1);  ///< between barriers
  std::uint64_t updates = 0;                                  ///< of each worker; 0: no limit
  std::chrono::nanoseconds duration{0};                       ///< 0: no limit

  /// Returns the plan for the run loop. Throws uit::InputError unless `period` is positive.
  RunPlan MakePlan() const;
};

/// Mode 3: best effort. No worker waits for another, and nodes see the newest values that have arrived.
struct Free {
  std::chrono::nanoseconds duration{0};  ///< 0: no limit
  std::uint64_t updates = 0;             ///< of each worker; 0: no limit
  std::uint64_t clock_every = 1;         ///< updates between readings of the clock; at least 1

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

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/run/schedules.ipp>
#endif
