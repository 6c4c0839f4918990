#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <netuit/graph/edge_delays.hpp>
#include <netuit/graph/graph.hpp>
#include <netuit/graph/label_index.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh_core.hpp>
#include <netuit/mesh/root_networks.hpp>
#include <netuit/mesh/worker_graph.hpp>
#include <netuit/placement/metis.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/mesh/on_root.hpp>
#include <uit/config.hpp>
#include <uit/support/error.hpp>
#include <uit/team/team.hpp>

namespace netuit::detail {

/// Gives all graphs the same nodes, numbered in the order in which their labels first occur. In a graph with weights of nodes, a
/// node that the graph lacks weighs 0; but if no graph with weights has the node, it weighs 1 in the first of them.
UIT_DEFINE std::vector<Topology> AlignNodes(const std::vector<const Topology*>& graphs) {
  LabelIndex index;
  std::vector<std::vector<NodeId>> numbers;  // by graph and node
  for (const Topology* const graph : graphs) {
    std::vector<NodeId>& of_graph = numbers.emplace_back();
    for (NodeId node = 0; node < graph->NumNodes(); ++node) of_graph.push_back(index.FindOrAdd(graph->Label(node)));
  }
  const Labels labels = index.Take();
  std::vector<double> default_loads(labels.Size(), 1);
  for (std::size_t i = 0; i < graphs.size(); ++i)
    for (NodeId node = 0; graphs[i]->HasNodeWeights() && node < graphs[i]->NumNodes(); ++node) default_loads[numbers[i][node]] = 0;
  std::vector<Topology> aligned;
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    const Topology& graph = *graphs[i];
    std::vector<Edge> edges;
    for (EdgeId edge = 0; edge < graph.NumEdges(); ++edge)
      edges.push_back({numbers[i][graph.Source(edge)], numbers[i][graph.Target(edge)], graph.EdgeWeight(edge)});
    std::vector<double> loads;
    if (graph.HasNodeWeights()) {
      loads = std::exchange(default_loads, std::vector<double>(labels.Size(), 0));
      for (NodeId node = 0; node < graph.NumNodes(); ++node) loads[numbers[i][node]] = graph.NodeWeight(node);
    }
    aligned.emplace_back(static_cast<NodeId>(labels.Size()), std::move(edges), labels, std::move(loads));
  }
  return aligned;
}

/// Combines the edges of all graphs. Each edge weighs its traffic per update, and each node the sum of its weights in the graphs
/// that have weights of nodes. The graphs must have the same nodes.
UIT_DEFINE Topology Overlay(const std::vector<const Topology*>& graphs, const std::vector<std::uint64_t>& periods) {
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    const Topology& graph = *graphs[i];
    for (EdgeId edge = 0; edge < graph.NumEdges(); ++edge)
      edges.push_back({graph.Source(edge), graph.Target(edge), graph.EdgeWeight(edge) / static_cast<double>(periods[i])});
  }
  const NodeId num_nodes = graphs.front()->NumNodes();
  std::vector<double> loads;
  for (const Topology* const graph : graphs) {
    if (!graph->HasNodeWeights()) continue;
    loads.resize(num_nodes, 0);
    for (NodeId node = 0; node < num_nodes; ++node) loads[node] += graph->NodeWeight(node);
  }
  return {num_nodes, std::move(edges), {}, std::move(loads)};
}

UIT_DEFINE RootNetworks::RootNetworks(const uit::Team& team, const std::vector<NamedNetwork>& networks,
                                      const std::optional<Placement>& placement)
    : world_(team.GetWorld()) {
  if (networks.empty()) throw uit::InputError("a mesh needs at least one network");
  for (const NamedNetwork& network : networks) {
    if (network.options.period == 0)
      throw uit::InputError("the period of network '" + network.name + "' must be at least one update");
    periods_.push_back(network.options.period);
    names_.push_back(network.name);
  }
  placement_ = OnRoot(world_, [&] {
    for (const NamedNetwork& network : networks) graphs_.push_back(&network.graph.Get());
    if (!HaveSameNodes()) {
      aligned_ = AlignNodes(graphs_);
      for (std::size_t i = 0; i < graphs_.size(); ++i) graphs_[i] = &aligned_[i];
    }
    FindDelays(networks);
    if (placement) return *placement;
    const Workers workers{.processes = team.NumProcesses(), .threads = team.NumThreads()};
    return graphs_.size() == 1 ? PlaceByMetis(*graphs_.front(), workers) : PlaceByMetis(Overlay(graphs_, periods_), workers);
  });
  if (!team.IsRoot()) graphs_.assign(networks.size(), &nothing_);
  delays_.resize(networks.size());
}

UIT_DEFINE DistributedNetworks RootNetworks::Distribute() const {
  DistributedNetworks networks{.graphs = {}, .periods = periods_, .names = names_};
  for (std::size_t i = 0; i < graphs_.size(); ++i)
    networks.graphs.push_back(ScatterGraph(*graphs_[i], placement_, world_, delays_[i]));
  return networks;
}

UIT_DEFINE void RootNetworks::FindDelays(const std::vector<NamedNetwork>& networks) {
  std::vector<std::vector<std::uint16_t>> by_edge;
  for (std::size_t i = 0; i < networks.size(); ++i) {
    by_edge.push_back(networks[i].options.delays.Of(*graphs_[i]));
    if (by_edge.back().empty() || periods_[i] == 1) continue;
    throw uit::InputError("network '" + networks[i].name + "' has delays other than 1 and a period of " +
                          std::to_string(periods_[i]) + " updates; only a network with period 1 can have such delays");
  }
  const std::vector<std::uint32_t> levels = FindLevels(graphs_, by_edge);
  for (auto& delays : by_edge) delays_.push_back({std::move(delays), levels});
}

UIT_DEFINE bool RootNetworks::HaveSameNodes() const {
  for (const Topology* const graph : graphs_) {
    if (graph->NumNodes() != graphs_.front()->NumNodes() || graph->HasLabels() != graphs_.front()->HasLabels()) return false;
    for (NodeId node = 0; graph->HasLabels() && node < graph->NumNodes(); ++node)
      if (graph->Label(node) != graphs_.front()->Label(node)) return false;
  }
  return true;
}

}  // namespace netuit::detail
