#pragma once

#include <cmath>

#include <netuit/mesh/cut_field.hpp>
#include <netuit/mesh/cut_reduction.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node.hpp>
#include <netuit/run/run.hpp>
#include <netuit/run/schedules.hpp>

#include "problem.hpp"

namespace page_rank {

/// Bulk synchronous without calls: each node publishes what its neighbours get of its mass, and reads what they publish. This sends
/// one number per node and neighbouring process instead of one per edge.
class ByField {
 public:
  ByField(netuit::Mesh& mesh, const Problem& problem)
      : mesh_(mesh), problem_(problem), rank_(mesh.AddField<double>()), share_(mesh.AddPublishedField<double>()) {}
  /// Collective.
  void Solve() {
    mesh_.Run(netuit::EveryUpdate{.updates = problem_.NumIterations()}, [&](netuit::Node& node) {
      double mass = 0;
      if (node.Update() == 0) {
        rank_[node] = 0;
        mass = problem_.First();
      } else {
        for (auto edge : node.In()) mass += share_[edge];
      }
      rank_[node] += mass;
      share_[node] = node.Out().size() == 0 ? 0 : problem_.Share(mass, node.Out().size());
    });
  }
  netuit::Field<double> Ranks() const { return rank_; }
  /// What each of a node's neighbours has yet to get.
  netuit::PublishedField<double> Shares() const { return share_; }

 private:
  netuit::Mesh& mesh_;
  const Problem& problem_;
  netuit::Field<double> rank_;
  netuit::PublishedField<double> share_;
};

/// Asynchronous without calls: each node computes its rank from the newest shares of its neighbours that it knows, and no worker waits
/// for another. The error is proven by the residual at a cut, at which all nodes' values belong together; see Problem.
class ByFieldFreely {
 public:
  ByFieldFreely(netuit::Mesh& mesh, const Problem& problem)
      : mesh_(mesh), problem_(problem), share_(mesh.AddPublishedField<double>()), at_cut_(mesh.AddCut(share_)),
        residual_(mesh.AddCutReduction(
            netuit::exact_sum,
            [this](netuit::Node& node) { return std::abs(RankOf(node, at_cut_) - problem_.RankOf(at_cut_[node], node.Out().size())); },
            {.every = 5})) {}
  /// Collective.
  void Solve() {
    mesh_.Run(netuit::EveryUpdate{.updates = 1}, [&](netuit::Node& node) { share_[node] = 0; });
    do {  // workers go on for a little after the cut, so once is enough, nearly always
      mesh_.Run(netuit::Free{.until = residual_ < 0.9 * problem_.error * (1 - problem_.damping)},
                [&](netuit::Node& node) { share_[node] = problem_.Share(RankOf(node, share_), node.Out().size()); });
    } while (problem_.Bound(MassLeft()) > problem_.error);
  }
  /// The share of each node, from which Problem::RankOf makes its rank.
  netuit::PublishedField<double> Shares() const { return share_; }
  /// The sum of all differences between a node's rank and what its neighbours make of it.
  double MassLeft() const { return residual_.AtEnd(); }

 private:
  /// The node's rank as its neighbours' shares tell it.
  template <typename Field>
  double RankOf(const netuit::Node& node, const Field& shares) const {
    double rank = problem_.First();
    for (auto edge : node.In()) rank += shares[edge];
    return rank;
  }

  netuit::Mesh& mesh_;
  const Problem& problem_;
  netuit::PublishedField<double> share_;
  netuit::CutField<double> at_cut_;
  netuit::CutReduction residual_;
};

}  // namespace page_rank
