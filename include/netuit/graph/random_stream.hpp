#pragma once

#include <cstdint>

namespace netuit {

/// A bijection of 64 bits in which each bit of the argument affects each bit of the result: the
/// finaliser of splitmix64.
constexpr std::uint64_t MixBits(std::uint64_t value) {
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

/// Random numbers that are the same on every platform: draw k of a stream depends only on (seed,
/// stream, k).
///
///     RandomStream random{seed, node};
///     if (random.Uniform() < 0.1) target = random.Below(num_nodes);
///
/// The generator is splitmix64 (Steele, Lea, Flood 2014).
class RandomStream {
 public:
  /// Streams of one seed are independent, as are those of different seeds.
  constexpr explicit RandomStream(std::uint64_t seed, std::uint64_t stream = 0)
      : counter_{MixBits(MixBits(seed + golden) ^ (stream * golden))} {}

  /// 64 random bits.
  constexpr std::uint64_t Next() { return MixBits(counter_ += golden); }

  /// Uniform in 0 … bound - 1 without bias (Lemire 2019). Requires bound > 0.
  constexpr std::uint32_t Below(std::uint32_t bound) {
    const std::uint32_t biased = (0U - bound) % bound;
    for (;;) {
      const std::uint64_t product = (Next() >> 32U) * bound;
      if (static_cast<std::uint32_t>(product) >= biased) return static_cast<std::uint32_t>(product >> 32U);
    }
  }

  /// Uniform in [0, 1), a multiple of 2^-53.
  constexpr double Uniform() { return static_cast<double>(Next() >> 11U) * 0x1p-53; }

 private:
  static constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;

  std::uint64_t counter_;
};

}  // namespace netuit
