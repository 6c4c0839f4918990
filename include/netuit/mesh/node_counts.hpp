#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <uit/config.hpp>

namespace netuit {

/// Counts how many values each node of a worker has published. It stores one count for all nodes, and deviations of single
/// nodes. An update in which every node publishes therefore costs one addition.
class NodeCounts {
 public:
  /// Returns the count of one node, by its number within the worker.
  std::uint64_t Of(std::uint32_t node) const {
    return base_ + (deviations_.empty() ? 0 : static_cast<std::uint64_t>(deviations_[node]));
  }
  /// Whether no node deviates from Base().
  bool IsUniform() const { return deviations_.empty(); }
  /// Returns the count of a node without deviation.
  std::uint64_t Base() const { return base_; }
  /// Counts one more value for every node.
  void AddOneEach() { ++base_; }
  /// Adds `by` to the deviation of one node.
  UIT_NOINLINE void Deviate(std::uint32_t node, std::int64_t by, std::size_t num_nodes) {
    if (deviations_.empty()) deviations_.resize(num_nodes);
    deviations_[node] += by;
  }

 private:
  std::uint64_t base_ = 0;
  std::vector<std::int64_t> deviations_;  // empty while no node deviates; added to base_ modulo 2^64
};

}  // namespace netuit
