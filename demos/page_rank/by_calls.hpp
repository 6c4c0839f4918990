#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

#include <netuit/calls/calls.hpp>
#include <netuit/calls/combine.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node.hpp>
#include <uit/conveyor/conveyor_sizes.hpp>

#include "demos/graphs/room.hpp"
#include "problem.hpp"

namespace page_rank {

/// Bulk synchronous: in an iteration, each node sends on what it got in the one before.
class ByIterations {
 public:
  ByIterations(netuit::Mesh& mesh, const Problem& problem)
      : mesh_(mesh), problem_(problem), rank_(mesh.AddField<double>()), mass_{mesh.AddField<double>(), mesh.AddField<double>()},
        give_(mesh.AddCall<double>([this](netuit::Node& node, double mass) { mass_[1 - present_][node] += mass; },
                                   uit::Combine{std::plus<>{}})) {}
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
        for (auto edge : node.Out()) give_(edge, share);
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
  netuit::Call<double, std::plus<>> give_;
  std::size_t present_ = 0;
};

/// Asynchronous: a node sends its mass on as soon as it has more than a tolerance, in no order. It does so in a call to itself,
/// which comes after those that have arrived already, so their mass leaves together.
///
/// The tolerance is halved from one Finish to the next. If it were small from the beginning, nodes would send many small masses.
class ByMass {
 public:
  ByMass(netuit::Mesh& mesh, const Problem& problem)
      : mesh_(mesh), problem_(problem), rank_(mesh.AddField<double>()), mass_(mesh.AddField<double>()),
        send_(mesh.AddCall<Nothing>([this](netuit::Node& node, Nothing) {
          if (IsAbove(node)) SendOn(node);
        }, graphs::RoomForEdges(mesh))),
        give_(mesh.AddCall<double>([this](netuit::Node& node, double mass) {
          const bool was_above = IsAbove(node);
          mass_[node] += mass;
          if (!was_above && IsAbove(node)) send_(node.Id(), {});
        }, uit::Combine<std::plus<>>{.conveyor = graphs::RoomForEdges(mesh)})) {}
  /// Collective.
  void Solve() {
    mesh_.Visit([&](netuit::Node& node) {
      rank_[node] = 0;
      mass_[node] = problem_.First();
    });
    for (factor_ = 1 / problem_.error; factor_ > 1;) {
      factor_ = std::max(1.0, factor_ / 2);
      mesh_.Finish([&](netuit::Node& node) {
        if (IsAbove(node)) SendOn(node);
      });
    }
  }
  netuit::Field<double> Ranks() const { return rank_; }
  netuit::Field<double> MassLeft() const { return mass_; }

 private:
  struct Nothing {};
  bool IsAbove(const netuit::Node& node) const { return mass_[node] > factor_ * problem_.Tolerance(node.Out().size()); }
  void SendOn(netuit::Node& node) {
    const double share = problem_.Share(mass_[node], node.Out().size());
    rank_[node] += mass_[node];
    mass_[node] = 0;
    for (auto edge : node.Out()) give_(edge, share);
  }

  netuit::Mesh& mesh_;
  const Problem& problem_;
  netuit::Field<double> rank_;
  netuit::Field<double> mass_;
  netuit::Call<Nothing> send_;
  netuit::Call<double, std::plus<>> give_;
  double factor_ = 1;  // of the tolerance
};

}  // namespace page_rank
