#pragma once

#include <chrono>
#include <cstdint>

#include <uit/support/clock.hpp>

namespace netuit::detail {

/// Looks at one worker of a run, between its updates. All functions are called by that worker.
class Observer {
 public:
  Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  virtual ~Observer() = default;

  /// Notes the time at which all workers left the start barrier, and how long the run will last; 0 means unknown. Returns when to look
  /// first.
  virtual uit::TimePoint Start(uit::TimePoint now, std::chrono::nanoseconds duration) = 0;
  /// Looks at the worker after `num_updates` updates. Returns when to look again.
  virtual uit::TimePoint Look(uit::TimePoint now, std::uint64_t num_updates) = 0;
  /// Looks at the worker after its last update.
  virtual void Finish(uit::TimePoint /*now*/, std::uint64_t /*num_updates*/) {}
};

}  // namespace netuit::detail
