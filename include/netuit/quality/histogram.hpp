#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace netuit {

/// A histogram of whole numbers. Numbers below 64 have a bucket each. Above, each power of two is divided into 32 buckets, so a
/// quantile is exact to 1.6 %. Numbers of 2^42 and more count as the largest. Adding one takes a few nanoseconds and allocates
/// nothing.
class Histogram {
 public:
  /// Adds a number.
  void Add(std::uint64_t value) {
    ++counts_[std::min(BucketOf(value), num_buckets - 1)];
    ++num_added_;
    sum_ += value;
    max_ = std::max(max_, value);
  }
  /// Adds another histogram.
  Histogram& operator+=(const Histogram& other) {
    for (std::size_t i = 0; i < num_buckets; ++i) counts_[i] += other.counts_[i];
    num_added_ += other.num_added_;
    sum_ += other.sum_;
    max_ = std::max(max_, other.max_);
    return *this;
  }
  /// Removes all numbers.
  void Clear() {
    if (num_added_ != 0) *this = {};
  }

  /// Returns how many numbers were added.
  std::uint64_t Count() const { return num_added_; }
  /// Returns the largest number added; 0 if there are none. Exact.
  std::uint64_t Max() const { return max_; }
  /// Returns the mean of the numbers added; 0 if there are none. Exact.
  double Mean() const { return num_added_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(num_added_); }
  /// Returns the smallest number that a fraction `q` of those added does not exceed; 0 if there are none.
  double Quantile(double q) const {
    const auto wanted = static_cast<std::uint64_t>(std::ceil(q * static_cast<double>(num_added_)));
    std::uint64_t num_passed = 0;
    for (std::size_t bucket = 0; bucket < num_buckets; ++bucket) {
      num_passed += counts_[bucket];
      if (num_passed >= wanted && num_passed != 0) return std::min(Middle(bucket), static_cast<double>(max_));
    }
    return 0;
  }

 private:
  static constexpr std::size_t bits = 5;  // of precision
  static constexpr std::size_t per_octave = std::size_t{1} << bits;
  static constexpr std::size_t num_octaves = 42 - bits;
  static constexpr std::size_t num_buckets = (num_octaves + 1) * per_octave;

  /// Values below 2 * per_octave have a bucket each. Each octave above has per_octave buckets.
  static constexpr std::size_t BucketOf(std::uint64_t value) {
    if (value < 2 * per_octave) return static_cast<std::size_t>(value);
    const auto shift = static_cast<std::size_t>(std::bit_width(value)) - bits - 1;
    return shift * per_octave + static_cast<std::size_t>(value >> shift);
  }
  static constexpr double Middle(std::size_t bucket) {
    if (bucket < 2 * per_octave) return static_cast<double>(bucket);
    const std::size_t shift = bucket / per_octave - 1;
    const auto first = static_cast<double>((bucket - shift * per_octave) << shift);
    return first + 0.5 * static_cast<double>((std::size_t{1} << shift) - 1);
  }

  std::array<std::uint32_t, num_buckets> counts_{};
  std::uint64_t num_added_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t max_ = 0;
};

}  // namespace netuit
