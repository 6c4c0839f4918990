#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include <netuit/graph/label.hpp>
#include <uit/config.hpp>

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
    if (num_drawn_ % 4 == 0) DrawBlock();
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
  /// Draws the next four numbers.
  void DrawBlock();

  std::uint64_t seed_;
  std::uint64_t update_;
  NodeId node_;
  std::uint32_t num_drawn_ = 0;
  std::array<std::uint32_t, 4> block_{};
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/node_random.ipp>
#endif
