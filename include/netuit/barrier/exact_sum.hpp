#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace netuit {

/// A sum of numbers that does not depend on the order in which they are added, or on how they are divided among sums that are
/// then merged.
///
/// The binary digits of a number are added in groups of 30, each in a word of its own. Groups have fixed places, and no carry moves
/// from one to the next. The sum keeps three groups: that of the leading digit of the largest magnitude, and the two below. Nothing
/// is lost but what numbers have below these, which is less than 2^-60 of the largest magnitude for each (Demmel and Nguyen,
/// Parallel Reproducible Summation, 2015, with words of integers). Up to 2^33 numbers.
class ExactSum {
 public:
  /// Adds a number.
  void Add(double number) {
    constexpr std::uint64_t hidden_bit = std::uint64_t{1} << 52U;
    const auto bits = std::bit_cast<std::uint64_t>(number);
    const auto exponent = static_cast<std::int32_t>((bits >> 52U) & 0x7ffU);
    const bool is_negative = (bits >> 63U) != 0;
    kinds_ |= has_numbers;
    if (exponent == 0x7ff) [[unlikely]] {
      kinds_ |= (bits & (hidden_bit - 1)) != 0 ? has_nan : is_negative ? has_minus_infinity : has_infinity;
      return;
    }
    const std::uint64_t digits = (bits & (hidden_bit - 1)) | (exponent != 0 ? hidden_bit : 0);
    if (digits == 0) return;
    const std::int32_t place = std::max(exponent - 1, 0);  // of the last digit; place 0 is worth 2^-1074
    Raise((place + 52) / group_size);
    for (std::size_t i = 0; i < num_groups; ++i) {
      const std::int32_t shift = (top_ - static_cast<std::int32_t>(i)) * group_size - place;
      if (shift > 52 || shift <= -group_size) continue;
      const std::uint64_t group = (shift >= 0 ? digits >> shift : digits << -shift) & group_mask;
      groups_[i] += is_negative ? 0 - group : group;
    }
  }
  /// Adds all numbers of another sum.
  void Merge(const ExactSum& other) {
    ExactSum aligned = other;
    Raise(other.top_);
    aligned.Raise(top_);
    for (std::size_t i = 0; i < num_groups; ++i) groups_[i] += aligned.groups_[i];
    kinds_ |= other.kinds_;
  }

  /// Whether it can be a sum: false for bytes that are none.
  [[nodiscard]] bool IsSound() const { return top_ >= 0 && top_ <= highest_group; }
  /// Whether no number has been added.
  [[nodiscard]] bool IsEmpty() const { return kinds_ == 0; }
  /// Returns the sum, rounded to a double: NaN if a number is NaN, or if there are infinities of both signs.
  [[nodiscard]] double Value() const {
    constexpr std::uint32_t both = has_infinity | has_minus_infinity;
    if ((kinds_ & has_nan) != 0 || (kinds_ & both) == both) return std::numeric_limits<double>::quiet_NaN();
    if ((kinds_ & has_infinity) != 0) return std::numeric_limits<double>::infinity();
    if ((kinds_ & has_minus_infinity) != 0) return -std::numeric_limits<double>::infinity();
    __extension__ using Wide = __int128;
    Wide sum = 0;
    for (const std::uint64_t group : groups_) sum = sum * (Wide{1} << group_size) + static_cast<std::int64_t>(group);
    return std::ldexp(static_cast<double>(sum), (top_ - 2) * group_size - 1074);
  }

 private:
  static constexpr std::int32_t group_size = 30;  // three groups hold 53 digits from any place on
  static constexpr std::uint64_t group_mask = (std::uint64_t{1} << group_size) - 1;
  static constexpr std::int32_t highest_group = (2045 + 52) / group_size;
  static constexpr std::size_t num_groups = 3;
  static constexpr std::uint32_t has_numbers = 1;
  static constexpr std::uint32_t has_nan = 2;
  static constexpr std::uint32_t has_infinity = 4;
  static constexpr std::uint32_t has_minus_infinity = 8;

  /// Makes room for digits of group `top`. The groups that no longer have room are dropped.
  void Raise(std::int32_t top) {
    if (top <= top_) return;
    const auto by = static_cast<std::size_t>(top - top_);
    for (std::size_t i = num_groups; i-- > 0;) groups_[i] = i >= by ? groups_[i - by] : 0;
    top_ = top;
  }

  std::array<std::uint64_t, num_groups> groups_{};  // sums modulo 2^64, as two's complement; the group of the highest places first
  std::int32_t top_ = 0;                            // the number of that group, from the lowest places
  std::uint32_t kinds_ = 0;                         // what has been added: nothing, numbers, or also what is no number
};

}  // namespace netuit
