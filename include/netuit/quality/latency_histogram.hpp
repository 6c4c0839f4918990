#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include <netuit/quality/histogram.hpp>

namespace netuit {

/// Statistics of a set of latencies, in seconds. All are 0 if the set is empty.
struct Latency {
  std::uint64_t count = 0;  ///< number of latencies
  double mean = 0;          ///< exact
  double p50 = 0;           ///< median
  double p90 = 0;           ///< 90 % quantile
  double p99 = 0;           ///< 99 % quantile
  double max = 0;           ///< exact
};

/// A histogram of latencies, from a nanosecond to more than an hour; longer ones count as the longest. See Histogram.
class LatencyHistogram {
 public:
  /// Adds a latency. A negative one counts as 0.
  void Add(std::chrono::nanoseconds latency) {
    nanoseconds_.Add(static_cast<std::uint64_t>(std::max<std::int64_t>(latency.count(), 0)));
  }
  /// Adds another histogram.
  LatencyHistogram& operator+=(const LatencyHistogram& other) {
    nanoseconds_ += other.nanoseconds_;
    return *this;
  }
  /// Removes all latencies.
  void Clear() { nanoseconds_.Clear(); }

  /// Returns the number of latencies added.
  std::uint64_t Count() const { return nanoseconds_.Count(); }
  /// Returns the smallest latency that a fraction `q` of those added does not exceed, in seconds; 0 if there are none.
  double Quantile(double q) const { return 1e-9 * nanoseconds_.Quantile(q); }
  /// Returns the statistics.
  Latency Summary() const {
    return {.count = Count(),
            .mean = 1e-9 * nanoseconds_.Mean(),
            .p50 = Quantile(0.5),
            .p90 = Quantile(0.9),
            .p99 = Quantile(0.99),
            .max = 1e-9 * static_cast<double>(nanoseconds_.Max())};
  }

 private:
  Histogram nanoseconds_;
};

}  // namespace netuit
