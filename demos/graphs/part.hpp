#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node.hpp>
#include <uit/link/world.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>

namespace graphs {

/// Where a node is: a process, and the node's number there.
struct Place {
  std::uint32_t rank = 0;
  std::uint32_t node = 0;
  /// By rank, then by node.
  auto operator<=>(const Place&) const = default;
};

/// A process's nodes with their edges, for programs over MPI by hand and for local steps before calls. Has the placement of a mesh,
/// which must have one thread per process.
class Part {
 public:
  /// Collective.
  Part(const uit::World& world, const netuit::Mesh& mesh) : places_(mesh.NumNodes()) {
    if (mesh.GetTeam().NumThreads() != 1) throw uit::InputError("a part needs a mesh of one thread per process");
    std::vector<netuit::NodeId> targets;
    mesh.Visit([&](const netuit::Node& node) {
      ids_.push_back(node.Id());
      for (const netuit::OutEdge edge : node.Out()) targets.push_back(edge.Target());
      first_.push_back(targets.size());
    });
    std::uint32_t rank = 0;
    for (const uit::Bytes& theirs : world.AllGather(std::as_bytes(std::span(ids_)))) {
      uit::ByteReader reader{theirs};
      netuit::NodeId id = 0;
      for (std::uint32_t node = 0; reader.TryRead(id); ++node) places_[id] = {rank, node};
      ++rank;
    }
    for (const netuit::NodeId target : targets) targets_.push_back(places_[target]);
  }

  std::size_t NumNodes() const { return ids_.size(); }
  netuit::NodeId Id(std::uint32_t node) const { return ids_[node]; }
  std::span<const Place> Targets(std::uint32_t node) const {
    return std::span(targets_).subspan(first_[node], first_[node + 1] - first_[node]);
  }
  /// Of any node of the graph.
  Place Find(netuit::NodeId id) const { return places_[id]; }

 private:
  std::vector<netuit::NodeId> ids_;
  std::vector<std::size_t> first_{0};
  std::vector<Place> targets_;
  std::vector<Place> places_;  // by id
};

}  // namespace graphs
