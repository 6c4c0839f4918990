#pragma once

#include <cstddef>

#include <netuit/mesh/cut_field.hpp>
#include <netuit/mesh/cut_reduction.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node.hpp>
#include <netuit/run/run.hpp>
#include <netuit/run/schedules.hpp>

#include "demos/common/pace.hpp"
#include "problem.hpp"

namespace page_rank {

/// Bulk synchronous without calls: each node publishes what its neighbours get of its mass, and reads what they publish. This sends
/// one number per node and neighbouring process instead of one per edge.
class ByField {
 public:
  /// The mesh must have one thread per process.
  ByField(netuit::Mesh& mesh, const Problem& problem)
      : mesh_(mesh), problem_(problem), rank_(mesh.AddField<double>()), share_(mesh.AddPublishedField<double>()) {}
  /// Collective. A process that is slow adds up what a node gets several times.
  void Solve(demo::Slow slow = demo::Slow::nobody) {
    const std::size_t num_workers = mesh_.GetWorld().Size();
    mesh_.Run(netuit::EveryUpdate{.updates = problem_.NumIterations()}, [&](netuit::Node& node) {
      if (node.Update() == 0) rank_[node] = 0;
      const double mass = demo::Repeat(pace_.Times(slow, node.Update(), node.Worker(), num_workers), [&] {
        if (node.Update() == 0) return problem_.First();
        double sum = 0;
        for (auto edge : node.In()) sum += share_[edge];
        return sum;
      });
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
  demo::Pace pace_{};
};

/// Asynchronous without calls: each node makes its rank of what its neighbours publish of theirs, again and again, and no process
/// waits for another. A node publishes what each neighbour gets of its rank.
///
/// The run ends when the error is proven to be small enough. All ranks begin at 0, so none is ever too large. What they have taken
/// of all mass at a cut says how much is left; see Problem::Taken. Later it is even less, so processes may go on after the cut.
class ByFreeField {
 public:
  /// The mesh must have one thread per process.
  ByFreeField(netuit::Mesh& mesh, const Problem& problem)
      : mesh_(mesh), problem_(problem), rank_(mesh.AddField<double>()), share_(mesh.AddPublishedField<double>()),
        mass_taken_(AddMassTaken()) {}
  /// Collective. A process that is slow adds up what a node gets several times.
  void Solve(demo::Slow slow = demo::Slow::nobody) {
    const std::size_t num_workers = mesh_.GetWorld().Size();
    mesh_.Visit([&](netuit::Node& node) { share_[node] = 0; });
    mesh_.Run(netuit::EveryUpdate{.updates = 1}, [](netuit::Node&) {});  // so that neighbours see it
    mesh_.Run(netuit::Free{.until = mass_taken_ > problem_.MassToTake()}, [&](netuit::Node& node) {
      rank_[node] = demo::Repeat(pace_.Times(slow, node.Update(), node.Worker(), num_workers), [&] {
        double sum = problem_.First();
        for (auto edge : node.In()) sum += share_[edge];
        return sum;
      });
      share_[node] = node.Out().size() == 0 ? rank_[node] : problem_.Share(rank_[node], node.Out().size());  // of no edge: for the cut
    });
  }
  netuit::Field<double> Ranks() const { return rank_; }
  /// The sum over all nodes, after Solve.
  double MassLeft() const { return problem_.AllMass() - mass_taken_.AtEnd(); }

 private:
  netuit::CutReduction AddMassTaken() {
    const netuit::CutField<double> at_cut = mesh_.AddCut(share_);
    return mesh_.AddCutReduction(
        netuit::exact_sum,
        [this, at_cut](netuit::Node& node) {
          const std::size_t degree = node.Out().size();
          return problem_.Taken(degree == 0 ? at_cut[node] : at_cut[node] / problem_.Share(1, degree), degree);
        },
        {.every = 5});
  }

  netuit::Mesh& mesh_;
  const Problem& problem_;
  netuit::Field<double> rank_;
  netuit::PublishedField<double> share_;
  netuit::CutReduction mass_taken_;
  demo::Pace pace_{};
};

}  // namespace page_rank
