#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include <netuit/run/run_options.hpp>
#include <uit/support/clock.hpp>

namespace netuit {

/// When a worker meets the others, and when its time is up. Every worker has its own, by its own clock.
class Pacer {
 public:
  /// For a run as `options` say, which it refers to.
  explicit Pacer(const RunOptions& options) : options_(options) {}

  /// All workers leave the start barrier.
  void Start(uit::TimePoint now) {
    start_ = now;
    end_ = options_.duration.count() > 0 ? Later(now, options_.duration) : uit::never;
    barrier_ = uit::never;
    next_ = 1;
    if (options_.mode == AsyncMode::rolling) barrier_ = Later(now, options_.rolling_span);
    if (options_.mode == AsyncMode::fixed) barrier_ = Later(now, options_.fixed_period);
  }
  /// Whether the run's time is up.
  bool IsOver(uit::TimePoint now) const { return now >= end_; }
  /// Whether it is time to meet.
  bool IsBarrierDue(uit::TimePoint now) const { return options_.mode == AsyncMode::every_update || now >= barrier_; }

  /// Of AsyncMode::fixed: the number of the barrier to meet at next, from here. The workers meet at the largest that
  /// any of them brings, so that all make the same ones, however their clocks stand.
  std::uint64_t ProposeNext(uit::TimePoint now) const {
    if (options_.mode != AsyncMode::fixed) return 0;
    const auto num_passed = static_cast<std::uint64_t>((now - start_) / options_.fixed_period);
    return std::max(next_ + 1, num_passed + 1);
  }
  /// All workers leave a barrier, having agreed on `next`.
  void Continue(uit::TimePoint now, std::uint64_t next) {
    if (options_.mode == AsyncMode::rolling) barrier_ = Later(now, options_.rolling_span);
    if (options_.mode == AsyncMode::fixed) {
      next_ = next;
      const bool is_ever = next_ <= static_cast<std::uint64_t>((uit::never - start_) / options_.fixed_period);
      barrier_ = is_ever ? start_ + static_cast<std::int64_t>(next_) * options_.fixed_period : uit::never;
    }
  }
  /// How long ago the start barrier was.
  std::chrono::nanoseconds Elapsed(uit::TimePoint now) const { return now - start_; }
  /// How long to wait for others at a barrier: who has nothing more to do comes at once, the others when they are due.
  std::chrono::nanoseconds Patience() const {
    std::chrono::nanoseconds span{0};
    if (options_.mode == AsyncMode::rolling) span = options_.rolling_span;
    if (options_.mode == AsyncMode::fixed) span = options_.fixed_period;
    return options_.peer_timeout + std::min(span, std::chrono::nanoseconds::max() - options_.peer_timeout);
  }

 private:
  static uit::TimePoint Later(uit::TimePoint now, std::chrono::nanoseconds span) {
    return span < uit::never - now ? now + span : uit::never;
  }

  const RunOptions& options_;
  uit::TimePoint start_{};
  uit::TimePoint end_ = uit::never;
  uit::TimePoint barrier_ = uit::never;
  std::uint64_t next_ = 1;
};

}  // namespace netuit
