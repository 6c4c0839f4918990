#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/placement/partition_graph.hpp>
#include <netuit/placement/partition_report.hpp>
#include <netuit/placement/placement.hpp>

namespace netuit {

/// Cuts a graph of at least two nodes in two. Returns the side of each node, 0 or 1; nothing if it cannot. Side 0 should have
/// the fraction `share` of the node weight. A side may weigh up to `tolerance` times its target.
///
/// RecursiveBisection does not trust the result: it replaces an invalid one, and repairs sides that are too small.
template <typename B, typename Index>
concept Bisector = std::signed_integral<Index> &&
                   requires(B bisect, const PartitionGraph<Index>& graph, double share, double tolerance) {
                     { bisect(graph, share, tolerance) } -> std::same_as<std::optional<std::vector<Index>>>;
                   };

/// Places nodes by cutting the graph in two repeatedly, first for the processes and then for the threads of each. So the cut
/// between processes is minimised first.
///
/// It shields the bisector from input that it may not handle: a graph with fewer nodes than workers, loops, parallel edges,
/// edges without a reciprocal, and fewer than two parts. Whatever the bisector returns, each worker gets a node.
template <std::signed_integral Index, Bisector<Index> B>
class RecursiveBisection {
 public:
  /// tolerance: the largest load of a worker after all cuts, relative to its target, as in 1.001.
  RecursiveBisection(B bisect, Workers workers, double tolerance)
      : bisect_{std::move(bisect)},
        workers_{workers},
        tolerance_{std::pow(tolerance, 1 / std::max(1.0, NumLevels(workers.processes) + NumLevels(workers.threads)))} {}

  /// Places the nodes of a topology. Throws as CountWorkersFor.
  Placement Place(const Topology& topology) {
    CountWorkersFor(topology, workers_);
    report_ = {};
    worker_of_.assign(topology.NumNodes(), 0);
    if (workers_.Count() > 1) {
      Subgraph<Index> whole{MakePartitionGraph<Index>(topology), std::vector<NodeId>(topology.NumNodes())};
      std::iota(whole.nodes.begin(), whole.nodes.end(), NodeId{0});
      Divide(std::move(whole), workers_, 0);
    }
    return Placement{workers_, std::move(worker_of_)};
  }

  /// The repairs of the last placement.
  const PartitionReport& Report() const { return report_; }

 private:
  /// How many times parts are cut in two to get `num_parts` parts.
  static double NumLevels(std::size_t num_parts) { return std::ceil(std::log2(static_cast<double>(num_parts))); }

  void Divide(Subgraph<Index> whole, Workers workers, std::uint32_t first_worker) {
    if (workers.Count() == 1) {
      for (const NodeId node : whole.nodes) worker_of_[node] = first_worker;
      return;
    }
    Workers left = workers;
    Workers right = workers;
    std::size_t& parts = workers.processes > 1 ? left.processes : left.threads;
    (workers.processes > 1 ? right.processes : right.threads) -= parts / 2;
    parts /= 2;
    auto [left_half, right_half] = Split(whole, Bisect(whole.graph, left.Count(), right.Count()));
    whole = {};
    Divide(std::move(left_half), left, first_worker);
    Divide(std::move(right_half), right, first_worker + left.Count());
  }

  std::vector<Index> Bisect(const PartitionGraph<Index>& graph, std::uint32_t num_left, std::uint32_t num_right) {
    const double share = static_cast<double>(num_left) / (static_cast<double>(num_left) + num_right);
    auto side_of = bisect_(graph, share, tolerance_);
    const bool is_usable = side_of && side_of->size() == graph.node_weights.size() &&
                           std::ranges::all_of(*side_of, [](Index side) { return side == 0 || side == 1; });
    if (!is_usable) {
      ++report_.num_fallbacks;
      side_of = CutInOrder(graph, share);
    }
    Fill(*side_of, 0, num_left, graph);
    Fill(*side_of, 1, num_right, graph);
    return *std::move(side_of);
  }

  static std::vector<Index> CutInOrder(const PartitionGraph<Index>& graph, double share) {
    const double total = std::accumulate(graph.node_weights.begin(), graph.node_weights.end(), 0.0);
    std::vector<Index> side_of;
    double weight = 0;
    for (const Index node_weight : graph.node_weights) {
      side_of.push_back(weight + static_cast<double>(node_weight) / 2 < share * total ? 0 : 1);
      weight += static_cast<double>(node_weight);
    }
    return side_of;
  }

  /// Moves the lightest nodes to a side until it has at least as many nodes as workers.
  void Fill(std::vector<Index>& side_of, Index side, std::size_t num_wanted, const PartitionGraph<Index>& graph) {
    const auto num_present = static_cast<std::size_t>(std::ranges::count(side_of, side));
    if (num_present >= num_wanted) return;
    std::vector<std::size_t> others;
    for (std::size_t node = 0; node < side_of.size(); ++node) {
      if (side_of[node] != side) others.push_back(node);
    }
    std::ranges::sort(others, {}, [&](std::size_t node) { return std::tuple{graph.node_weights[node], node}; });
    others.resize(num_wanted - num_present);
    for (const std::size_t node : others) side_of[node] = side;
    report_.num_moved += others.size();
  }

  B bisect_;
  Workers workers_;
  double tolerance_;
  PartitionReport report_;
  std::vector<std::uint32_t> worker_of_;
};

}  // namespace netuit
