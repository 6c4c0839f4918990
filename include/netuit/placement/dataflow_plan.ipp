#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <netuit/graph/edge_delays.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/placement/dataflow_plan.hpp>
#include <netuit/placement/placement.hpp>
#include <uit/config.hpp>
#include <uit/support/error.hpp>

namespace netuit {

UIT_DEFINE DataflowPlan::DataflowPlan(const Topology& graph, const EdgeDelays& delays, const Placement& placement) {
  if (placement.NumNodes() != graph.NumNodes()) {
    throw uit::InputError("the placement is of " + std::to_string(placement.NumNodes()) + " nodes, the graph has " +
                          std::to_string(graph.NumNodes()));
  }
  const std::vector<std::uint16_t> by_edge = delays.Of(graph);
  const auto delay_of = [&](EdgeId edge) { return by_edge.empty() ? std::uint32_t{1} : by_edge[edge]; };
  std::vector<std::uint32_t> levels = FindLevels({&graph}, {by_edge});
  levels.resize(graph.NumNodes());

  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> positions;  // by worker and level
  for (NodeId node = 0; node < graph.NumNodes(); ++node) positions[{placement.WorkerOf(node), levels[node]}] = 0;
  for (auto& [worker_and_level, position] : positions) {
    position = groups_.size();
    groups_.push_back({.worker = worker_and_level.first, .level = worker_and_level.second});
  }
  const auto group_of = [&](NodeId node) { return positions.at({placement.WorkerOf(node), levels[node]}); };
  for (NodeId node = 0; node < graph.NumNodes(); ++node) groups_[group_of(node)].nodes.push_back(node);

  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> lags;  // by worker that sends and that receives
  for (EdgeId edge = 0; edge < graph.NumEdges(); ++edge) {
    const std::pair ends{placement.WorkerOf(graph.Source(edge)), placement.WorkerOf(graph.Target(edge))};
    const auto [at, is_new] = lags.try_emplace(ends, delay_of(edge));
    at->second = std::min(at->second, delay_of(edge));
  }
  std::vector<std::set<Need>> needs(groups_.size());
  std::map<std::pair<std::size_t, std::uint32_t>, std::set<NodeId>> sent;  // by group and receiver
  for (EdgeId edge = 0; edge < graph.NumEdges(); ++edge) {
    const std::uint32_t from = placement.WorkerOf(graph.Source(edge));
    const std::uint32_t to = placement.WorkerOf(graph.Target(edge));
    if (from == to) continue;
    sent[{group_of(graph.Source(edge)), to}].insert(graph.Source(edge));
    const std::uint32_t back = delay_of(edge) == 0 ? 0 : std::max<std::uint32_t>(1, lags.at({from, to}));
    needs[group_of(graph.Target(edge))].insert({group_of(graph.Source(edge)), back});
  }
  for (const auto& [key, nodes] : sent) messages_.push_back({.group = key.first, .to = key.second, .num_values = nodes.size()});
  for (const auto& of : needs) needs_.emplace_back(of.begin(), of.end());
}

UIT_DEFINE std::size_t DataflowPlan::NumValues() const {
  std::size_t num_values = 0;
  for (const Message& message : messages_) num_values += message.num_values;
  return num_values;
}

UIT_DEFINE double DataflowPlan::TimePerUpdate(const std::function<double(NodeId)>& node_cost, double message_cost) const {
  if (groups_.empty()) return 0;
  std::vector<double> costs(groups_.size());
  for (std::size_t i = 0; i < groups_.size(); ++i)
    for (const NodeId node : groups_[i].nodes) costs[i] += node_cost ? node_cost(node) : 1;
  std::vector<std::size_t> order(groups_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [this](std::size_t i) { return std::pair{groups_[i].level, i}; });

  constexpr std::size_t half = 64;
  std::vector<std::vector<double>> ends;            // by update and group
  std::map<std::uint32_t, double> is_free;          // by worker: when its last group has ended
  double end_of_first_half = 0;
  double end_of_all = 0;
  for (std::size_t update = 0; update < 2 * half; ++update) {
    ends.emplace_back(groups_.size());
    for (const std::size_t i : order) {
      double& free = is_free[groups_[i].worker];
      for (const Need& need : needs_[i])
        if (need.back <= update) free = std::max(free, ends[update - need.back][need.from] + message_cost);
      ends[update][i] = free += costs[i];
    }
    const double end = std::ranges::max(ends.back());
    if (update + 1 == half) end_of_first_half = end;
    end_of_all = end;
  }
  return (end_of_all - end_of_first_half) / half;
}

UIT_DEFINE void DataflowPlan::WriteDot(std::ostream& to) const {
  to << "digraph plan {\n  rankdir=LR;\n  node [shape=box];\n";
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    to << "  g" << i << " [label=\"worker " << groups_[i].worker << "\\nlevel " << groups_[i].level << ": "
       << groups_[i].nodes.size() << (groups_[i].nodes.size() == 1 ? " node" : " nodes") << "\"];\n";
    if (i != 0 && groups_[i].worker == groups_[i - 1].worker) to << "  g" << i - 1 << " -> g" << i << " [weight=10];\n";
  }
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    for (const Need& need : needs_[i]) {
      to << "  g" << need.from << " -> g" << i;
      if (need.back != 0) to << " [style=dashed, label=\"-" << need.back << "\"]";
      to << ";\n";
    }
  }
  to << "}\n";
}

}  // namespace netuit
