#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <netuit/calls/calls.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node.hpp>

#include "problem.hpp"

namespace page_rank {

/// Bulk synchronous: in an iteration, each node sends on what it got in the one before.
class ByIterations {
 public:
  ByIterations(netuit::Mesh& mesh, const Problem& problem)
      : mesh_(mesh), problem_(problem), rank_(mesh.AddField<double>()), mass_{mesh.AddField<double>(), mesh.AddField<double>()},
        give_(mesh.AddCall<double>([this](netuit::Node& node, double mass) { mass_[1 - present_][node] += mass; })) {}
  /// Collective.
  void Solve() {
    mesh_.Visit([&](netuit::Node& node) {
      rank_[node] = 0;
      mass_[0][node] = problem_.First();
      mass_[1][node] = 0;
    });
    present_ = 0;
    for (std::uint64_t iteration = 0; iteration < problem_.NumIterations(); ++iteration) {
      mesh_.Finish([&](netuit::Node& node) {
        const double mass = mass_[present_][node];
        mass_[present_][node] = 0;
        rank_[node] += mass;
        const double share = problem_.Share(mass, node.Out().size());
        for (auto edge : node.Out()) give_(edge.Target(), share);
      });
      present_ = 1 - present_;
    }
  }
  netuit::Field<double> Ranks() const { return rank_; }
  netuit::Field<double> MassLeft() const { return mass_[present_]; }

 private:
  netuit::Mesh& mesh_;
  const Problem& problem_;
  netuit::Field<double> rank_;
  std::array<netuit::Field<double>, 2> mass_;  // of this iteration and of the next
  netuit::Call<double> give_;
  std::size_t present_ = 0;
};

/// Asynchronous: a node sends its mass on as soon as it has more than a tolerance, in no order. First it calls itself without mass.
/// That call comes after those to it that are under way in its process, so their mass leaves together.
///
/// The tolerance is halved from one Finish to the next. If it were small from the beginning, nodes would send many small masses.
class ByMass {
 public:
  ByMass(netuit::Mesh& mesh, const Problem& problem)
      : mesh_(mesh), problem_(problem), rank_(mesh.AddField<double>()), mass_(mesh.AddField<double>()),
        give_(mesh.AddCall<double>([this](netuit::Node& node, double mass, const netuit::Call<double>& give) {
          const bool was_above = IsAbove(node);
          mass_[node] += mass;
          if (!was_above && IsAbove(node)) give(node.Id(), 0);
          if (was_above && mass == 0) SendOn(node, give);
        })) {}
  /// Collective.
  void Solve() {
    mesh_.Visit([&](netuit::Node& node) {
      rank_[node] = 0;
      mass_[node] = problem_.First();
    });
    for (factor_ = 1 / problem_.error; factor_ > 1;) {
      factor_ = std::max(1.0, factor_ / 2);
      mesh_.Finish([&](netuit::Node& node) {
        if (IsAbove(node)) SendOn(node, give_);
      });
    }
  }
  netuit::Field<double> Ranks() const { return rank_; }
  netuit::Field<double> MassLeft() const { return mass_; }

 private:
  bool IsAbove(const netuit::Node& node) const { return mass_[node] > factor_ * problem_.Tolerance(node.Out().size()); }
  void SendOn(netuit::Node& node, const netuit::Call<double>& give) {
    const double share = problem_.Share(mass_[node], node.Out().size());
    rank_[node] += mass_[node];
    mass_[node] = 0;
    for (auto edge : node.Out()) give(edge.Target(), share);
  }

  netuit::Mesh& mesh_;
  const Problem& problem_;
  netuit::Field<double> rank_;
  netuit::Field<double> mass_;
  netuit::Call<double> give_;
  double factor_ = 1;  // of the tolerance
};

}  // namespace page_rank
