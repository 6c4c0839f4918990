#pragma once

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

}  // namespace page_rank
