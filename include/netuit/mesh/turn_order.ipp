#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/mesh/turn_order.hpp>
#include <uit/config.hpp>

namespace netuit::detail {

UIT_DEFINE void TurnOrder::Begin(const std::vector<std::unique_ptr<Partition>>& partitions, std::uint64_t update, bool is_by_level) {
  struct Node {
    std::uint32_t level;
    NodeId id;
    std::size_t number;
  };
  std::vector<Node> nodes;
  for (const auto& partition : partitions) {
    const std::vector<std::uint32_t>& levels = partition->graph.levels;
    for (std::size_t i = 0; i < partition->NumNodes(); ++i)
      nodes.push_back({is_by_level && !levels.empty() ? levels[i] : 0, partition->graph.nodes[i], partition->first_local + i});
  }
  std::ranges::sort(nodes, {}, [](const Node& node) { return std::tuple(node.level, node.id); });
  places_.assign(nodes.size(), 0);
  first_places_.clear();
  std::uint32_t place = 0;
  for (const Node& node : nodes) {
    places_[node.number] = ++place;
    while (first_places_.size() <= node.level) first_places_.push_back(place);
  }
  for (std::size_t thread = 0; thread < partitions.size(); ++thread) habits_[thread] = &partitions[thread]->spin_habit;
  is_in_run_ = true;
  first_ = update;
  turns_.Begin(update);
}

}  // namespace netuit::detail
