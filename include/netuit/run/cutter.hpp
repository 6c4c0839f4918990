#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include <netuit/mesh/capture_store.hpp>
#include <netuit/mesh/partition.hpp>

namespace netuit::detail {

/// Copies fields at the cuts of a run. That worker only.
///
/// Cuts are due at the multiples of a number of updates. In best effort, workers make different numbers of updates. There, a worker
/// makes a cut when it is due by its own count, or before it reads values of a worker that has made it. So no value in a cut depends
/// on what was published after the cut (Chandy and Lamport's rule for a consistent snapshot, ACM Transactions on Computer Systems 3,
/// 1985, with the number of cuts in every frame in place of markers, so that frames may be lost).
class Cutter {
 public:
  /// Copies what the captures want of the partition's nodes, if `is_on`. The run's first update has the number `first_update`.
  Cutter(const std::vector<std::unique_ptr<CaptureStore>>& captures, Partition& partition, std::size_t thread, std::uint64_t first_update,
         bool is_on)
      : captures_(captures), partition_(partition), thread_(thread), first_update_(first_update), is_on_(is_on && !captures.empty()) {
    for (const auto& capture : captures) every_ = std::gcd(every_, capture->Every());
  }

  /// Whether anything is copied.
  bool IsOn() const { return is_on_; }

  /// Makes the cuts that are due when the worker has made so many updates, or that others have made, up to `newest`; see CutCounts.
  void Cut(std::uint64_t num_updates, std::uint64_t newest) {
    if (!is_on_) return;
    const std::uint64_t num_due = std::max(newest, (first_update_ + num_updates) / every_ - first_update_ / every_);
    while (partition_.cuts.cuts < num_due) {
      const std::uint64_t number = first_update_ / every_ + ++partition_.cuts.cuts;
      for (const auto& capture : captures_) {
        if (number * every_ % capture->Every() == 0) capture->Take(thread_, partition_, first_update_ + num_updates);
      }
    }
  }

 private:
  const std::vector<std::unique_ptr<CaptureStore>>& captures_;
  Partition& partition_;
  std::size_t thread_;
  std::uint64_t first_update_;
  bool is_on_;
  std::uint64_t every_ = 0;  // updates between two cuts
};

}  // namespace netuit::detail
