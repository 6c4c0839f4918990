#include "keys.hpp"

#include <uit/support/error.hpp>

namespace int_sort {
namespace {

constexpr std::array<Class, 4> classes{{
    {'S', 16, 11, {48'427, 17'148, 23'627, 62'548, 4'431}, {1, 19, 347, 64'916, 65'462}},
    {'W', 20, 16, {357'773, 934'767, 875'723, 898'999, 404'505}, {1'248, 11'697, 1'039'986, 1'043'895, 1'048'017}},
    {'A', 23, 19, {2'112'377, 662'041, 5'336'171, 3'642'833, 4'250'760}, {104, 17'523, 123'928, 8'288'932, 8'388'264}},
    {'B', 25, 21, {41'869, 812'306, 5'102'857, 18'232'239, 26'860'214}, {33'422'936, 10'245, 59'150, 33'135'280, 100}},
}};

/// The linear congruential generator of the NAS benchmarks: 46 bits.
class Random {
 public:
  /// Begins after `num_skipped` numbers.
  explicit Random(std::uint64_t num_skipped) {
    std::uint64_t factor = multiplier;
    for (; num_skipped != 0; num_skipped /= 2) {
      if (num_skipped % 2 != 0) state_ = state_ * factor & mask;
      factor = factor * factor & mask;
    }
  }
  /// The next number, below 2^46.
  std::uint64_t Next() { return state_ = state_ * multiplier & mask; }

 private:
  static constexpr std::uint64_t mask = (std::uint64_t{1} << 46U) - 1;
  static constexpr std::uint64_t multiplier = 1'220'703'125;  // 5^13
  std::uint64_t state_ = 314'159'265;
};

}  // namespace

const Class& ClassOf(const std::string& name) {
  for (const Class& size : classes)
    if (name.size() == 1 && name[0] == size.name) return size;
  throw uit::InputError("--class " + name + ": not one of S, W, A and B");
}

std::vector<Key> MakeKeys(const Class& size, Range range) {
  Random random{4 * range.begin};
  std::vector<Key> keys;
  keys.reserve(range.end - range.begin);
  for (std::uint64_t i = range.begin; i < range.end; ++i) {
    const std::uint64_t sum = random.Next() + random.Next() + random.Next() + random.Next();  // below 2^48
    keys.push_back(static_cast<Key>(sum >> (48U - size.log2_most)));
  }
  const auto change = [&](std::uint64_t position, std::uint64_t key) {
    if (range.begin <= position && position < range.end) keys[position - range.begin] = static_cast<Key>(key);
  };
  change(1, 1);
  change(11, (std::uint64_t{1} << size.log2_most) - 1);
  return keys;
}

Mix MixOf(std::span<const Key> keys) {
  Mix mix{.count = keys.size()};
  for (const Key key : keys) {
    std::uint64_t bits = key + 0x9E3779B97F4A7C15ULL;  // SplitMix64
    bits = (bits ^ bits >> 30U) * 0xBF58476D1CE4E5B9ULL;
    bits = (bits ^ bits >> 27U) * 0x94D049BB133111EBULL;
    mix.sum += bits ^ bits >> 31U;
  }
  return mix;
}

}  // namespace int_sort
