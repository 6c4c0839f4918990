#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <netuit/calls/calls.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/edge_field.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node.hpp>

#include "demos/graphs/part.hpp"
#include "demos/graphs/room.hpp"
#include "demos/graphs/slots.hpp"
#include "local_ways.hpp"

namespace sssp {

/// Corrects lengths of ways from a root: a node that learns of a shorter way tells its neighbours.
///
/// It does so at once if the way is shorter than a limit. Longer ways wait for the next limit, which is `delta` above the shortest
/// of them, because they are often replaced (Delta-stepping). With a large `delta`, nothing waits.
class ByCalls {
 public:
  ByCalls(netuit::Mesh& mesh, double delta)
      : mesh_(mesh), delta_(delta), weight_(mesh.GetEdgeWeights()), length_(mesh.AddField<double>()),
        told_(mesh.AddField<double>()),
        reach_(mesh.AddCall<double>([this](netuit::Node& node, double length, const netuit::Call<double>& reach) {
          if (length >= length_[node]) return;
          length_[node] = length;
          if (length < limit_) Tell(node, reach);
        }, graphs::RoomForEdges(mesh))) {}
  /// Collective.
  void Search(netuit::NodeId root) {
    mesh_.Visit([&](netuit::Node& node) {
      length_[node] = node.Id() == root ? 0 : infinite;
      told_[node] = infinite;
    });
    for (double nearest = NearestToTell(); nearest < infinite; nearest = NearestToTell()) {
      limit_ = std::max(nearest + delta_, std::nextafter(nearest, infinite));
      mesh_.Finish([&](netuit::Node& node) {
        if (length_[node] < told_[node] && length_[node] < limit_) Tell(node, reach_);
      });
    }
  }
  netuit::Field<double> Lengths() const { return length_; }

 private:
  void Tell(netuit::Node& node, const netuit::Call<double>& reach) {
    told_[node] = length_[node];
    for (auto edge : node.Out()) reach(edge, told_[node] + weight_[edge]);
  }
  /// The length of the shortest way of which neighbours do not know, of all nodes. Collective.
  double NearestToTell() const {
    double nearest = infinite;
    mesh_.Visit([&](netuit::Node& node) {
      if (length_[node] < told_[node]) nearest = std::min(nearest, length_[node]);
    });
    return std::ranges::min(mesh_.GetTeam().GetWorld().AllGatherValue(nearest));
  }

  netuit::Mesh& mesh_;
  double delta_;
  netuit::EdgeWeights weight_;
  netuit::Field<double> length_;
  netuit::Field<double> told_;  // the length of the way of which its neighbours know
  netuit::Call<double> reach_;
  double limit_ = 0;
};

/// The same with local steps: a process first goes on with its own nodes, and then calls others' nodes, each once per step. The
/// lengths belong to a process as a whole, so its mesh must have one thread.
class ByLocalSteps {
 public:
  ByLocalSteps(netuit::Mesh& mesh, const graphs::Part& part, const graphs::Slots& slots, double delta)
      : mesh_(mesh), ways_(mesh, part, slots, delta), reach_(mesh.AddCall<double>([this, &part](netuit::Node& node, double length) {
          ways_.Reach(part.Find(node.Id()).node, length);
        }, graphs::RoomForEdges(mesh))) {}
  /// Collective.
  void Search(netuit::NodeId root) {
    ways_.Begin(root);
    for (double nearest = Nearest(); nearest < infinite; nearest = Nearest()) {
      ways_.Step(nearest);
      mesh_.Finish([&] { ways_.TellOthers([&](const graphs::Away& away, double length) { reach_(away.id, length); }); });
    }
  }
  /// By local number.
  std::vector<double> Lengths() const { return ways_.LengthsOfNodes(); }

 private:
  /// Where the next step begins, of all processes. Collective.
  double Nearest() const { return std::ranges::min(mesh_.GetTeam().GetWorld().AllGatherValue(ways_.Nearest())); }

  netuit::Mesh& mesh_;
  LocalWays ways_;
  netuit::Call<double> reach_;
};

}  // namespace sssp
