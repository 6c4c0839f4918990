#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include <netuit/run/late_notice.hpp>
#include <netuit/run/layer_traffic.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/run_control.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/function_ref.hpp>
#include <uit/support/pause.hpp>

namespace netuit::detail {

/// Tells by how many updates the workers are behind whose values a worker reads, and waits for newer values. It does not count
/// workers of processes that have ended or fallen silent, unless they send newer values after all. That worker only.
class Lag {
 public:
  /// Refers to all arguments. `thread` is the worker's.
  Lag(LayerTraffic& traffic, RunControl& control, const RunOptions& options, std::uint32_t thread)
      : traffic_(traffic),
        control_(control),
        options_(options),
        thread_(thread),
        num_threads_(traffic.NumThreads()),
        rank_(traffic.GetFabric().GetWorld().Rank()),
        limit_(options.peer_timeout),
        notice_(options.warn_after) {}

  /// Returns by how many updates the slowest is behind a worker that has made `num_updates`, or 0 if none is behind, as far as the
  /// frames that have arrived tell. Call it before each update.
  std::uint64_t Look(std::uint64_t num_updates) {
    if (num_updates != 0) control_.NoteEnd(thread_, num_updates - 1);
    slowest_ = {.num_made = num_updates};
    traffic_.VisitSources(num_updates, [this](std::uint32_t worker, std::uint64_t num_made) {
      if (num_made < slowest_.num_made && !IsGivenUp(worker, num_made)) slowest_ = {worker / num_threads_, num_made};
    });
    return num_updates - slowest_.num_made;
  }
  /// Waits until the slowest is less behind than Look has just said, or for about a millisecond. `idle` moves frames and returns
  /// whether anything arrived.
  void Await(std::uint64_t num_updates, uit::FunctionRef<bool()> idle) {
    const Slowest before = slowest_;
    if (before != awaited_) {
      awaited_ = before;
      limit_ = options_.peer_timeout;
      notice_ = LateNotice(options_.warn_after);
    }
    const auto has_news = [&] { return Look(num_updates) < num_updates - before.num_made || control_.IsBroken(); };
    const uit::Backoff backoff(traffic_.GetPartition().spin_habit);
    if (uit::WaitUntil(has_news, std::chrono::milliseconds(1), idle, backoff)) return;
    if (control_.IsAnybodyGone()) {
      for (const std::size_t rank : control_.Gone()) GiveUp(rank, num_updates);
    }
    notice_.Try([&] { control_.Warn("waiting for values of rank " + std::to_string(before.process)); });
    // A thread of this process that is behind may be what the other process waits for.
    const bool may_wait_for_us = before.num_made != 0 && !control_.HaveAllEnded(before.num_made - 1);
    if (before.process == rank_ || may_wait_for_us) return;
    if (!limit_.HasPassed()) return;
    GiveUp(before.process, num_updates);
    control_.Warn("rank " + std::to_string(before.process) + " has sent no values within the time allowed; a worker goes on without");
  }

 private:
  struct Slowest {
    std::size_t process = 0;
    std::uint64_t num_made = 0;
    bool operator==(const Slowest&) const = default;
  };

  /// Waits no more for the workers of a process, unless they send newer values.
  void GiveUp(std::size_t rank, std::uint64_t num_updates) {
    traffic_.VisitSources(num_updates, [&](std::uint32_t worker, std::uint64_t num_made) {
      if (worker / num_threads_ != rank) return;
      std::uint64_t& most = given_up_[worker];
      most = std::max(most, num_made);
    });
  }
  bool IsGivenUp(std::uint32_t worker, std::uint64_t num_made) const {
    if (given_up_.empty()) [[likely]]
      return false;
    const auto found = given_up_.find(worker);
    return found != given_up_.end() && num_made <= found->second;
  }

  LayerTraffic& traffic_;
  RunControl& control_;
  const RunOptions& options_;
  std::uint32_t thread_;
  std::uint32_t num_threads_;
  std::size_t rank_;
  std::map<std::uint32_t, std::uint64_t> given_up_;  // by worker: updates that it had made by then
  Slowest slowest_{};              // as Look has found it
  Slowest awaited_{};              // for which the current wait began
  uit::WaitLimit limit_;           // of the wait for another process
  LateNotice notice_;
};

}  // namespace netuit::detail
