#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/placement/placement.hpp>
#include <uit/config.hpp>
#include <uit/link/world.hpp>

namespace netuit {

/// One worker's part of the graph: its nodes, ascending, and their edges with the far ends. Workers are numbered as in
/// Placement.
struct WorkerGraph {
  std::uint32_t worker = 0;  ///< number of this worker
  std::vector<NodeId> nodes;  ///< global numbers, ascending
  std::vector<std::uint32_t> first_out{0};  ///< outputs of node i: [first_out[i], first_out[i + 1])
  std::vector<NodeId> targets;  ///< by output
  std::vector<std::uint32_t> target_workers;  ///< by output: the worker that updates the target
  std::vector<EdgeId> out_edges;  ///< by output: the edge's global number
  std::vector<std::uint32_t> first_in{0};   ///< inputs of node i: [first_in[i], first_in[i + 1])
  std::vector<NodeId> sources;  ///< by input
  std::vector<std::uint32_t> source_workers;  ///< by input: the worker that updates the source
  std::vector<EdgeId> in_edges;  ///< by input: the edge's global number
  std::vector<double> out_weights{};  ///< by output; empty if every edge of the graph weighs 1
  std::vector<double> in_weights{};   ///< by input; likewise
  std::vector<std::uint16_t> out_delays{};  ///< by output; empty if every edge of the network has delay 1
  std::vector<std::uint16_t> in_delays{};   ///< by input; likewise
  std::vector<std::uint32_t> levels{};  ///< by node, see FindLevels; empty if no edge of the mesh has delay 0
  std::vector<std::uint32_t> source_levels{};  ///< by input: the level of the source; likewise
  std::vector<std::uint32_t> label_ends{};  ///< ends of the labels in `labels`; empty if nodes are named by their ids
  std::vector<char> labels{};  ///< all labels, concatenated

  /// Returns the local number of a node, which must be one of this worker's.
  std::uint32_t LocalIndex(NodeId node) const;
  /// Returns the id of the node that has this edge: an output if `first` is `first_out`, an input if it is `first_in`.
  NodeId NodeOf(const std::vector<std::uint32_t>& first, std::uint32_t edge) const;
  /// Returns the delay of an edge, by input.
  std::uint32_t InDelay(std::size_t input) const { return in_delays.empty() ? 1 : in_delays[input]; }
  /// Returns the delay of an edge, by output.
  std::uint32_t OutDelay(std::size_t output) const { return out_delays.empty() ? 1 : out_delays[output]; }
  /// Returns the label of local node i.
  std::string Label(std::size_t node) const;
};

/// The delays of a network's edges, and the order of its nodes that follows from them.
struct NetworkDelays {
  std::vector<std::uint16_t> by_edge{};  ///< empty if every edge has delay 1
  std::vector<std::uint32_t> levels{};   ///< by node, the same for all networks of a mesh; empty if no edge of the mesh has delay 0
};

/// One process's part of the graph: the sizes of the whole, and a part per thread.
struct ProcessGraph {
  std::uint64_t num_nodes = 0;  ///< of the whole graph
  std::uint64_t num_edges = 0;  ///< of the whole graph, directed
  std::uint64_t num_processes = 1;  ///< number of processes
  std::uint64_t num_threads = 1;  ///< threads of each process
  std::uint64_t max_delay = 0;    ///< the longest delay of an edge, at least 1; 0 if every edge has delay 1
  std::vector<WorkerGraph> workers;  ///< by thread
};

namespace detail {

template <typename Archive, typename S>
void VisitWorkerGraph(Archive&& visit, S& s) {
  visit(s.nodes), visit(s.first_out), visit(s.targets), visit(s.target_workers), visit(s.out_edges);
  visit(s.first_in), visit(s.sources), visit(s.source_workers), visit(s.in_edges);
  visit(s.out_weights), visit(s.in_weights);
  visit(s.out_delays), visit(s.in_delays), visit(s.levels), visit(s.source_levels);
  visit(s.label_ends), visit(s.labels);
}

}  // namespace detail

/// Sends each process its part of rank 0's graph, and returns this process's part. The arguments of the other ranks are
/// ignored. Collective. If the placement does not fit, every process throws the same message. It is one scatter, or, where the
/// parts of all processes take more than about 256 MiB without labels, one for as many processes as that is enough for on average.
ProcessGraph ScatterGraph(const Topology& topology, const Placement& placement, const uit::World& world,
                          const NetworkDelays& delays = {});

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/worker_graph.ipp>
#endif
