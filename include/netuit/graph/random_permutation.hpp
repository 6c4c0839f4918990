#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <netuit/graph/random_stream.hpp>
#include <netuit/graph/topology.hpp>

namespace netuit {

/// The numbers 0 … count - 1 in a random order, which a random stream determines. Any process can compute the number at any place,
/// in constant time and memory.
///
///     const RandomPermutation number{num_nodes, RandomStream{seed}};
///     number(0);  // one of 0 … num_nodes - 1, and another one for each argument
///
/// A Feistel network on the smallest number of bits that can count all numbers. Numbers that are too large go through the network
/// again until they are small enough (cycle walking; Black and Rogaway 2002), which takes less than two passes on average.
class RandomPermutation {
 public:
  /// Permutes `count` numbers, in an order that the first draws of `random` determine.
  constexpr RandomPermutation(NodeId count, RandomStream random) : count_(count) {
    const auto num_bits = static_cast<unsigned>(count < 2 ? 0 : std::bit_width(count - 1));
    num_low_ = num_bits / 2;
    low_mask_ = (NodeId{1} << num_low_) - 1;
    high_mask_ = (NodeId{1} << (num_bits - num_low_)) - 1;
    for (std::uint64_t& key : keys_) key = random.Next();
  }

  /// Returns the number at a place. Requires place < count.
  constexpr NodeId operator()(NodeId place) const {
    NodeId number = place;
    do number = Pass(number);
    while (number >= count_);
    return number;
  }

 private:
  constexpr NodeId Pass(NodeId number) const {
    NodeId low = number & low_mask_;
    NodeId high = number >> num_low_;
    for (std::size_t round = 0; round < keys_.size(); round += 2) {  // the halves may differ in size, so they do not swap
      high ^= static_cast<NodeId>(MixBits(keys_[round] ^ low)) & high_mask_;
      low ^= static_cast<NodeId>(MixBits(keys_[round + 1] ^ high)) & low_mask_;
    }
    return high << num_low_ | low;
  }

  NodeId count_;
  unsigned num_low_ = 0;  // bits of the low half
  NodeId low_mask_ = 0;
  NodeId high_mask_ = 0;
  std::array<std::uint64_t, 8> keys_{};  // by round
};

}  // namespace netuit
