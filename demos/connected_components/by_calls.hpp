#pragma once

#include <netuit/calls/calls.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node.hpp>

#include "demos/graphs/room.hpp"

namespace connected_components {

/// Labels each node of an undirected graph with the smallest number of a node in its component. Each node begins with its own
/// number, and a node that gets a smaller label passes it on at once.
class ByLabels {
 public:
  explicit ByLabels(netuit::Mesh& mesh)
      : mesh_(mesh), label_(mesh.AddField<netuit::NodeId>()),
        give_(mesh.AddCall<netuit::NodeId>([this](netuit::Node& node, netuit::NodeId label, const auto& give) {
          if (label >= label_[node]) return;
          label_[node] = label;
          for (auto edge : node.Out()) give(edge.Target(), label);
        }, graphs::RoomForEdges(mesh))) {}
  /// Collective.
  void Solve() {
    mesh_.Visit([&](netuit::Node& node) { label_[node] = node.Id(); });
    mesh_.Finish([&](netuit::Node& node) {
      if (label_[node] != node.Id()) return;  // has passed on a smaller one already
      for (auto edge : node.Out()) give_(edge.Target(), node.Id());
    });
  }
  netuit::Field<netuit::NodeId> Labels() const { return label_; }

 private:
  netuit::Mesh& mesh_;
  netuit::Field<netuit::NodeId> label_;
  netuit::Call<netuit::NodeId> give_;
};

}  // namespace connected_components
