#pragma once

#include <cstdint>
#include <vector>

#include <netuit/calls/calls.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node.hpp>

#include "demos/graphs/part.hpp"
#include "demos/graphs/room.hpp"
#include "demos/graphs/slots.hpp"
#include "local_sets.hpp"

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
          for (auto edge : node.Out()) give(edge, label);
        }, graphs::RoomForEdges(mesh))) {}
  /// Collective.
  void Solve() {
    mesh_.Visit([&](netuit::Node& node) { label_[node] = node.Id(); });
    mesh_.Finish([&](netuit::Node& node) {
      if (label_[node] != node.Id()) return;  // has passed on a smaller one already
      for (auto edge : node.Out()) give_(edge, node.Id());
    });
  }
  netuit::Field<netuit::NodeId> Labels() const { return label_; }

 private:
  netuit::Mesh& mesh_;
  netuit::Field<netuit::NodeId> label_;
  netuit::Call<netuit::NodeId> give_;
};

/// The same for sets of nodes: each process first finds those that its own edges join. A set that gets a smaller label passes it on
/// to its nodes in other processes. The sets belong to a process as a whole, so its mesh must have one thread.
class BySets {
 public:
  BySets(netuit::Mesh& mesh, const graphs::Part& part, const graphs::Slots& slots)
      : mesh_(mesh), sets_(part, slots),
        give_(mesh.AddCall<netuit::NodeId>([this, &part](netuit::Node& node, netuit::NodeId label, const auto& give) {
          const std::uint32_t set = sets_.SetOf(part.Find(node.Id()).node);
          if (sets_.TryGive(set, label)) PassOn(set, give);
        }, graphs::RoomForEdges(mesh))) {}
  /// Collective.
  void Solve() {
    sets_.Find();
    mesh_.Finish([&] {
      for (const std::uint32_t set : sets_.Shared()) PassOn(set, give_);
    });
    sets_.GetLabels(labels_);
  }
  /// By local number.
  const std::vector<netuit::NodeId>& Labels() const { return labels_; }

 private:
  void PassOn(std::uint32_t set, const auto& give) {
    sets_.ForEachToTell(set, [&](const graphs::Away& away) { give(away.id, sets_.Label(set)); });
  }

  netuit::Mesh& mesh_;
  LocalSets sets_;
  netuit::Call<netuit::NodeId> give_;
  std::vector<netuit::NodeId> labels_;
};

}  // namespace connected_components
