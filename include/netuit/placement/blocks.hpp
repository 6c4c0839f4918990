#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/placement/placement.hpp>
#include <uit/config.hpp>

namespace netuit {

/// A block of consecutive nodes for each worker: a placement that needs no memory for nodes. Workers are numbered as in Placement.
class Blocks {
 public:
  /// `first` is the first node of each worker, and at last the number of nodes. Throws uit::InputError if a worker has no node.
  Blocks(Workers workers, std::vector<NodeId> first);

  /// Blocks whose sizes differ by at most one, as those of PlaceContiguous. Throws uit::InputError if there are more workers than
  /// nodes.
  static Blocks OfEqualSizes(NodeId num_nodes, Workers workers);
  /// Blocks of work as equal as whole nodes allow. `work_before(node)` is the work of all nodes before that one, also for the
  /// number of nodes. It is called a few times per worker. Throws as OfEqualSizes.
  template <std::invocable<NodeId> F>
  static Blocks OfEqualWork(NodeId num_nodes, Workers workers, F&& work_before);

  /// Returns the number of nodes.
  NodeId NumNodes() const { return first_.back(); }
  /// Returns the numbers of processes and threads.
  Workers Shape() const { return workers_; }
  /// Returns the first node of each worker, and at last the number of nodes.
  const std::vector<NodeId>& First() const { return first_; }
  /// Returns the worker that updates a node. Takes time logarithmic in the number of workers.
  std::uint32_t WorkerOf(NodeId node) const;
  /// Returns the process that updates a node.
  std::size_t ProcessOf(NodeId node) const { return WorkerOf(node) / workers_.threads; }
  /// Returns the first node of a process, or the number of nodes if `process` is the number of processes.
  NodeId FirstOfProcess(std::size_t process) const { return first_[process * workers_.threads]; }

 private:
  Workers workers_;
  std::vector<NodeId> first_;
};

template <std::invocable<NodeId> F>
Blocks Blocks::OfEqualWork(NodeId num_nodes, Workers workers, F&& work_before) {
  const std::uint32_t count = CountWorkersFor(num_nodes, workers);
  const std::uint64_t total = work_before(num_nodes);
  std::vector<NodeId> first{0};
  for (std::uint32_t worker = 1; worker < count; ++worker) {
    const std::uint64_t goal = total / count * worker + total % count * worker / count;
    NodeId low = first.back() + 1;               // each worker before has a node
    NodeId high = num_nodes - (count - worker);  // and so has each after
    while (low < high) {
      const NodeId middle = low + (high - low) / 2;
      if (work_before(middle) < goal) low = middle + 1;
      else high = middle;
    }
    first.push_back(low);
  }
  first.push_back(num_nodes);
  return {workers, std::move(first)};
}

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/placement/blocks.ipp>
#endif
