#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include <netuit/quality/histogram.hpp>

namespace netuit {

/// How old the values were that a worker's updates read from other workers. The age of a value is the number of the update that
/// reads it, less that of the update that wrote it: 1 if a barrier follows every update. A value of a later update has age 0, and
/// one from before the run counts as written before update 0. Each update counts once for each other worker and field.
struct Staleness {
  std::uint64_t count = 0;  ///< number of readings; the ages are 0 if there are none
  std::uint64_t max = 0;    ///< exact
  double mean = 0;          ///< exact
  double p50 = 0;           ///< median
  double p90 = 0;           ///< 90 % quantile
  double p99 = 0;           ///< 99 % quantile
};

/// Counts a worker's effective updates in a run. That worker only.
///
/// After an update, the count is 1 plus the least of the counts that its values had: the worker's own, and those that came with
/// the newest values of other workers. So every value of a worker with count n has passed through n updates along every path,
/// whatever was delayed or lost, and however fast the workers are. If the update is a contraction with factor a < 1 in a weighted
/// maximum norm, the error of these values is at most a^n times the largest error at the start (Frommer and Szyld, "On
/// asynchronous iterations", Journal of Computational and Applied Mathematics 123, 2000).
class EffectiveUpdates {
 public:
  /// Notes that an update reads values of another worker. When it sent them, that worker had made `num_made` updates of this run,
  /// of which `num_effective` count. Neither is trusted beyond what is possible.
  void Read(std::uint64_t update, std::uint64_t num_made, std::uint64_t num_effective) {
    age_.Add(update + 1 - std::min(num_made, update + 1));
    least_read_ = std::min({least_read_, num_made, num_effective});
  }
  /// Notes that an update reads values of the worker's own nodes of which only so many updates count.
  void ReadOwn(std::uint64_t num_effective) { least_read_ = std::min(least_read_, num_effective); }
  /// Notes that an update may read messages from other workers that tell no count. The worker's count is then unknown.
  void ReadUncounted() { is_known_ = false; }
  /// Ends an update.
  void Finish() {
    num_effective_ = 1 + std::min(num_effective_, least_read_);
    least_read_ = nothing;
  }

  /// Returns the count to send with the worker's values.
  std::uint64_t Count() const { return num_effective_; }
  /// Returns the count, or nothing if it is unknown.
  std::optional<std::uint64_t> Known() const { return is_known_ ? std::optional(num_effective_) : std::nullopt; }
  /// Returns how old the values were.
  Staleness Age() const {
    return {.count = age_.Count(),
            .max = age_.Max(),
            .mean = age_.Mean(),
            .p50 = age_.Quantile(0.5),
            .p90 = age_.Quantile(0.9),
            .p99 = age_.Quantile(0.99)};
  }

 private:
  static constexpr std::uint64_t nothing = ~std::uint64_t{0} - 1;

  std::uint64_t num_effective_ = 0;
  std::uint64_t least_read_ = nothing;  // in this update
  bool is_known_ = true;
  Histogram age_;
};

}  // namespace netuit
