#include <netuit/quality/histogram.hpp>
#include <netuit/quality/latency_histogram.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "tests/support/catch.hpp"

using netuit::LatencyHistogram;
using std::chrono::nanoseconds;

namespace {

/// Returns the smallest value that at least a fraction q of the values do not exceed.
double QuantileOf(std::vector<std::int64_t> values, double q) {
  std::ranges::sort(values);
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size())));
  return 1e-9 * static_cast<double>(values[std::max<std::size_t>(rank, 1) - 1]);
}

}  // namespace

TEST_CASE("A histogram without latencies has none") {
  const LatencyHistogram histogram;
  CHECK(histogram.Count() == 0);
  CHECK(histogram.Quantile(0.5) == 0);
  CHECK(histogram.Summary().count == 0);
}

TEST_CASE("Quantiles are right within 1.6 percent, from a nanosecond to an hour") {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(0, std::log(3.6e12));
  LatencyHistogram histogram;
  std::vector<std::int64_t> values;
  for (int i = 0; i < 20'000; ++i) {
    values.push_back(static_cast<std::int64_t>(std::exp(exponent(random))));
    histogram.Add(nanoseconds(values.back()));
  }
  for (const double q : {0.001, 0.1, 0.5, 0.9, 0.99, 1.0}) {
    const double exact = QuantileOf(values, q);
    CHECK(histogram.Quantile(q) == Approx(exact).epsilon(0.016));
  }
}

TEST_CASE("Count, mean and maximum are exact") {
  LatencyHistogram histogram;
  for (const int value : {1'000, 2'000, 6'003}) histogram.Add(nanoseconds(value));
  const netuit::Latency latency = histogram.Summary();
  CHECK(latency.count == 3);
  CHECK(latency.mean == Approx(3'001e-9));
  CHECK(latency.max == Approx(6'003e-9));
}

TEST_CASE("The sum of two histograms is that of all their values") {
  netuit::Histogram both;
  netuit::Histogram first;
  netuit::Histogram second;
  for (const std::uint64_t value : {1U, 7U, 7U, 900U}) both.Add(value), first.Add(value);
  for (const std::uint64_t value : {2U, 7U, 1'000'000U}) both.Add(value), second.Add(value);
  first += second;
  CHECK(first.Count() == 7);
  CHECK(first.Max() == 1'000'000);
  CHECK(first.Mean() == both.Mean());
  for (const double q : {0.1, 0.3, 0.5, 0.7, 0.9, 1.0}) CHECK(first.Quantile(q) == both.Quantile(q));
}

TEST_CASE("A value out of range counts as the nearest in range") {
  LatencyHistogram histogram;
  histogram.Add(nanoseconds(-5));
  CHECK(histogram.Quantile(1) == 0);
  histogram.Add(std::chrono::hours(10'000));
  CHECK(histogram.Count() == 2);
  CHECK(histogram.Quantile(1) > 3'600);
}

TEST_CASE("Histograms add up, and can be cleared") {
  LatencyHistogram one;
  LatencyHistogram other;
  one.Add(nanoseconds(10));
  other.Add(nanoseconds(20));
  other.Add(nanoseconds(30));
  one += other;
  CHECK(one.Count() == 3);
  CHECK(one.Quantile(0.5) == Approx(20e-9));
  one.Clear();
  CHECK(one.Count() == 0);
  CHECK(one.Quantile(1) == 0);
}
