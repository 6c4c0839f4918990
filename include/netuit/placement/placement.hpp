#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <netuit/graph/random_stream.hpp>
#include <netuit/graph/topology.hpp>
#include <uit/support/error.hpp>

namespace netuit {

/// The number of processes, and of threads in each.
struct Workers {
  /// At least 1.
  std::size_t processes = 1;
  /// Of each process; at least 1.
  std::size_t threads = 1;

  /// The number of workers. Throws uit::InputError if it is 0 or above 2^32 - 1.
  std::uint32_t Count() const {
    if (processes == 0 || threads == 0) throw uit::InputError("there must be at least one process and one thread");
    if (processes > std::numeric_limits<std::uint32_t>::max() / threads) throw uit::InputError("too many workers");
    return static_cast<std::uint32_t>(processes * threads);
  }

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
  Placement(Workers workers, std::vector<std::uint32_t> worker_of)
      : workers_{workers},
        threads_{(workers.Count(), static_cast<std::uint32_t>(workers.threads))},
        worker_of_{std::move(worker_of)} {
    for (std::size_t node = 0; node < worker_of_.size(); ++node) {
      if (worker_of_[node] < workers_.Count()) continue;
      throw uit::InputError("node " + std::to_string(node) + " is placed on worker " +
                            std::to_string(worker_of_[node]) + ", but there are " + std::to_string(workers_.Count()));
    }
  }

  /// How many nodes are placed.
  NodeId NumNodes() const { return static_cast<NodeId>(worker_of_.size()); }
  /// The numbers of processes and threads that the placement is for.
  Workers Shape() const { return workers_; }

  /// The worker that updates a node.
  WorkerId Of(NodeId node) const { return {worker_of_[node] / threads_, worker_of_[node] % threads_}; }
  /// The number of the worker that updates a node.
  std::uint32_t WorkerOf(NodeId node) const { return worker_of_[node]; }

  /// By worker: its number of nodes.
  std::vector<NodeId> NumNodesByWorker() const {
    std::vector<NodeId> counts(workers_.Count());
    for (const std::uint32_t worker : worker_of_) ++counts[worker];
    return counts;
  }
  /// The nodes of a worker, ascending. Takes time linear in the number of all nodes.
  std::vector<NodeId> NodesAt(WorkerId place) const {
    std::vector<NodeId> nodes;
    for (NodeId node = 0; node < NumNodes(); ++node) {
      if (Of(node) == place) nodes.push_back(node);
    }
    return nodes;
  }

  /// Whether each node has the same worker, among the same numbers of processes and threads.
  bool operator==(const Placement&) const = default;

 private:
  Workers workers_;
  std::uint32_t threads_ = 1;
  std::vector<std::uint32_t> worker_of_;
};

/// The number of workers. Throws uit::InputError if it is 0, or if it exceeds the number of nodes: each worker needs a node.
inline std::uint32_t CountWorkersFor(const Topology& topology, Workers workers) {
  if (workers.Count() > topology.NumNodes()) {
    throw uit::InputError("more workers (" + std::to_string(workers.Count()) + ") than nodes (" +
                          std::to_string(topology.NumNodes()) + ")");
  }
  return workers.Count();
}

namespace detail {

/// The block of item `at`, if `num_things` items are divided into blocks whose sizes differ by at most one.
inline std::uint32_t BlockOf(std::uint64_t at, std::uint64_t num_things, std::uint32_t num_blocks) {
  return static_cast<std::uint32_t>(at * num_blocks / num_things);
}

}  // namespace detail

/// Gives each worker a block of consecutive nodes. The sizes of the blocks differ by at most one. Throws as CountWorkersFor.
inline Placement PlaceContiguous(const Topology& topology, Workers workers) {
  const std::uint32_t num_workers = CountWorkersFor(topology, workers);
  std::vector<std::uint32_t> worker_of(topology.NumNodes());
  for (NodeId node = 0; node < topology.NumNodes(); ++node) {
    worker_of[node] = detail::BlockOf(node, topology.NumNodes(), num_workers);
  }
  return Placement{workers, std::move(worker_of)};
}

/// Places node i on worker i % workers. Throws as CountWorkersFor.
inline Placement PlaceRoundRobin(const Topology& topology, Workers workers) {
  const std::uint32_t num_workers = CountWorkersFor(topology, workers);
  std::vector<std::uint32_t> worker_of(topology.NumNodes());
  for (NodeId node = 0; node < topology.NumNodes(); ++node) worker_of[node] = node % num_workers;
  return Placement{workers, std::move(worker_of)};
}

/// Places nodes at random. The workers' numbers of nodes differ by at most one. The seed determines the placement. Throws as
/// CountWorkersFor.
inline Placement PlaceRandom(const Topology& topology, Workers workers, std::uint64_t seed) {
  std::vector<std::uint32_t> worker_of(topology.NumNodes());
  const std::uint32_t num_workers = CountWorkersFor(topology, workers);
  for (NodeId node = 0; node < topology.NumNodes(); ++node) worker_of[node] = node % num_workers;
  RandomStream random{seed};
  for (NodeId left = topology.NumNodes(); left > 1; --left)
    std::swap(worker_of[left - 1], worker_of[random.Below(left)]);
  return Placement{workers, std::move(worker_of)};
}

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
inline Cut EdgeCut(const Topology& topology, const Placement& placement) {
  Cut cut;
  for (NodeId node = 0; node < topology.NumNodes(); ++node) {
    const WorkerId place = placement.Of(node);
    for (const NodeId target : topology.OutNeighbors(node)) {
      const WorkerId other = placement.Of(target);
      if (place.process != other.process)
        ++cut.processes;
      else if (place.thread != other.thread)
        ++cut.threads;
    }
  }
  return cut;
}

}  // namespace netuit
