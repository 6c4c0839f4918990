#pragma once

#include <cstdint>
#include <limits>

#include <netuit/calls/calls.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node.hpp>

#include "demos/graphs/room.hpp"

namespace bfs {

/// The level of a node that no visit has reached.
inline constexpr std::uint32_t unreached = std::numeric_limits<std::uint32_t>::max();

/// Searches level by level: the nodes of a level visit all their neighbours, and the next level begins when all visits are made.
class ByLevels {
 public:
  explicit ByLevels(netuit::Mesh& mesh)
      : mesh_(mesh), parent_(mesh.AddField<netuit::NodeId>()), level_(mesh.AddField<std::uint32_t>()),
        visit_(mesh.AddCall<netuit::NodeId>([this](netuit::Node& node, netuit::NodeId from) {
          if (level_[node] != unreached) return;
          parent_[node] = from;
          level_[node] = present_ + 1;
        })) {}
  /// Collective.
  void Search(netuit::NodeId root) {
    mesh_.Visit([&](netuit::Node& node) {
      parent_[node] = node.Id() == root ? root : netuit::no_node;
      level_[node] = node.Id() == root ? 0 : unreached;
    });
    const auto visit_neighbors = [&](netuit::Node& node) {
      if (level_[node] != present_) return;
      for (auto edge : node.Out()) visit_(edge, node.Id());
    };
    for (present_ = 0; mesh_.Finish(visit_neighbors).pushed != 0; ++present_) {
    }
  }
  netuit::Field<netuit::NodeId> Parents() const { return parent_; }

 private:
  netuit::Mesh& mesh_;
  netuit::Field<netuit::NodeId> parent_;
  netuit::Field<std::uint32_t> level_;
  netuit::Call<netuit::NodeId> visit_;
  std::uint32_t present_ = 0;  // level
};

/// A way from the root to a node.
struct Way {
  netuit::NodeId from = 0;  ///< the last node before
  std::uint32_t steps = 0;
};

/// Searches without levels: a node that learns of a shorter way from the root tells its neighbours at once.
class WithoutLevels {
 public:
  explicit WithoutLevels(netuit::Mesh& mesh)
      : mesh_(mesh), parent_(mesh.AddField<netuit::NodeId>()), steps_(mesh.AddField<std::uint32_t>()),
        visit_(mesh.AddCall<Way>([this](netuit::Node& node, const Way& way, const netuit::Call<Way>& visit) {
          if (steps_[node] <= way.steps) return;
          parent_[node] = way.from;
          steps_[node] = way.steps;
          for (auto edge : node.Out()) visit(edge, {node.Id(), way.steps + 1});
        }, graphs::RoomForEdges(mesh))) {}
  /// Collective.
  void Search(netuit::NodeId root) {
    mesh_.Visit([&](netuit::Node& node) {
      parent_[node] = netuit::no_node;
      steps_[node] = unreached;
    });
    mesh_.Finish([&] {
      if (mesh_.GetTeam().IsRoot()) visit_(root, {root, 0});
    });
  }
  netuit::Field<netuit::NodeId> Parents() const { return parent_; }

 private:
  netuit::Mesh& mesh_;
  netuit::Field<netuit::NodeId> parent_;
  netuit::Field<std::uint32_t> steps_;
  netuit::Call<Way> visit_;
};

}  // namespace bfs
