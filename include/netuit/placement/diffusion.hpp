#pragma once

#include <cstdint>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/placement/placement.hpp>
#include <uit/config.hpp>

namespace netuit {

/// Returns the load of each worker: the sum of its nodes' weights.
std::vector<double> LoadByWorker(const std::vector<double>& node_weights, const Placement& placement);

/// Returns the largest load of a worker, relative to the mean of all workers. 1 is the best possible, and is returned if no node
/// has a load.
double Imbalance(const std::vector<double>& node_weights, const Placement& placement);

/// Options of PlaceByDiffusion.
struct DiffusionOptions {
  double goal = 1.02;            ///< it moves no more nodes once the imbalance is this; at least 1
  std::uint32_t num_rounds = 32; ///< at most so many rounds; in each, a node moves at most once
};

/// Changes a placement such that workers have about the same load, and few nodes move. Node weights are loads.
///
///     const auto next = netuit::PlaceByDiffusion(topology.WithNodeWeights(seconds), present);
///
/// Nodes move only to workers of their neighbours. In each round, the load that each pair of neighbouring workers should exchange
/// is that of least squares over all pairs (Hu, Blake and Emerson 1998). Then nodes at the border move, first those that cut the
/// least edge weight. No worker loses its last node. The result is the best of all rounds, and never worse than the present
/// placement.
///
/// Throws uit::InputError if the placement is of another number of nodes.
Placement PlaceByDiffusion(const Topology& topology, const Placement& present, const DiffusionOptions& options = {});

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/placement/diffusion.ipp>
#endif
