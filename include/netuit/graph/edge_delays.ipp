#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <netuit/graph/edge_delays.hpp>
#include <netuit/graph/topology.hpp>
#include <uit/config.hpp>
#include <uit/support/error.hpp>

namespace netuit {

UIT_DEFINE std::vector<std::uint16_t> EdgeDelays::Of(const Topology& graph) const {
  if (!find_) return {};
  const std::vector<std::int64_t> found = find_(graph);
  if (found.size() != graph.NumEdges()) {
    throw uit::InputError("delays are given for " + std::to_string(found.size()) + " edges, but the network has " +
                          std::to_string(graph.NumEdges()));
  }
  for (EdgeId edge = 0; edge < found.size(); ++edge) {
    if (found[edge] >= 0 && found[edge] <= max_edge_delay) continue;
    throw uit::InputError("the edge from " + graph.Label(graph.Source(edge)) + " to " + graph.Label(graph.Target(edge)) +
                          " has delay " + std::to_string(found[edge]) + "; a delay is between 0 and " +
                          std::to_string(max_edge_delay));
  }
  if (std::ranges::all_of(found, [](std::int64_t delay) { return delay == 1; })) return {};
  return {found.begin(), found.end()};
}

UIT_DEFINE EdgeDelays GaussSeidel() {
  return [](NodeId source, NodeId target) { return source < target ? 0 : 1; };
}

UIT_DEFINE EdgeDelays GaussSeidelByColor() {
  return [](const Topology& graph) {
    const std::vector<std::uint32_t> colors = ColorNodes(graph);
    std::vector<std::int64_t> delays;
    for (EdgeId edge = 0; edge < graph.NumEdges(); ++edge)
      delays.push_back(colors[graph.Source(edge)] < colors[graph.Target(edge)] ? 0 : 1);
    return delays;
  };
}

UIT_DEFINE std::vector<std::uint32_t> ColorNodes(const Topology& graph) {
  constexpr std::uint32_t none = ~std::uint32_t{0};
  std::vector<std::uint32_t> colors(graph.NumNodes(), none);
  std::vector<NodeId> queue;
  std::vector<bool> is_queued(graph.NumNodes());
  std::vector<bool> is_taken;
  const auto visit_neighbors = [&](NodeId node, auto&& visit) {
    for (const NodeId target : graph.OutNeighbors(node)) visit(target);
    for (const EdgeId edge : graph.InEdges(node)) visit(graph.Source(edge));
  };
  for (NodeId first = 0; first < graph.NumNodes(); ++first) {
    if (is_queued[first]) continue;
    queue.assign(1, first);
    is_queued[first] = true;
    for (std::size_t next = 0; next < queue.size(); ++next) {
      const NodeId node = queue[next];
      is_taken.clear();
      visit_neighbors(node, [&](NodeId neighbor) {
        if (!is_queued[neighbor]) queue.push_back(neighbor);
        is_queued[neighbor] = true;
        if (neighbor == node || colors[neighbor] == none) return;
        is_taken.resize(std::max<std::size_t>(is_taken.size(), colors[neighbor] + std::size_t{1}));
        is_taken[colors[neighbor]] = true;
      });
      colors[node] = static_cast<std::uint32_t>(std::ranges::find(is_taken, false) - is_taken.begin());
    }
  }
  return colors;
}

namespace detail {

/// The edges with delay 0 of several networks over the same nodes.
class UndelayedEdges {
 public:
  UndelayedEdges(const std::vector<const Topology*>& networks, const std::vector<std::vector<std::uint16_t>>& delays)
      : networks_(networks), delays_(delays) {}

  /// Whether there are any.
  bool Exist() const {
    return std::ranges::any_of(delays_, [](const auto& of) { return std::ranges::find(of, 0) != of.end(); });
  }
  template <typename F>
  void VisitTargets(NodeId node, F&& visit) const {
    for (std::size_t i = 0; i < networks_.size(); ++i) {
      EdgeId edge = networks_[i]->FirstOutEdge(node);
      for (const NodeId target : networks_[i]->OutNeighbors(node))
        if (!delays_[i].empty() && delays_[i][edge++] == 0) visit(target);
    }
  }
  template <typename F>
  void VisitSources(NodeId node, F&& visit) const {
    for (std::size_t i = 0; i < networks_.size(); ++i) {
      for (const EdgeId edge : networks_[i]->InEdges(node))
        if (!delays_[i].empty() && delays_[i][edge] == 0) visit(networks_[i]->Source(edge));
    }
  }
  /// Throws. Each node that waits has a source that waits.
  [[noreturn]] void RefuseCycle(const std::vector<std::uint32_t>& num_waiting) const {
    const auto is_waiting = [&](NodeId node) { return num_waiting[node] != 0; };
    NodeId node = 0;
    while (!is_waiting(node)) ++node;
    std::vector<NodeId> path;  // backwards
    std::vector<bool> is_in_path(num_waiting.size());
    while (!is_in_path[node]) {
      is_in_path[node] = true;
      path.push_back(node);
      NodeId source = node;
      VisitSources(node, [&](NodeId of) { if (is_waiting(of)) source = of; });
      node = source;
    }
    path.erase(path.begin(), std::ranges::find(path, node));
    constexpr std::size_t max_named = 8;
    std::string names = networks_.front()->Label(node);
    for (std::size_t i = 0; i < path.size(); ++i) {
      const bool is_left_out = path.size() > max_named && i >= max_named - 1 && i + 1 < path.size();
      if (is_left_out && i == max_named - 1) names += " -> … (" + std::to_string(path.size() - max_named) + " more)";
      if (!is_left_out) names += " -> " + networks_.front()->Label(path[path.size() - 1 - i]);
    }
    throw uit::InputError("edges with delay 0 form a cycle, so none of its nodes can be updated first: " + names);
  }

 private:
  const std::vector<const Topology*>& networks_;
  const std::vector<std::vector<std::uint16_t>>& delays_;
};

}  // namespace detail

UIT_DEFINE std::vector<std::uint32_t> FindLevels(const std::vector<const Topology*>& networks,
                                                 const std::vector<std::vector<std::uint16_t>>& delays) {
  const detail::UndelayedEdges edges(networks, delays);
  if (!edges.Exist()) return {};
  const NodeId num_nodes = networks.front()->NumNodes();
  std::vector<std::uint32_t> levels(num_nodes);
  std::vector<std::uint32_t> num_waiting(num_nodes);  // sources that have no level yet
  std::vector<NodeId> queue;
  for (NodeId node = 0; node < num_nodes; ++node) {
    edges.VisitSources(node, [&](NodeId) { ++num_waiting[node]; });
    if (num_waiting[node] == 0) queue.push_back(node);
  }
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const NodeId node = queue[next];
    edges.VisitTargets(node, [&](NodeId target) {
      if (--num_waiting[target] != 0) return;
      levels[target] = levels[node] + 1;  // the highest of its sources, because nodes come in order of level
      queue.push_back(target);
    });
  }
  if (queue.size() != num_nodes) edges.RefuseCycle(num_waiting);
  return levels;
}

}  // namespace netuit
