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
#include <netuit/mesh/worker_graph.hpp>
#include <netuit/placement/placement.hpp>
#include <uit/config.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>
#include <uit/link/world.hpp>

namespace netuit {

namespace detail {

/// Packs numbers and vectors of numbers into `num_bytes` bytes.
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

/// Unpacks what GraphPacker packed.
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

UIT_DEFINE WorkerGraph MakeWorkerGraph(const Topology& topology, const Placement& placement, const NetworkDelays& delays,
                                       std::uint32_t worker, std::vector<NodeId> nodes) {
  WorkerGraph part;
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
      if (!delays.by_edge.empty()) part.out_delays.push_back(delays.by_edge[edge]);
      part.out_edges.push_back(edge++);
    }
    part.first_out.push_back(static_cast<std::uint32_t>(part.targets.size()));
    for (const EdgeId in_edge : topology.InEdges(node)) {
      part.sources.push_back(topology.Source(in_edge));
      part.source_workers.push_back(placement.WorkerOf(topology.Source(in_edge)));
      part.in_edges.push_back(in_edge);
      if (topology.HasEdgeWeights()) part.in_weights.push_back(topology.EdgeWeight(in_edge));
      if (!delays.by_edge.empty()) part.in_delays.push_back(delays.by_edge[in_edge]);
      if (!delays.levels.empty()) part.source_levels.push_back(delays.levels[topology.Source(in_edge)]);
    }
    part.first_in.push_back(static_cast<std::uint32_t>(part.sources.size()));
    if (!delays.levels.empty()) part.levels.push_back(delays.levels[node]);
    if (topology.HasLabels()) {
      const std::string label = topology.Label(node);
      part.labels.insert(part.labels.end(), label.begin(), label.end());
      part.label_ends.push_back(static_cast<std::uint32_t>(part.labels.size()));
    }
  }
  part.nodes = std::move(nodes);
  return part;
}

/// Cuts the graph into parts, on rank 0.
class GraphCutter {
 public:
  /// Returns why a placement does not fit, or an empty string.
  static std::string Complaint(const Topology& topology, const Placement& placement, std::size_t num_processes) {
    if (placement.NumNodes() != topology.NumNodes())
      return "the placement is of " + std::to_string(placement.NumNodes()) + " nodes, the graph has " +
             std::to_string(topology.NumNodes());
    if (placement.Shape().processes != num_processes)
      return "the placement is for " + std::to_string(placement.Shape().processes) + " processes, and there are " +
             std::to_string(num_processes);
    return {};
  }

  /// Requires a placement that fits.
  GraphCutter(const Topology& topology, const Placement& placement, const NetworkDelays& delays)
      : topology_(topology), placement_(placement), delays_(delays), nodes_of_(placement.Shape().Count()) {
    if (!delays.by_edge.empty()) max_delay_ = std::max<std::uint64_t>(1, *std::ranges::max_element(delays.by_edge));
    for (NodeId node = 0; node < topology.NumNodes(); ++node) nodes_of_[placement.WorkerOf(node)].push_back(node);
  }

  /// Returns the part of a process. Call it once for each.
  ProcessGraph Cut(std::size_t process) {
    const Workers shape = placement_.Shape();
    ProcessGraph graph{.num_nodes = topology_.NumNodes(),
                       .num_edges = topology_.NumEdges(),
                       .num_processes = shape.processes,
                       .num_threads = shape.threads,
                       .max_delay = max_delay_,
                       .workers = {}};
    for (std::size_t thread = 0; thread < shape.threads; ++thread) {
      const auto worker = static_cast<std::uint32_t>(process * shape.threads + thread);
      graph.workers.push_back(MakeWorkerGraph(topology_, placement_, delays_, worker, std::move(nodes_of_[worker])));
    }
    return graph;
  }

 private:
  const Topology& topology_;
  const Placement& placement_;
  const NetworkDelays& delays_;
  std::uint64_t max_delay_ = 0;
  std::vector<std::vector<NodeId>> nodes_of_;  ///< by worker
};

UIT_DEFINE uit::Bytes Pack(const ProcessGraph& graph) {
  std::size_t num_bytes = 5 * sizeof(std::uint64_t);
  for (const WorkerGraph& part : graph.workers) {
    VisitWorkerGraph([&](const auto& values) { num_bytes += sizeof(std::uint64_t) + values.size() * sizeof(values[0]); }, part);
  }
  GraphPacker packer(num_bytes);
  for (const std::uint64_t number : {graph.num_nodes, graph.num_edges, graph.num_processes, graph.num_threads, graph.max_delay})
    packer.Add(number);
  for (const WorkerGraph& part : graph.workers) VisitWorkerGraph([&packer](const auto& values) { packer.Add(values); }, part);
  return packer.Take();
}

UIT_DEFINE ProcessGraph Unpack(const uit::Bytes& bytes, std::size_t process) {
  GraphUnpacker unpacker(bytes);
  ProcessGraph graph;
  for (std::uint64_t* number :
       {&graph.num_nodes, &graph.num_edges, &graph.num_processes, &graph.num_threads, &graph.max_delay})
    unpacker.Read(*number);
  for (std::uint64_t thread = 0; thread < graph.num_threads; ++thread) {
    WorkerGraph& part = graph.workers.emplace_back();
    part.worker = static_cast<std::uint32_t>(process * graph.num_threads + thread);
    VisitWorkerGraph([&unpacker](auto& values) { unpacker.Read(values); }, part);
  }
  return graph;
}

/// Returns how many processes get their parts at once, so that rank 0 makes about 256 MiB before it sends them.
UIT_DEFINE std::size_t NumScatteredAtOnce(const Topology& topology, std::size_t num_processes) {
  constexpr std::size_t most_bytes = std::size_t{256} << 20U;
  constexpr std::size_t edge_bytes = 2 * (sizeof(NodeId) + sizeof(std::uint32_t) + sizeof(EdgeId) + sizeof(double));
  constexpr std::size_t node_bytes = sizeof(NodeId) + 4 * sizeof(std::uint32_t);
  const std::size_t part_bytes = (topology.NumEdges() * edge_bytes + topology.NumNodes() * node_bytes) / num_processes;
  return std::clamp<std::size_t>(most_bytes / (part_bytes + 1), 1, num_processes);
}

}  // namespace detail

UIT_DEFINE ProcessGraph ScatterGraph(const Topology& topology, const Placement& placement, const uit::World& world,
                                     const NetworkDelays& delays) {
  std::string complaint;
  if (world.IsRoot()) complaint = detail::GraphCutter::Complaint(topology, placement, world.Size());
  world.Agree(complaint);

  std::optional<detail::GraphCutter> cutter;
  if (world.IsRoot()) cutter.emplace(topology, placement, delays);
  const std::size_t num_at_once = world.BroadcastValue(cutter ? detail::NumScatteredAtOnce(topology, world.Size()) : 0);
  ProcessGraph mine;
  for (std::size_t first = 1; first < world.Size(); first += num_at_once) {
    const std::size_t end = std::min(first + num_at_once, world.Size());
    std::vector<uit::Bytes> parts(world.Size());
    for (std::size_t process = first; cutter && process < end; ++process) parts[process] = detail::Pack(cutter->Cut(process));
    const uit::Bytes part = world.Scatter(std::move(parts));
    if (first <= world.Rank() && world.Rank() < end) mine = detail::Unpack(part, world.Rank());
  }
  return cutter ? cutter->Cut(0) : std::move(mine);
}

UIT_DEFINE std::uint32_t WorkerGraph::LocalIndex(NodeId node) const {
  const std::size_t guess = node - nodes.front();  // right if the numbers have no gaps
  if (guess < nodes.size() && nodes[guess] == node) return static_cast<std::uint32_t>(guess);
  return static_cast<std::uint32_t>(std::ranges::lower_bound(nodes, node) - nodes.begin());
}

UIT_DEFINE NodeId WorkerGraph::NodeOf(const std::vector<std::uint32_t>& first, std::uint32_t edge) const {
  return nodes[static_cast<std::size_t>(std::ranges::upper_bound(first, edge) - first.begin()) - 1];
}

UIT_DEFINE std::string WorkerGraph::Label(std::size_t node) const {
  if (label_ends.empty()) return std::to_string(nodes[node]);
  const std::size_t first = node == 0 ? 0 : label_ends[node - 1];
  return {labels.data() + first, label_ends[node] - first};
}

}  // namespace netuit
