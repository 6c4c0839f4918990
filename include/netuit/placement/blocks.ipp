#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/placement/blocks.hpp>
#include <netuit/placement/placement.hpp>
#include <uit/config.hpp>
#include <uit/support/error.hpp>

namespace netuit {

UIT_DEFINE Blocks::Blocks(Workers workers, std::vector<NodeId> first) : workers_(workers), first_(std::move(first)) {
  if (first_.size() != std::size_t{workers.Count()} + 1 || first_.front() != 0)
    throw uit::InputError("blocks need the first node of each worker, which is 0 for the first");
  if (std::ranges::adjacent_find(first_, std::greater_equal{}) != first_.end())
    throw uit::InputError("each worker needs a block of at least one node");
}

UIT_DEFINE Blocks Blocks::OfEqualSizes(NodeId num_nodes, Workers workers) {
  const std::uint64_t count = CountWorkersFor(num_nodes, workers);
  std::vector<NodeId> first;
  for (std::uint64_t worker = 0; worker <= count; ++worker)
    first.push_back(static_cast<NodeId>((worker * num_nodes + count - 1) / count));
  return {workers, std::move(first)};
}

UIT_DEFINE std::uint32_t Blocks::WorkerOf(NodeId node) const {
  return static_cast<std::uint32_t>(std::ranges::upper_bound(first_, node) - first_.begin()) - 1;
}

}  // namespace netuit
