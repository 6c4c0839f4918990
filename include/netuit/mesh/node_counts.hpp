#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <uit/config.hpp>

namespace netuit {

/// How many values each node of a worker has published: one count for all, and the few nodes' deviations from it, so that
/// an update in which every node publishes costs one addition.
class NodeCounts {
 public:
  /// What one node, numbered within the worker, has published.
  std::uint64_t Of(std::uint32_t node) const {
    return base_ + (deviations_.empty() ? 0 : static_cast<std::uint64_t>(deviations_[node]));
  }
  /// No node differs from Base.
  bool IsUniform() const { return deviations_.empty(); }
  /// What a node without deviation has published.
  std::uint64_t Base() const { return base_; }
  /// Every node has published once more.
  void AddOneEach() { ++base_; }
  /// But this one differs.
  UIT_NOINLINE void Deviate(std::uint32_t node, std::int64_t by, std::size_t num_nodes) {
    if (deviations_.empty()) deviations_.resize(num_nodes);
    deviations_[node] += by;
  }

 private:
  std::uint64_t base_ = 0;
  std::vector<std::int64_t> deviations_;  // empty while there are none; modulo 2^64 beside base_
};

}  // namespace netuit
