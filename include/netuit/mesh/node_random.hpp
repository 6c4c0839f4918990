#pragma once

#include <cstdint>
#include <limits>

// Random123 includes every intrinsics header unless these macros select the ones it uses. That would cost a second of compile
// time.
#if (defined(__x86_64__) || defined(__i386__)) && !defined(R123_USE_X86INTRIN_H)
#define R123_USE_X86INTRIN_H 0
#define R123_USE_EMMINTRIN_H 1
#ifdef __SSE4_1__
#define R123_USE_SMMINTRIN_H 1
#endif
#ifdef __AES__
#define R123_USE_WMMINTRIN_H 1
#endif
#endif
#include <Random123/philox.h>

#include <netuit/graph/label.hpp>

namespace netuit {

/// A node's random numbers in one update. Draw k is a function of (seed, node, update, k) only, so it is the same on any thread
/// or process. Uses Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011) from Random123. Costs nothing before the first draw. Models
/// UniformRandomBitGenerator.
class NodeRandom {
 public:
  using result_type = std::uint32_t;  ///< type of a draw

  /// The random numbers of one node in one update.
  NodeRandom(std::uint64_t seed, NodeId node, std::uint64_t update) : seed_(seed), update_(update), node_(node) {}

  static constexpr result_type min() { return 0; }  ///< smallest possible draw
  /// Largest possible draw.
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }

  /// Draws 32 random bits.
  result_type operator()() {
    if (num_drawn_ % 4 == 0) {
      const r123::Philox4x32::ctr_type counter{{node_, static_cast<std::uint32_t>(update_),
                                                static_cast<std::uint32_t>(update_ >> 32U), num_drawn_ / 4}};
      block_ = r123::Philox4x32{}(counter, {{static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32U)}});
    }
    return block_[num_drawn_++ % 4];
  }
  /// Draws an integer from 0 … bound - 1, uniformly and without bias (Lemire 2019). Requires bound > 0.
  std::uint32_t Below(std::uint32_t bound) {
    const std::uint32_t biased = (0U - bound) % bound;
    for (;;) {
      const std::uint64_t product = std::uint64_t{(*this)()} * bound;
      if (static_cast<std::uint32_t>(product) >= biased) return static_cast<std::uint32_t>(product >> 32U);
    }
  }
  /// Draws a multiple of 2^-32 from [0, 1), uniformly.
  double Uniform() { return (*this)() * 0x1p-32; }

 private:
  std::uint64_t seed_;
  std::uint64_t update_;
  NodeId node_;
  std::uint32_t num_drawn_ = 0;
  r123::Philox4x32::ctr_type block_{};
};

}  // namespace netuit
