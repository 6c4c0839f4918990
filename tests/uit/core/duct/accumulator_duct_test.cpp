#include <cstdint>
#include <limits>
#include <tuple>

#include <uit/duct/accumulator_duct.hpp>
#include <uit/duct/fold.hpp>

#include "tests/support/catch.hpp"

using uit::AccumulatorDuct;
using uit::Foldable;
using uit::Spsc;
using uit::TryFold;
using uit::Unsynchronized;

namespace {

using Syncs = std::tuple<Unsynchronized, Spsc>;

/// Several integers, which are accepted together or not at all.
struct Stock {
  std::int32_t ore = 0;
  std::uint8_t gems = 0;
  bool TryFold(const Stock& other) {
    Stock sum = *this;
    if (!uit::TryFold(sum.ore, other.ore) || !uit::TryFold(sum.gems, other.gems)) return false;
    *this = sum;
    return true;
  }
  friend bool operator==(const Stock&, const Stock&) = default;
};

/// An amount without an upper limit.
struct Fixed {
  std::int64_t thousandths = 0;
  Fixed& operator+=(Fixed other) {
    thousandths += other.thousandths;
    return *this;
  }
};

struct Reading {
  float celsius = 0;
};

enum class Color { red };

template <typename T>
void CheckLimits() {
  constexpr T most = std::numeric_limits<T>::max();
  constexpr T least = std::numeric_limits<T>::min();
  T sum = most;
  CHECK_FALSE(TryFold(sum, T{1}));
  CHECK(sum == most);
  CHECK(TryFold(sum, T{0}));
  sum = static_cast<T>(most - 1);
  CHECK(TryFold(sum, T{1}));
  CHECK(sum == most);
  if constexpr (least < 0) {
    CHECK(TryFold(sum, least));
    CHECK(sum == -1);
    sum = least;
    CHECK_FALSE(TryFold(sum, static_cast<T>(-1)));
    CHECK(sum == least);
  }
}

}  // namespace

TEST_CASE("Numbers and types with a sum can be folded") {
  STATIC_REQUIRE((Foldable<int> && Foldable<std::uint64_t> && Foldable<char> && Foldable<Stock> && Foldable<Fixed>));
  STATIC_REQUIRE((Foldable<float> && Foldable<double> && Foldable<long double>));
  STATIC_REQUIRE_FALSE((Foldable<bool> || Foldable<Reading> || Foldable<Color> || Foldable<int*>));
}

TEMPLATE_LIST_TEST_CASE("Floating-point numbers are added as they arrive", "", Syncs) {
  AccumulatorDuct<double, TestType> duct;
  CHECK(duct.TryPut(0.5));
  CHECK(duct.TryPut(0.25));
  CHECK(duct.TryStep(1) == 1);
  CHECK(duct.Get() == 0.75);
  CHECK(duct.TryStep(1) == 0);
  CHECK(duct.Get() == 0);
}

TEST_CASE("Integers of every width are added up to their last value, and no further") {
  CheckLimits<std::int8_t>();
  CheckLimits<std::uint8_t>();
  CheckLimits<std::int16_t>();
  CheckLimits<std::uint16_t>();
  CheckLimits<std::int32_t>();
  CheckLimits<std::uint32_t>();
  CheckLimits<std::int64_t>();
  CheckLimits<std::uint64_t>();
}

TEMPLATE_LIST_TEST_CASE("A type decides itself when a sum is too large", "", Syncs) {
  AccumulatorDuct<Stock, TestType> duct;
  CHECK(duct.TryPut({.ore = -5, .gems = 200}));
  CHECK_FALSE(duct.TryPut({.ore = 1, .gems = 56}));
  CHECK(duct.TryPut({.ore = 1, .gems = 55}));
  CHECK(duct.TryStep(1) == 1);
  CHECK(duct.Get() == Stock{.ore = -4, .gems = 255});
  CHECK(duct.TryStep(1) == 0);
  CHECK(duct.Get() == Stock{});
}

TEMPLATE_LIST_TEST_CASE("A sum that would overflow is refused until it has been taken", "", Syncs) {
  AccumulatorDuct<std::int8_t, TestType> duct;
  CHECK(duct.TryPut(100));
  CHECK_FALSE(duct.TryPut(28));
  CHECK(duct.TryPut(-128));
  CHECK(duct.TryPut(-100));
  CHECK_FALSE(duct.TryPut(-1));
  CHECK(duct.NumUnread() == 3);
  CHECK(duct.TryStep(1) == 1);
  CHECK(duct.Get() == -128);
  CHECK(duct.NumFolded() == 2);
  CHECK(duct.TryPut(-1));
  CHECK(duct.NumAccepted() == 4);
  CHECK(duct.NumUnread() == 1);
}

TEMPLATE_LIST_TEST_CASE("A sum of several messages still counts all of them", "", Syncs) {
  AccumulatorDuct<int, TestType> duct;
  CHECK(duct.TryCarry(30, 3));
  CHECK(duct.TryPut(4));
  CHECK(duct.TryStep(1) == 1);
  CHECK(duct.Get() == 34);
  CHECK(duct.NumFolded() == 3);
  CHECK(duct.NumAccepted() == 4);
}

TEST_CASE("A held accumulator shows its sum at the refresh, and refuses what might not have room") {
  AccumulatorDuct<std::uint8_t, Unsynchronized> duct;
  CHECK(duct.TryPut(100));
  duct.HoldInlet(true);
  CHECK(duct.IsInletHeld());
  CHECK(duct.TryPut(100));
  CHECK_FALSE(duct.TryPut(56));  // together with what waits
  CHECK(duct.TryStep(1) == 1);
  CHECK(duct.Get() == 100);
  CHECK_FALSE(duct.TryPut(56));  // what waited has gone, but a held inlet must not notice
  CHECK(duct.TryPut(55));
  CHECK(duct.TryStep(1) == 0);
  CHECK(duct.NumUnread() == 2);
  duct.RefreshInlet();
  CHECK(duct.TryStep(1) == 1);
  CHECK(duct.Get() == 155);
  CHECK_FALSE(duct.TryPut(101));  // it would have room only if the inlet noticed that the sum was taken
  CHECK(duct.TryPut(100));
  duct.RefreshInlet();
  CHECK(duct.TryPut(155));
  CHECK_FALSE(duct.TryPut(1));
  duct.HoldInlet(false);
  CHECK(duct.TryStep(1) == 1);
  CHECK(duct.Get() == 255);
  CHECK(duct.TryPut(255));
  CHECK(duct.NumAccepted() == duct.NumPassed() + duct.NumFolded() + 1);
}
