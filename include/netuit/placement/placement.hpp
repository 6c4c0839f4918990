#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <uit/config.hpp>

namespace netuit {

/// The number of processes, and of threads in each.
struct Workers {
  /// At least 1.
  std::size_t processes = 1;
  /// Of each process; at least 1.
  std::size_t threads = 1;

  /// The number of workers. Throws uit::InputError if it is 0 or above 2^32 - 1.
  std::uint32_t Count() const;

  /// Whether both numbers are the same.
  bool operator==(const Workers&) const = default;
};

/// A worker: a process, and a thread in it.
struct WorkerId {
  /// From 0; the rank in the communicator of the run.
  std::uint32_t process = 0;
  /// From 0, within the process.
  std::uint32_t thread = 0;

  /// By process, then by thread.
  auto operator<=>(const WorkerId&) const = default;
};

/// The worker of each node; immutable.
///
///     const auto placement = netuit::PlaceContiguous(topology, {.processes = 2, .threads = 4});
///     if (placement.Of(node).process == rank) …
///
/// Worker w is thread w % threads of process w / threads.
class Placement {
 public:
  /// No nodes, on one worker.
  Placement() = default;

  /// worker_of: by node. Throws uit::InputError if a node is placed on a worker that does not exist.
  Placement(Workers workers, std::vector<std::uint32_t> worker_of);

  /// How many nodes are placed.
  NodeId NumNodes() const { return static_cast<NodeId>(worker_of_.size()); }
  /// The numbers of processes and threads that the placement is for.
  Workers Shape() const { return workers_; }

  /// The worker that updates a node.
  WorkerId Of(NodeId node) const { return {worker_of_[node] / threads_, worker_of_[node] % threads_}; }
  /// The number of the worker that updates a node.
  std::uint32_t WorkerOf(NodeId node) const { return worker_of_[node]; }

  /// By worker: its number of nodes.
  std::vector<NodeId> NumNodesByWorker() const;
  /// The nodes of a worker, ascending. Takes time linear in the number of all nodes.
  std::vector<NodeId> NodesAt(WorkerId place) const;

  /// Whether each node has the same worker, among the same numbers of processes and threads.
  bool operator==(const Placement&) const = default;

 private:
  Workers workers_;
  std::uint32_t threads_ = 1;
  std::vector<std::uint32_t> worker_of_;
};

/// The number of workers. Throws uit::InputError if it is 0, or if it exceeds the number of nodes: each worker needs a node.
std::uint32_t CountWorkersFor(const Topology& topology, Workers workers);
/// The same for a number of nodes.
std::uint32_t CountWorkersFor(NodeId num_nodes, Workers workers);

/// Gives each worker a block of consecutive nodes. The sizes of the blocks differ by at most one. Throws as CountWorkersFor.
Placement PlaceContiguous(const Topology& topology, Workers workers);

/// Places node i on worker i % workers. Throws as CountWorkersFor.
Placement PlaceRoundRobin(const Topology& topology, Workers workers);

/// Places nodes at random. The workers' numbers of nodes differ by at most one. The seed determines the placement. Throws as
/// CountWorkersFor.
Placement PlaceRandom(const Topology& topology, Workers workers, std::uint64_t seed);

/// Numbers of directed edges that join different workers.
struct Cut {
  /// Between different processes.
  EdgeId processes = 0;
  /// Between different threads of one process.
  EdgeId threads = 0;

  /// Whether both numbers are the same.
  bool operator==(const Cut&) const = default;
};

/// Counts the edges that a placement cuts. Requires a placement of this topology.
Cut EdgeCut(const Topology& topology, const Placement& placement);

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/placement/placement.ipp>
#endif
