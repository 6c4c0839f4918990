#include "demos/bfs/tree.hpp"

#include <string>
#include <utility>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/quality/quality.hpp>

#include "tests/support/catch.hpp"

using netuit::no_node;
using netuit::NodeId;

namespace {

/// A ring of six nodes, and a link of two.
netuit::Topology RingAndLink() {
  std::vector<netuit::Edge> edges;
  for (NodeId node = 0; node < 6; ++node) {
    edges.push_back({node, (node + 1) % 6});
    edges.push_back({(node + 1) % 6, node});
  }
  edges.push_back({6, 7});
  edges.push_back({7, 6});
  return {8, std::move(edges)};
}

std::string Complaint(const std::vector<NodeId>& parents) {
  const netuit::Topology graph = RingAndLink();
  const bfs::Tree tree{graph.NumNodes(), 0, parents};
  std::string complaint = tree.Complaint();
  for (NodeId node = 0; node < graph.NumNodes() && complaint.empty(); ++node) {
    std::vector<NodeId> neighbors;
    for (const netuit::EdgeId edge : graph.InEdges(node)) neighbors.push_back(graph.Source(edge));
    complaint = tree.ComplaintAbout(node, neighbors);
  }
  return complaint;
}

}  // namespace

TEST_CASE("A breadth-first tree is accepted") {
  CHECK(Complaint({0, 0, 1, 2, 5, 0, no_node, no_node}).empty());
  CHECK(Complaint({0, 0, 1, 4, 5, 0, no_node, no_node}).empty());
}

TEST_CASE("Each rule for a breadth-first tree is checked") {
  CHECK(Complaint({0, 0, 1, 2, 3, 0, no_node, no_node}) == "node 4 is more than one level away from its neighbour node 5");
  CHECK(Complaint({0, 0, 1, no_node, 5, 0, no_node, no_node}) == "only one of node 2 and its neighbour node 3 is reached");
  CHECK(Complaint({0, 0, 1, 1, 5, 0, no_node, no_node}) == "node 3 has a parent that is not its neighbour");
  CHECK(Complaint({0, 0, 1, 2, 5, 0, 0, 6}) == "node 6 has a parent that is not its neighbour");
  const std::string no_tree = "the parents are no tree with node 0 as its root";
  CHECK(Complaint({0, 0, 1, 2, 5, 0, 7, 6}) == no_tree);                // a cycle
  CHECK(Complaint({0, 0, 1, 2, 5, 0, 6, 6}) == no_tree);                // another root
  CHECK(Complaint({1, 0, 1, 2, 5, 0, no_node, no_node}) == no_tree);    // without a root
  CHECK(Complaint({0, 0, 1, 2, 7, 0, no_node, no_node}) == no_tree);    // a way that leaves the tree
  CHECK(Complaint({0, 0, 1, 2, 99, 0, no_node, no_node}) == no_tree);   // no node
  CHECK(Complaint({0, 0, 1}) == "a node has no result");
}
