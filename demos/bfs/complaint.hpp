#pragma once

#include <string>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node.hpp>

#include "demos/graphs/over_processes.hpp"
#include "tree.hpp"

namespace bfs {

/// Says what is wrong with a tree, on rank 0. Every process checks its own nodes. Collective.
inline std::string Complaint(const netuit::Mesh& mesh, netuit::NodeId root, const std::vector<netuit::NodeId>& parents) {
  const Tree tree{mesh.NumNodes(), root, parents};
  std::string complaint = tree.Complaint();
  std::vector<netuit::NodeId> neighbors;
  mesh.Visit([&](const netuit::Node& node) {
    if (!complaint.empty()) return;
    neighbors.clear();
    for (const netuit::InEdge edge : node.In()) neighbors.push_back(edge.Source());
    complaint = tree.ComplaintAbout(node.Id(), neighbors);
  });
  return graphs::FirstComplaint(mesh.GetWorld(), complaint);
}

}  // namespace bfs
