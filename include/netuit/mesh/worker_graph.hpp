#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/placement/placement.hpp>
#include <uit/config.hpp>
#include <uit/link/world.hpp>

namespace netuit {

/// What one place needs of the graph: its nodes, ascending, and the far ends of their edges. Workers are numbered
/// as in Placement.
struct WorkerGraph {
  std::uint32_t worker = 0;  ///< this place's number
  std::vector<NodeId> nodes;  ///< global numbers, ascending
  std::vector<std::uint32_t> first_out{0};  ///< outputs of node i: [first_out[i], first_out[i + 1])
  std::vector<NodeId> targets;  ///< by output
  std::vector<std::uint32_t> target_workers;  ///< by output: where the target is updated
  std::vector<EdgeId> out_edges;  ///< by output: the edge's global number
  std::vector<std::uint32_t> first_in{0};   ///< inputs of node i: [first_in[i], first_in[i + 1])
  std::vector<NodeId> sources;  ///< by input
  std::vector<std::uint32_t> source_workers;  ///< by input: where the source is updated
  std::vector<EdgeId> in_edges;  ///< by input: the edge's global number
  std::vector<double> out_weights{};  ///< by output; empty if every edge of the graph weighs 1
  std::vector<double> in_weights{};   ///< by input; likewise
  std::vector<std::uint32_t> label_ends{};  ///< empty if nodes are called by their ids
  std::vector<char> labels{};  ///< one after another

  /// Which of the nodes has this number in the whole graph. Wants one of them.
  std::uint32_t LocalIndex(NodeId node) const {
    const std::size_t guess = node - nodes.front();  // right where numbers have no gaps
    if (guess < nodes.size() && nodes[guess] == node) return static_cast<std::uint32_t>(guess);
    return static_cast<std::uint32_t>(std::ranges::lower_bound(nodes, node) - nodes.begin());
  }
  /// The global number of the node that an output is of, by `first_out`, or an input, by `first_in`.
  NodeId NodeOf(const std::vector<std::uint32_t>& first, std::uint32_t edge) const {
    return nodes[static_cast<std::size_t>(std::ranges::upper_bound(first, edge) - first.begin()) - 1];
  }
  /// What the graph's file calls node i.
  std::string Label(std::size_t node) const {
    if (label_ends.empty()) return std::to_string(nodes[node]);
    const std::size_t first = node == 0 ? 0 : label_ends[node - 1];
    return {labels.data() + first, label_ends[node] - first};
  }
};

/// What one process needs: the sizes of the whole, and a sub-graph per thread.
struct ProcessGraph {
  std::uint64_t num_nodes = 0;  ///< of the whole graph
  std::uint64_t num_edges = 0;  ///< of the whole graph, directed
  std::uint64_t num_processes = 1;  ///< that it is on
  std::uint64_t num_threads = 1;  ///< of each process
  std::vector<WorkerGraph> places;  ///< by thread
};

namespace detail {

template <typename Archive, typename S>
void VisitWorkerGraph(Archive&& visit, S& s) {
  visit(s.nodes), visit(s.first_out), visit(s.targets), visit(s.target_workers), visit(s.out_edges);
  visit(s.first_in), visit(s.sources), visit(s.source_workers), visit(s.in_edges);
  visit(s.out_weights), visit(s.in_weights);
  visit(s.label_ends), visit(s.labels);
}

}  // namespace detail

/// Gives each process its part of rank 0's graph; the arguments of the others are not looked at. Collective.
/// Throws on every process, in the same words, if the placement does not fit. One part after the other, so that what rank 0
/// needs for it is no more than a part.
ProcessGraph ScatterGraph(const Topology& topology, const Placement& placement, const uit::World& world);

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/worker_graph.ipp>
#endif
