#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <mpi.h>

#include <netuit/mesh/mesh.hpp>

#include "demos/common/complete.hpp"
#include "demos/common/exchange.hpp"
#include "demos/common/pace.hpp"
#include "demos/graphs/part.hpp"
#include "demos/graphs/slots.hpp"
#include "problem.hpp"

namespace page_rank {

/// A hand-written bulk synchronous version over MPI. The targets never change, so processes tell each other once for which nodes
/// they have mass. Then a process adds up what it has for a node, and sends only sums (MPI_Ialltoallv).
class ByMpi {
 public:
  /// Collective.
  ByMpi(const netuit::Mesh& mesh, const graphs::Part& part, const Problem& problem)
      : problem_(problem), slots_(mesh, part), ranks_(part.NumNodes()), masses_(part.NumNodes()), sums_(slots_.Size()),
        rank_(mesh.GetWorld().Rank()), counts_(mesh.GetWorld().Size()), starts_(counts_.size()), their_counts_(counts_.size()), their_starts_(counts_.size()) {
    demo::Exchange<std::uint32_t> exchange{counts_.size()};
    for (const graphs::Away& away : slots_.AllAway()) {
      exchange.Put(away.place.rank, away.place.node);
      ++counts_[away.place.rank];
    }
    exchange.Swap(true);
    incoming_nodes_.assign(exchange.Incoming().begin(), exchange.Incoming().end());
    incoming_.resize(incoming_nodes_.size());
    for (std::size_t rank = 0; rank < counts_.size(); ++rank) their_counts_[rank] = exchange.IncomingCount(rank);
    for (std::size_t rank = 1; rank < counts_.size(); ++rank) {
      starts_[rank] = starts_[rank - 1] + counts_[rank - 1];
      their_starts_[rank] = their_starts_[rank - 1] + their_counts_[rank - 1];
    }
  }

  /// Collective. A process that is slow adds up its shares several times in an iteration.
  void Solve(demo::Slow slow = demo::Slow::nobody) {
    ranks_.assign(ranks_.size(), 0);
    masses_.assign(masses_.size(), problem_.First());
    for (std::uint64_t iteration = 0; iteration < problem_.NumIterations(); ++iteration) {
      for (unsigned times = pace_.Times(slow, iteration, rank_, counts_.size()); times != 0; --times) AddUp(times == 1);
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
  /// Adds up what each slot gets. Adds the masses to the ranks, too, if this is the last time.
  void AddUp(bool is_last) {
    std::ranges::fill(sums_, 0);
    for (std::uint32_t node = 0; node < masses_.size(); ++node) {
      if (is_last) ranks_[node] += masses_[node];
      const std::span<const std::uint32_t> targets = slots_.Targets(node);
      const double share = problem_.Share(masses_[node], targets.size());
      for (const std::uint32_t target : targets) sums_[target] += share;
    }
  }

  const Problem& problem_;
  graphs::Slots slots_;
  std::vector<double> ranks_;
  std::vector<double> masses_;
  std::vector<double> sums_;  // by slot
  std::size_t rank_;
  demo::Pace pace_{};
  std::vector<int> counts_;
  std::vector<int> starts_;
  std::vector<int> their_counts_;
  std::vector<int> their_starts_;
  std::vector<double> incoming_;
  std::vector<std::uint32_t> incoming_nodes_;
};

}  // namespace page_rank
