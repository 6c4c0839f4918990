#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace netuit {

// Numbers as words in the same order, so that the largest of both is the same.

/// Stands for a number that is not known yet. Larger than any word.
inline constexpr std::uint64_t ordered_unknown = ~std::uint64_t{0};
/// The word of NaN, which is larger than that of any number.
inline constexpr std::uint64_t ordered_nan = ordered_unknown - 1;

/// Returns the word of a number. It is greater than 0.
inline std::uint64_t ToOrdered(double number) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63U;
  if (std::isnan(number)) return ordered_nan;
  const auto bits = std::bit_cast<std::uint64_t>(number);
  return (bits & sign) != 0 ? ~bits : bits | sign;
}
/// Returns the number of a word.
inline double FromOrdered(std::uint64_t word) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63U;
  return std::bit_cast<double>((word & sign) != 0 ? word & ~sign : ~word);
}

}  // namespace netuit
