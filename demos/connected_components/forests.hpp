#pragma once

#include <cstddef>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node.hpp>
#include <uit/link/world.hpp>
#include <uit/support/bytes.hpp>

namespace connected_components {

/// Sets of nodes, of which each is known by its smallest node.
class Components {
 public:
  /// Each node is alone.
  explicit Components(std::size_t num_nodes) : parents_(num_nodes) {
    std::iota(parents_.begin(), parents_.end(), netuit::NodeId{0});
  }
  /// Joins the sets of two nodes.
  void Join(netuit::NodeId a, netuit::NodeId b) {
    a = Find(a);
    b = Find(b);
    parents_[a < b ? b : a] = a < b ? a : b;
  }
  /// The smallest node of each node's set.
  std::vector<netuit::NodeId> Labels() {
    for (netuit::NodeId node = 0; node < parents_.size(); ++node) Find(node);
    return parents_;
  }

 private:
  netuit::NodeId Find(netuit::NodeId node) {
    netuit::NodeId root = node;
    while (parents_[root] != root) root = parents_[root];
    while (parents_[node] != root) node = std::exchange(parents_[node], root);
    return root;
  }

  std::vector<netuit::NodeId> parents_;
};

/// The smallest number of a node in the component of each node, on rank 0; nothing elsewhere. Each process finds the components of
/// its own edges, and rank 0 joins them. Needs memory for a number per node and process there, and for no edges. Collective.
inline std::vector<netuit::NodeId> JoinForests(const netuit::Mesh& mesh) {
  Components own(mesh.NumNodes());
  mesh.Visit([&](const netuit::Node& node) {
    for (const netuit::OutEdge edge : node.Out()) own.Join(node.Id(), edge.Target());
  });
  const std::vector<netuit::NodeId> mine = own.Labels();
  const std::vector<uit::Bytes> gathered = mesh.GetWorld().Gather(std::as_bytes(std::span(mine)));
  Components all(gathered.empty() ? 0 : mesh.NumNodes());
  for (const uit::Bytes& theirs : gathered) {
    uit::ByteReader reader{theirs};
    netuit::NodeId label = 0;
    for (netuit::NodeId node = 0; reader.TryRead(label); ++node) all.Join(node, label);
  }
  return all.Labels();
}

}  // namespace connected_components
