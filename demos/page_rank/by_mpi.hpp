#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <mpi.h>

#include <uit/link/world.hpp>

#include "demos/common/complete.hpp"
#include "demos/common/exchange.hpp"
#include "demos/graphs/part.hpp"
#include "problem.hpp"

namespace page_rank {

/// A hand-written bulk synchronous version over MPI. The targets never change, so processes tell each other once for which nodes
/// they have mass. Then a process adds up what it has for a node, and sends only sums (MPI_Ialltoallv).
class ByMpi {
 public:
  /// Collective.
  ByMpi(const uit::World& world, const graphs::Part& part, const Problem& problem)
      : problem_(problem), part_(part), ranks_(part.NumNodes()), masses_(part.NumNodes()), counts_(world.Size()),
        starts_(world.Size()), their_counts_(world.Size()), their_starts_(world.Size()) {
    const std::vector<graphs::Place> away = FindAway(world.Rank());
    sums_.resize(part.NumNodes() + away.size());
    for (std::uint32_t node = 0; node < part.NumNodes(); ++node)
      for (const graphs::Place target : part.Targets(node)) {
        const std::size_t slot = part.NumNodes() + static_cast<std::size_t>(std::ranges::lower_bound(away, target) - away.begin());
        slots_.push_back(target.rank == world.Rank() ? target.node : static_cast<std::uint32_t>(slot));
      }
    demo::Exchange<std::uint32_t> exchange{world.Size()};
    for (const graphs::Place place : away) {
      exchange.Put(place.rank, place.node);
      ++counts_[place.rank];
    }
    exchange.Swap(true);
    incoming_nodes_.assign(exchange.Incoming().begin(), exchange.Incoming().end());
    incoming_.resize(incoming_nodes_.size());
    for (std::size_t rank = 0; rank < world.Size(); ++rank) their_counts_[rank] = exchange.IncomingCount(rank);
    for (std::size_t rank = 1; rank < world.Size(); ++rank) {
      starts_[rank] = starts_[rank - 1] + counts_[rank - 1];
      their_starts_[rank] = their_starts_[rank - 1] + their_counts_[rank - 1];
    }
  }

  /// Collective.
  void Solve() {
    ranks_.assign(ranks_.size(), 0);
    masses_.assign(masses_.size(), problem_.First());
    for (std::uint64_t iteration = 0; iteration < problem_.NumIterations(); ++iteration) {
      std::ranges::fill(sums_, 0);
      const std::uint32_t* slot = slots_.data();
      for (std::uint32_t node = 0; node < masses_.size(); ++node) {
        ranks_[node] += masses_[node];
        const std::size_t num_targets = part_.Targets(node).size();
        const double share = problem_.Share(masses_[node], num_targets);
        for (std::size_t k = 0; k < num_targets; ++k) sums_[*slot++] += share;
      }
      demo::Complete("MPI_Ialltoallv", [&](MPI_Request* request) {
        return MPI_Ialltoallv(sums_.data() + masses_.size(), counts_.data(), starts_.data(), MPI_DOUBLE, incoming_.data(),
                              their_counts_.data(), their_starts_.data(), MPI_DOUBLE, MPI_COMM_WORLD, request);
      });
      for (std::size_t i = 0; i < incoming_.size(); ++i) sums_[incoming_nodes_[i]] += incoming_[i];
      std::copy_n(sums_.begin(), masses_.size(), masses_.begin());
    }
  }
  /// By local number.
  const std::vector<double>& Ranks() const { return ranks_; }
  const std::vector<double>& MassLeft() const { return masses_; }

 private:
  /// The targets in other processes, each once, in order.
  std::vector<graphs::Place> FindAway(std::size_t here) const {
    std::vector<graphs::Place> away;
    for (std::uint32_t node = 0; node < part_.NumNodes(); ++node)
      for (const graphs::Place target : part_.Targets(node))
        if (target.rank != here) away.push_back(target);
    std::ranges::sort(away);
    const auto rest = std::ranges::unique(away);
    away.erase(rest.begin(), rest.end());
    return away;
  }

  const Problem& problem_;
  const graphs::Part& part_;
  std::vector<double> ranks_;
  std::vector<double> masses_;
  std::vector<std::uint32_t> slots_;  // in sums_, of each edge
  std::vector<double> sums_;          // for own nodes, then for those of others by rank
  std::vector<int> counts_;
  std::vector<int> starts_;
  std::vector<int> their_counts_;
  std::vector<int> their_starts_;
  std::vector<double> incoming_;
  std::vector<std::uint32_t> incoming_nodes_;
};

}  // namespace page_rank
