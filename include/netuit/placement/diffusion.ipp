#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <queue>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/placement/diffusion.hpp>
#include <netuit/placement/partition_graph.hpp>
#include <netuit/placement/placement.hpp>
#include <uit/config.hpp>
#include <uit/support/error.hpp>

namespace netuit {

namespace detail {

/// Which workers have neighbouring nodes, and how much load each pair of them should exchange.
class LoadFlows {
 public:
  explicit LoadFlows(std::size_t num_workers) : neighbors_(num_workers) {}

  /// Notes two workers with neighbouring nodes. More than once does no harm.
  void Join(std::uint32_t a, std::uint32_t b) {
    neighbors_[a].push_back(b);
    neighbors_[b].push_back(a);
  }
  /// Finds the flows of least squares that give each worker the mean load of all workers that it can reach.
  void Solve(const std::vector<double>& loads) {
    for (auto& of : neighbors_) {
      std::ranges::sort(of);
      of.erase(std::unique(of.begin(), of.end()), of.end());
    }
    potentials_ = Potentials(Excess(loads));
  }
  /// Returns what a worker should give to a neighbour; less than 0 if it should receive.
  double Flow(std::uint32_t from, std::uint32_t to) const { return potentials_[from] - potentials_[to]; }

 private:
  /// Returns each worker's load above the mean of the workers that it can reach.
  std::vector<double> Excess(std::vector<double> loads) const {
    std::vector<bool> is_seen(loads.size());
    for (std::uint32_t first = 0; first < loads.size(); ++first) {
      if (is_seen[first]) continue;
      std::vector<std::uint32_t> reached{first};
      is_seen[first] = true;
      for (std::size_t i = 0; i < reached.size(); ++i) {
        for (const std::uint32_t other : neighbors_[reached[i]]) {
          if (is_seen[other]) continue;
          is_seen[other] = true;
          reached.push_back(other);
        }
      }
      double sum = 0;
      for (const std::uint32_t worker : reached) sum += loads[worker];
      for (const std::uint32_t worker : reached) loads[worker] -= sum / static_cast<double>(reached.size());
    }
    return loads;
  }
  /// Solves L x = excess by conjugate gradients, where L is the Laplacian of the neighbouring workers.
  std::vector<double> Potentials(std::vector<double> excess) const {
    std::vector<double> x(excess.size());
    std::vector<double>& rest = excess;
    std::vector<double> direction = rest;
    double square = std::inner_product(rest.begin(), rest.end(), rest.begin(), 0.0);
    const double enough = square * 1e-12;
    for (std::size_t step = 0; step < 2 * x.size() && square > enough; ++step) {
      std::vector<double> image(x.size());
      for (std::size_t i = 0; i < x.size(); ++i)
        for (const std::uint32_t other : neighbors_[i]) image[i] += direction[i] - direction[other];
      const double curvature = std::inner_product(direction.begin(), direction.end(), image.begin(), 0.0);
      if (!(curvature > 0)) break;
      const double length = square / curvature;
      for (std::size_t i = 0; i < x.size(); ++i) x[i] += length * direction[i], rest[i] -= length * image[i];
      const double before = std::exchange(square, std::inner_product(rest.begin(), rest.end(), rest.begin(), 0.0));
      for (std::size_t i = 0; i < x.size(); ++i) direction[i] = rest[i] + square / before * direction[i];
    }
    return x;
  }

  std::vector<std::vector<std::uint32_t>> neighbors_;
  std::vector<double> potentials_;
};

/// Moves nodes from worker to worker, round by round.
class Diffusion {
 public:
  Diffusion(const Topology& topology, const Placement& present, double goal)
      : graph_(MakePartitionGraph<std::int64_t>(topology)),
        goal_(goal),
        counts_(present.NumNodesByWorker()),
        loads_(counts_.size()) {
    for (NodeId node = 0; node < present.NumNodes(); ++node) {
      worker_of_.push_back(present.WorkerOf(node));
      loads_[worker_of_[node]] += Load(node);
    }
  }

  double Largest() const { return std::ranges::max(loads_); }
  bool IsGood() const { return Largest() <= goal_ * Mean(); }
  const std::vector<std::uint32_t>& WorkerOf() const { return worker_of_; }
  /// Returns whether any node has moved.
  bool Round() {
    LoadFlows flows(loads_.size());
    ForEachBorder([&](NodeId node, std::uint32_t other) { flows.Join(worker_of_[node], other); });
    flows.Solve(loads_);
    rest_.clear();
    has_moved_.assign(worker_of_.size(), false);
    ForEachBorder([&](NodeId node, std::uint32_t other) {
      const double flow = flows.Flow(worker_of_[node], other);
      if (flow <= 0) return;
      rest_[{worker_of_[node], other}] = flow;
      Offer(node, other);
    });
    bool is_any = false;
    while (!waiting_.empty()) {
      const Candidate next = waiting_.top();
      waiting_.pop();
      is_any |= TryMove(next);
    }
    return is_any;
  }

 private:
  /// A node that might move.
  struct Candidate {
    std::int64_t gain = 0;  // edge weight that is no longer cut, less that which is then
    NodeId node = 0;
    std::uint32_t to = 0;
    bool operator<(const Candidate& other) const { return std::tie(gain, other.node, other.to) < std::tie(other.gain, node, to); }
  };

  double Load(NodeId node) const { return static_cast<double>(graph_.node_weights[node]); }
  double Mean() const { return std::accumulate(loads_.begin(), loads_.end(), 0.0) / static_cast<double>(loads_.size()); }
  /// Calls `visit(neighbour, edge weight)`.
  template <typename F>
  void ForEachNeighbor(NodeId node, F&& visit) const {
    const auto end = static_cast<std::size_t>(graph_.first[node + std::size_t{1}]);
    for (auto i = static_cast<std::size_t>(graph_.first[node]); i < end; ++i)
      visit(static_cast<NodeId>(graph_.neighbors[i]), graph_.edge_weights[i]);
  }
  /// Calls `visit(node, worker)` for each node with a neighbour of another worker; more than once if it has several.
  template <typename F>
  void ForEachBorder(F&& visit) const {
    for (NodeId node = 0; node < worker_of_.size(); ++node) {
      ForEachNeighbor(node, [&](NodeId neighbor, std::int64_t) {
        if (worker_of_[neighbor] != worker_of_[node]) visit(node, worker_of_[neighbor]);
      });
    }
  }
  std::int64_t Gain(NodeId node, std::uint32_t to) const {
    std::int64_t gain = 0;
    ForEachNeighbor(node, [&](NodeId neighbor, std::int64_t weight) {
      if (worker_of_[neighbor] == to) gain += weight;
      else if (worker_of_[neighbor] == worker_of_[node]) gain -= weight;
    });
    return gain;
  }
  void Offer(NodeId node, std::uint32_t to) { waiting_.push({Gain(node, to), node, to}); }
  bool TryMove(const Candidate& next) {
    const std::uint32_t from = worker_of_[next.node];
    if (has_moved_[next.node] || from == next.to || counts_[from] == 1) return false;
    const auto rest = rest_.find({from, next.to});
    // A node moves if at least half of its load still fits, so the overshoot is at most half of its load.
    if (rest == rest_.end() || rest->second <= 0 || rest->second < Load(next.node) / 2) return false;
    if (Gain(next.node, next.to) != next.gain) {  // a neighbour has moved meanwhile
      Offer(next.node, next.to);
      return false;
    }
    rest->second -= Load(next.node);
    loads_[from] -= Load(next.node);
    loads_[next.to] += Load(next.node);
    --counts_[from];
    ++counts_[next.to];
    worker_of_[next.node] = next.to;
    has_moved_[next.node] = true;
    ForEachNeighbor(next.node, [&](NodeId neighbor, std::int64_t) {
      if (worker_of_[neighbor] == from && !has_moved_[neighbor]) Offer(neighbor, next.to);
    });
    return true;
  }

  PartitionGraph<std::int64_t> graph_;
  double goal_;
  std::vector<NodeId> counts_;  // of nodes, by worker
  std::vector<double> loads_;   // by worker
  std::vector<std::uint32_t> worker_of_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> rest_;  // what a worker should still give to another
  std::priority_queue<Candidate> waiting_;
  std::vector<bool> has_moved_;  // in this round
};

}  // namespace detail

UIT_DEFINE std::vector<double> LoadByWorker(const std::vector<double>& node_weights, const Placement& placement) {
  if (node_weights.size() != placement.NumNodes())
    throw uit::InputError(std::to_string(node_weights.size()) + " loads for a placement of " +
                          std::to_string(placement.NumNodes()) + " nodes");
  std::vector<double> loads(placement.Shape().Count());
  for (NodeId node = 0; node < placement.NumNodes(); ++node) loads[placement.WorkerOf(node)] += node_weights[node];
  return loads;
}

UIT_DEFINE double Imbalance(const std::vector<double>& node_weights, const Placement& placement) {
  const std::vector<double> loads = LoadByWorker(node_weights, placement);
  const double sum = std::accumulate(loads.begin(), loads.end(), 0.0);
  return sum > 0 ? std::ranges::max(loads) / sum * static_cast<double>(loads.size()) : 1;
}

UIT_DEFINE Placement PlaceByDiffusion(const Topology& topology, const Placement& present, const DiffusionOptions& options) {
  if (present.NumNodes() != topology.NumNodes())
    throw uit::InputError("the placement is of " + std::to_string(present.NumNodes()) + " nodes, and the graph has " +
                          std::to_string(topology.NumNodes()));
  if (!(options.goal >= 1)) throw uit::InputError("DiffusionOptions::goal must be at least 1");
  detail::Diffusion diffusion(topology, present, options.goal);
  std::vector<std::uint32_t> best = diffusion.WorkerOf();
  double least = diffusion.Largest();
  for (std::uint32_t round = 0; round < options.num_rounds && !diffusion.IsGood() && diffusion.Round(); ++round) {
    if (diffusion.Largest() >= least) continue;
    least = diffusion.Largest();
    best = diffusion.WorkerOf();
  }
  return {present.Shape(), std::move(best)};
}

}  // namespace netuit
