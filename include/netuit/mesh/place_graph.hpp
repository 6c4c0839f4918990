#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/placement/placement.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>
#include <uit/wire/world.hpp>

namespace netuit {

/// What one place needs of the graph: its nodes, ascending, and the far ends of their edges. Workers are numbered
/// as in Placement.
struct PlaceGraph {
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
  std::vector<PlaceGraph> places;  ///< by thread
};

namespace detail {

/// Puts numbers and vectors of numbers into bytes, of which there shall be `num_bytes` in the end.
class GraphPacker {
 public:
  explicit GraphPacker(std::size_t num_bytes) { bytes_.reserve(num_bytes); }
  void Add(std::uint64_t value) { Append(&value, sizeof value); }
  template <typename V>
  void Add(const std::vector<V>& values) {
    Add(static_cast<std::uint64_t>(values.size()));
    Append(values.data(), values.size() * sizeof(V));
  }
  uit::Bytes Take() { return std::move(bytes_); }

 private:
  void Append(const void* from, std::size_t num_bytes) {
    const auto* first = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), first, first + num_bytes);
  }
  uit::Bytes bytes_;
};

/// Takes them out again.
class GraphUnpacker {
 public:
  explicit GraphUnpacker(const uit::Bytes& bytes) : reader_(bytes) {}

  void Read(std::uint64_t& value) {
    if (!reader_.TryRead(value)) Fail();
  }
  template <typename V>
  void Read(std::vector<V>& values) {
    std::uint64_t size = 0;
    uit::ByteView taken;
    Read(size);
    if (size > reader_.Rest().size() / sizeof(V) || !reader_.TryTake(size * sizeof(V), taken)) Fail();
    values.resize(size);
    if (size != 0) std::memcpy(values.data(), taken.data(), taken.size());
  }

 private:
  [[noreturn]] static void Fail() { throw uit::Error("the part of the graph that rank 0 sent is cut short"); }
  uit::ByteReader reader_;
};

template <typename Archive, typename S>
void VisitPlaceGraph(Archive&& visit, S& s) {
  visit(s.nodes), visit(s.first_out), visit(s.targets), visit(s.target_workers), visit(s.out_edges);
  visit(s.first_in), visit(s.sources), visit(s.source_workers), visit(s.in_edges);
  visit(s.out_weights), visit(s.in_weights);
  visit(s.label_ends), visit(s.labels);
}

inline PlaceGraph MakePlaceGraph(const Topology& topology, const Placement& placement, std::uint32_t worker,
                                 std::vector<NodeId> nodes) {
  PlaceGraph part;
  part.worker = worker;
  std::size_t num_outputs = 0;
  std::size_t num_inputs = 0;
  for (const NodeId node : nodes) {
    num_outputs += topology.OutNeighbors(node).size();
    num_inputs += topology.InEdges(node).size();
  }
  if (std::max(num_outputs, num_inputs) > std::numeric_limits<std::uint32_t>::max())
    throw uit::InputError("more than 2^32 - 1 edges on one thread");
  part.first_out.reserve(nodes.size() + 1);
  part.first_in.reserve(nodes.size() + 1);
  part.targets.reserve(num_outputs);
  part.target_workers.reserve(num_outputs);
  part.out_edges.reserve(num_outputs);
  part.sources.reserve(num_inputs);
  part.source_workers.reserve(num_inputs);
  part.in_edges.reserve(num_inputs);
  for (const NodeId node : nodes) {
    EdgeId edge = topology.FirstOutEdge(node);
    for (const NodeId target : topology.OutNeighbors(node)) {
      part.targets.push_back(target);
      part.target_workers.push_back(placement.WorkerOf(target));
      if (topology.HasEdgeWeights()) part.out_weights.push_back(topology.EdgeWeight(edge));
      part.out_edges.push_back(edge++);
    }
    part.first_out.push_back(static_cast<std::uint32_t>(part.targets.size()));
    for (const EdgeId in_edge : topology.InEdges(node)) {
      part.sources.push_back(topology.Source(in_edge));
      part.source_workers.push_back(placement.WorkerOf(topology.Source(in_edge)));
      part.in_edges.push_back(in_edge);
      if (topology.HasEdgeWeights()) part.in_weights.push_back(topology.EdgeWeight(in_edge));
    }
    part.first_in.push_back(static_cast<std::uint32_t>(part.sources.size()));
    if (topology.HasLabels()) {
      const std::string label = topology.Label(node);
      part.labels.insert(part.labels.end(), label.begin(), label.end());
      part.label_ends.push_back(static_cast<std::uint32_t>(part.labels.size()));
    }
  }
  part.nodes = std::move(nodes);
  return part;
}

/// Rank 0's part of the work: cuts the graph.
class GraphCutter {
 public:
  /// In words, why a placement does not fit, or nothing.
  static std::string Complaint(const Topology& topology, const Placement& placement, std::size_t num_processes) {
    if (placement.NumNodes() != topology.NumNodes())
      return "the placement is of " + std::to_string(placement.NumNodes()) + " nodes, the graph has " +
             std::to_string(topology.NumNodes());
    if (placement.Shape().processes != num_processes)
      return "the placement is for " + std::to_string(placement.Shape().processes) + " processes, and there are " +
             std::to_string(num_processes);
    return {};
  }

  /// Wants a placement that fits.
  GraphCutter(const Topology& topology, const Placement& placement)
      : topology_(topology), placement_(placement), nodes_of_(placement.Shape().Count()) {
    for (NodeId node = 0; node < topology.NumNodes(); ++node) nodes_of_[placement.WorkerOf(node)].push_back(node);
  }

  /// What a process needs. Once for each.
  ProcessGraph Cut(std::size_t process) {
    const Workers shape = placement_.Shape();
    ProcessGraph graph{.num_nodes = topology_.NumNodes(),
                       .num_edges = topology_.NumEdges(),
                       .num_processes = shape.processes,
                       .num_threads = shape.threads,
                       .places = {}};
    for (std::size_t thread = 0; thread < shape.threads; ++thread) {
      const auto worker = static_cast<std::uint32_t>(process * shape.threads + thread);
      graph.places.push_back(MakePlaceGraph(topology_, placement_, worker, std::move(nodes_of_[worker])));
    }
    return graph;
  }

 private:
  const Topology& topology_;
  const Placement& placement_;
  std::vector<std::vector<NodeId>> nodes_of_;  ///< by worker
};

inline uit::Bytes Pack(const ProcessGraph& graph) {
  std::size_t num_bytes = 4 * sizeof(std::uint64_t);
  for (const PlaceGraph& part : graph.places) {
    VisitPlaceGraph([&](const auto& values) { num_bytes += sizeof(std::uint64_t) + values.size() * sizeof(values[0]); }, part);
  }
  GraphPacker packer(num_bytes);
  for (const std::uint64_t number : {graph.num_nodes, graph.num_edges, graph.num_processes, graph.num_threads}) packer.Add(number);
  for (const PlaceGraph& part : graph.places) VisitPlaceGraph([&packer](const auto& values) { packer.Add(values); }, part);
  return packer.Take();
}

inline ProcessGraph Unpack(const uit::Bytes& bytes, std::size_t process) {
  GraphUnpacker unpacker(bytes);
  ProcessGraph graph;
  for (std::uint64_t* number : {&graph.num_nodes, &graph.num_edges, &graph.num_processes, &graph.num_threads}) unpacker.Read(*number);
  for (std::uint64_t thread = 0; thread < graph.num_threads; ++thread) {
    PlaceGraph& part = graph.places.emplace_back();
    part.worker = static_cast<std::uint32_t>(process * graph.num_threads + thread);
    VisitPlaceGraph([&unpacker](auto& values) { unpacker.Read(values); }, part);
  }
  return graph;
}

}  // namespace detail

/// Gives each process its part of rank 0's graph; the arguments of the others are not looked at. Collective.
/// Throws on every process, in the same words, if the placement does not fit. One part after the other, so that what rank 0
/// needs for it is no more than a part.
inline ProcessGraph ScatterGraph(const Topology& topology, const Placement& placement, const uit::World& world) {
  std::string complaint;
  if (world.IsRoot()) complaint = detail::GraphCutter::Complaint(topology, placement, world.Size());
  world.Agree(complaint);

  std::optional<detail::GraphCutter> cutter;
  if (world.IsRoot()) cutter.emplace(topology, placement);
  ProcessGraph mine;
  for (std::size_t process = 1; process < world.Size(); ++process) {
    std::vector<uit::Bytes> parts(world.Size());
    if (cutter) parts[process] = detail::Pack(cutter->Cut(process));
    const uit::Bytes part = world.Scatter(std::move(parts));
    if (world.Rank() == process) mine = detail::Unpack(part, process);
  }
  return cutter ? cutter->Cut(0) : std::move(mine);
}

}  // namespace netuit
