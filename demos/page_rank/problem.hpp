#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <netuit/graph/topology.hpp>

namespace page_rank {

/// The ranks x of a graph's nodes solve x = (1 - d) / n + d P x, where P shares a node's rank out among its out-neighbours.
///
/// All programs move mass: each node begins with (1 - d) / n. A node adds the mass that it gets to its rank, and sends d of it on,
/// in equal parts. Without out-neighbours it sends nothing; scaled to a sum of 1, the ranks are then those of a surfer who goes
/// from such a node to any other (Del Corso, Gullì, Romani 2005).
///
/// If a mass of r_i still waits at node i, then the exact ranks are x + (I - d P)^-1 r. No column of P has a sum above 1, and
/// nothing is negative. So the sum of all errors is at most sum(r) / (1 - d) (McSherry 2005; Andersen, Chung, Lang 2006).
struct Problem {
  netuit::NodeId num_nodes = 0;
  std::uint64_t num_edges = 0;
  double damping = 0.85;
  double error = 1e-8;  ///< the sum of all ranks' errors may be so large

  /// The mass with which a node begins.
  double First() const { return (1 - damping) / num_nodes; }
  /// How much each neighbour gets of a node's mass.
  double Share(double mass, std::size_t num_neighbors) const { return damping * mass / static_cast<double>(num_neighbors); }
  /// The bound on the sum of errors if so much mass is left.
  double Bound(double mass_left) const { return mass_left / (1 - damping); }
  /// The mass with which all nodes begin.
  double AllMass() const { return 1 - damping; }
  /// How much of that mass is gone for good if a node has this rank: the part of its rank that it does not send on. So the ranks of
  /// all nodes say how much mass is left.
  double Taken(double rank, std::size_t num_neighbors) const { return num_neighbors == 0 ? rank : (1 - damping) * rank; }
  /// How much must be gone in the end.
  double MassToTake() const { return AllMass() - error * (1 - damping); }
  /// How often all nodes must send their mass on: each time, at most d of it is left.
  std::uint64_t NumIterations() const {
    return static_cast<std::uint64_t>(std::ceil(std::log(error) / std::log(damping)));
  }
  /// With at most so much mass left at each node, the error is small enough. It grows with the number of neighbours, as the mass
  /// that a node gets and the work to send it on do.
  double Tolerance(std::size_t num_neighbors) const {
    return error * (1 - damping) * static_cast<double>(num_neighbors) / static_cast<double>(num_edges);
  }
};

/// The ranks, on one process, to about the accuracy of a double.
inline std::vector<double> SolveSerially(const netuit::Topology& graph, Problem problem) {
  problem.error = 1e-16;
  std::vector<double> ranks(graph.NumNodes());
  std::vector<double> masses(graph.NumNodes(), problem.First());
  std::vector<double> next(graph.NumNodes());
  for (std::uint64_t iteration = 0; iteration < problem.NumIterations(); ++iteration) {
    next.assign(next.size(), 0);
    for (netuit::NodeId node = 0; node < graph.NumNodes(); ++node) {
      ranks[node] += masses[node];
      const auto targets = graph.OutNeighbors(node);
      for (const netuit::NodeId target : targets) next[target] += problem.Share(masses[node], targets.size());
    }
    std::swap(masses, next);
  }
  return ranks;
}

}  // namespace page_rank
