// Sums that do not depend on the order of their numbers.
#include <netuit/barrier/exact_sum.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "tests/support/catch.hpp"

using netuit::ExactSum;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double SumOf(const std::vector<double>& numbers) {
  ExactSum sum;
  for (const double number : numbers) sum.Add(number);
  return sum.Value();
}

/// Numbers of either sign, with exponents of this range.
std::vector<double> Draw(std::size_t num, int least_exponent, int greatest_exponent, std::uint64_t seed) {
  std::mt19937_64 random{seed};
  std::vector<double> numbers(num);
  for (double& number : numbers) {
    const double digits = std::ldexp(static_cast<double>(random() >> 12U | std::uint64_t{1} << 52U), -53);  // from 0.5 to 1
    const int exponent = std::uniform_int_distribution{least_exponent, greatest_exponent}(random);
    number = std::ldexp(random() % 2 == 0 ? digits : -digits, exponent);
  }
  return numbers;
}

}  // namespace

TEST_CASE("A sum has the same bits in every order and division of its numbers") {
  const auto [least, greatest] = GENERATE(std::pair{-1074, 1010}, std::pair{-1074, -1000}, std::pair{-40, 40}, std::pair{900, 1010});
  const std::size_t num = GENERATE(1U, 2U, 7U, 1000U);
  CAPTURE(least, greatest, num);
  std::mt19937_64 random{3};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<double> numbers = Draw(num, least, greatest, seed);
    const auto expected = std::bit_cast<std::uint64_t>(SumOf(numbers));
    std::ranges::shuffle(numbers, random);
    CHECK(std::bit_cast<std::uint64_t>(SumOf(numbers)) == expected);
    std::vector<ExactSum> parts(1 + random() % 9);
    for (const double number : numbers) parts[random() % parts.size()].Add(number);
    while (parts.size() > 1) {
      const ExactSum last = parts.back();
      parts.pop_back();
      parts[random() % parts.size()].Merge(last);
    }
    CHECK(std::bit_cast<std::uint64_t>(parts.front().Value()) == expected);
  }
}

TEST_CASE("A sum is exact but for digits far below the largest number") {
  __extension__ using Wide = __int128;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    // Each number is a multiple of 2^-113, so the reference is exact.
    constexpr std::size_t num = 200;
    const std::vector<double> numbers = Draw(num, -60, 0, seed);
    Wide reference = 0;
    double largest = 0;
    for (const double number : numbers) {
      int exponent = 0;
      const auto digits = static_cast<std::int64_t>(std::ldexp(std::frexp(number, &exponent), 53));
      reference += Wide{digits} << (exponent - 53 + 113);
      largest = std::max(largest, std::abs(number));
    }
    const double rounded = std::ldexp(static_cast<double>(reference), -113);
    const double bound = std::ldexp(num * largest, -60) + std::abs(rounded) * std::numeric_limits<double>::epsilon() / 2;
    CHECK(std::abs(SumOf(numbers) - rounded) <= bound);
  }
  CHECK(SumOf({1e16, 1, -1e16}) == 1);
  CHECK(SumOf({1e300, std::ldexp(1, 940), -1e300}) == std::ldexp(1, 940));  // 57 places below
  CHECK(SumOf({0.1, 0.2, -0.3}) == std::ldexp(1.0, -55));                   // 0.1 + 0.2 is 0.3 in decimal digits only
  // 2^6 is the first of its group, and 2^-54 the last of the third.
  CHECK(SumOf({std::ldexp(1, 6), std::ldexp(1, -54), -std::ldexp(1, 6)}) == std::ldexp(1, -54));
  CHECK(SumOf({std::ldexp(1, 6), std::ldexp(1, -55), -std::ldexp(1, 6)}) == 0);
}

TEST_CASE("Sums of many numbers, of the smallest and of the largest are right") {
  ExactSum many;
  for (int i = 0; i < 3'000'000; ++i) many.Add(i % 3 == 0 ? -0.75 : 1.25);
  CHECK(many.Value() == 1'750'000);
  // 2^33 times the number whose digits fill the highest group.
  for (const double sign : {1.0, -1.0}) {
    ExactSum doubled;
    const double full = sign * std::ldexp(2 - std::numeric_limits<double>::epsilon(), 5);
    doubled.Add(full);
    for (int i = 0; i < 33; ++i) doubled.Merge(ExactSum{doubled});
    CHECK(doubled.Value() == std::ldexp(full, 33));
  }
  CHECK(SumOf({5e-324, 5e-324, -1e-323}) == 0);
  CHECK(SumOf({5e-324, 1e-310}) == 1e-310 + 5e-324);
  constexpr double greatest = std::numeric_limits<double>::max();
  CHECK(SumOf({greatest, greatest, -greatest}) == greatest);
  CHECK(SumOf({greatest, greatest}) == infinity);
  CHECK(SumOf({-greatest, -greatest}) == -infinity);
}

TEST_CASE("A sum of no number is empty, and of zeros is zero") {
  CHECK(ExactSum{}.IsEmpty());
  ExactSum sum;
  sum.Merge(ExactSum{});
  CHECK(sum.IsEmpty());
  sum.Add(-0.0);
  CHECK_FALSE(sum.IsEmpty());
  CHECK(sum.Value() == 0);
  sum.Merge(ExactSum{});
  CHECK_FALSE(sum.IsEmpty());
}

TEST_CASE("What is no number stays in a sum") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::isnan(SumOf({1, nan, 2})));
  CHECK(std::isnan(SumOf({infinity, nan})));
  CHECK(std::isnan(SumOf({infinity, -infinity})));
  CHECK(SumOf({1, infinity, -1e308, -1e308}) == infinity);
  CHECK(SumOf({-infinity, 1e308}) == -infinity);
  ExactSum sum;
  sum.Add(2);
  ExactSum other;
  other.Add(-infinity);
  sum.Merge(other);
  CHECK(sum.Value() == -infinity);
}
