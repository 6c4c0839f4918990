#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <netuit/graph/random_stream.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/placement/placement.hpp>
#include <uit/config.hpp>
#include <uit/support/error.hpp>

namespace netuit {

UIT_DEFINE std::uint32_t Workers::Count() const {
  if (processes == 0 || threads == 0) throw uit::InputError("there must be at least one process and one thread");
  if (processes > std::numeric_limits<std::uint32_t>::max() / threads) throw uit::InputError("too many workers");
  return static_cast<std::uint32_t>(processes * threads);
}

UIT_DEFINE Placement::Placement(Workers workers, std::vector<std::uint32_t> worker_of)
    : workers_{workers},
      threads_{(workers.Count(), static_cast<std::uint32_t>(workers.threads))},
      worker_of_{std::move(worker_of)} {
  for (std::size_t node = 0; node < worker_of_.size(); ++node) {
    if (worker_of_[node] < workers_.Count()) continue;
    throw uit::InputError("node " + std::to_string(node) + " is placed on worker " +
                          std::to_string(worker_of_[node]) + ", but there are " + std::to_string(workers_.Count()));
  }
}

UIT_DEFINE std::vector<NodeId> Placement::NumNodesByWorker() const {
  std::vector<NodeId> counts(workers_.Count());
  for (const std::uint32_t worker : worker_of_) ++counts[worker];
  return counts;
}

UIT_DEFINE std::vector<NodeId> Placement::NodesAt(WorkerId place) const {
  std::vector<NodeId> nodes;
  for (NodeId node = 0; node < NumNodes(); ++node) {
    if (Of(node) == place) nodes.push_back(node);
  }
  return nodes;
}

UIT_DEFINE std::uint32_t CountWorkersFor(const Topology& topology, Workers workers) {
  return CountWorkersFor(topology.NumNodes(), workers);
}

UIT_DEFINE std::uint32_t CountWorkersFor(NodeId num_nodes, Workers workers) {
  if (workers.Count() > num_nodes) {
    throw uit::InputError("more workers (" + std::to_string(workers.Count()) + ") than nodes (" + std::to_string(num_nodes) + ")");
  }
  return workers.Count();
}

namespace detail {

/// The block of item `at`, if `num_things` items are divided into blocks whose sizes differ by at most one.
inline std::uint32_t BlockOf(std::uint64_t at, std::uint64_t num_things, std::uint32_t num_blocks) {
  return static_cast<std::uint32_t>(at * num_blocks / num_things);
}

}  // namespace detail

UIT_DEFINE Placement PlaceContiguous(const Topology& topology, Workers workers) {
  const std::uint32_t num_workers = CountWorkersFor(topology, workers);
  std::vector<std::uint32_t> worker_of(topology.NumNodes());
  for (NodeId node = 0; node < topology.NumNodes(); ++node) {
    worker_of[node] = detail::BlockOf(node, topology.NumNodes(), num_workers);
  }
  return Placement{workers, std::move(worker_of)};
}

UIT_DEFINE Placement PlaceRoundRobin(const Topology& topology, Workers workers) {
  const std::uint32_t num_workers = CountWorkersFor(topology, workers);
  std::vector<std::uint32_t> worker_of(topology.NumNodes());
  for (NodeId node = 0; node < topology.NumNodes(); ++node) worker_of[node] = node % num_workers;
  return Placement{workers, std::move(worker_of)};
}

UIT_DEFINE Placement PlaceRandom(const Topology& topology, Workers workers, std::uint64_t seed) {
  std::vector<std::uint32_t> worker_of(topology.NumNodes());
  const std::uint32_t num_workers = CountWorkersFor(topology, workers);
  for (NodeId node = 0; node < topology.NumNodes(); ++node) worker_of[node] = node % num_workers;
  RandomStream random{seed};
  for (NodeId left = topology.NumNodes(); left > 1; --left)
    std::swap(worker_of[left - 1], worker_of[random.Below(left)]);
  return Placement{workers, std::move(worker_of)};
}

UIT_DEFINE Cut EdgeCut(const Topology& topology, const Placement& placement) {
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
