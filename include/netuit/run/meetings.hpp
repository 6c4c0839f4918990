#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

#include <netuit/run/schedule.hpp>
#include <netuit/run/slack_tuner.hpp>
#include <uit/support/clock.hpp>

namespace netuit::detail {

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

  void Start(uit::TimePoint now) override { MeetAt(uit::Later(now, span_)); }
  void Met(uit::TimePoint now, std::uint64_t) override { MeetAt(uit::Later(now, span_)); }
  bool CountsFromBarriers() const override { return true; }
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
    MeetAt(uit::Later(now, period_));
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

/// Schedules votes about the end of the run, so that all workers make the same number of updates without a barrier. A worker
/// begins a vote when the outcome of the one before is known. So the outcome takes effect at the next vote, and no worker is
/// more than two spans ahead of another. A span is as many updates as take about a millisecond, at most 64, unless it is given.
class VotingAhead final : public Schedule {
 public:
  /// `span`: updates between two votes; 0: see above.
  explicit VotingAhead(std::uint64_t span = 0) : given_span_(span) {}

  Step Next(const Moment& moment) override {
    if (moment.num_updates == next_vote_) return Step::vote;
    return moment.has_made_all ? Step::stop : Step::update;
  }
  void Start(uit::TimePoint now) override { last_ = now; }
  std::uint64_t Propose(uit::TimePoint now) const override {
    const auto num_spans = std::max<std::int64_t>((now - last_) / std::chrono::milliseconds(1), 0);
    if (num_spans != 0) return std::max<std::uint64_t>(span_ / static_cast<std::uint64_t>(num_spans), 1);
    return std::min<std::uint64_t>(2 * span_, max_span);
  }
  void Met(uit::TimePoint now, std::uint64_t agreed) override {
    last_ = now;
    span_ = given_span_ != 0 ? given_span_ : std::max<std::uint64_t>(agreed, 1);
    next_vote_ += span_;
  }

 private:
  static constexpr std::uint64_t max_span = 64;
  std::uint64_t given_span_;
  std::uint64_t next_vote_ = 0;  // updates that the worker will have made
  std::uint64_t span_ = 1;       // from the last vote to the next
  uit::TimePoint last_{};        // when the last vote began
};

/// Schedules no barriers. The worker waits while one of those whose values it reads is more than `slack` updates behind.
class MeetingNever final : public Schedule {
 public:
  static constexpr std::uint64_t unbounded = std::numeric_limits<std::uint64_t>::max();

  explicit MeetingNever(std::uint64_t slack = unbounded) : slack_(slack) {}

  Step Next(const Moment& moment) override {
    if (moment.has_made_all || moment.is_to_stop) return Step::stop;
    return moment.num_behind > slack_ ? Step::wait : Step::update;
  }

 private:
  std::uint64_t slack_;
};

/// Schedules no barriers, and chooses the slack itself.
class TuningSlack final : public Schedule {
 public:
  Step Next(const Moment& moment) override {
    if (moment.has_made_all || moment.is_to_stop) return Step::stop;
    if (!tuner_) tuner_.emplace(moment.is_apart);
    tuner_->Look(moment.now, moment.num_updates, moment.num_effective);
    return moment.num_behind > tuner_->Slack() ? Step::wait : Step::update;
  }

 private:
  std::optional<SlackTuner> tuner_;
};

}  // namespace netuit::detail
