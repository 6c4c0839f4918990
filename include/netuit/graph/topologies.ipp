#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <netuit/graph/topologies.hpp>
#include <netuit/graph/topology.hpp>
#include <uit/config.hpp>
#include <uit/support/error.hpp>

namespace netuit {

UIT_DEFINE Topology MakeEmpty(NodeId num_nodes) { return Topology{num_nodes, {}}; }

UIT_DEFINE Topology MakeLoop(NodeId num_nodes) {
  std::vector<Edge> edges;
  for (NodeId node = 0; node < num_nodes; ++node) edges.push_back({node, node});
  return Topology{num_nodes, std::move(edges)};
}

UIT_DEFINE Topology MakeDyadic(NodeId num_nodes) {
  std::vector<Edge> edges;
  for (NodeId node = 0; node < num_nodes - num_nodes % 2; ++node) edges.push_back({node, node ^ 1U});
  return Topology{num_nodes, std::move(edges)};
}

UIT_DEFINE Topology MakeProducerConsumer(NodeId num_nodes) {
  std::vector<Edge> edges;
  for (NodeId node = 0; node < num_nodes - num_nodes % 2; node += 2) edges.push_back({node, node + 1});
  return Topology{num_nodes, std::move(edges)};
}

UIT_DEFINE Topology MakeComplete(NodeId num_nodes) {
  std::vector<Edge> edges;
  for (NodeId source = 0; source < num_nodes; ++source) {
    for (NodeId target = 0; target < num_nodes; ++target) {
      if (target != source) edges.push_back({source, target});
    }
  }
  return Topology{num_nodes, std::move(edges)};
}

UIT_DEFINE Topology MakeHypercube(unsigned num_dimensions) {
  if (num_dimensions >= 32)
    throw uit::InputError("a hypercube must have fewer than 32 dimensions, not " + std::to_string(num_dimensions));
  const NodeId num_nodes = NodeId{1} << num_dimensions;
  std::vector<Edge> edges;
  edges.reserve(std::size_t{num_nodes} * num_dimensions);
  for (NodeId node = 0; node < num_nodes; ++node) {
    for (unsigned bit = 0; bit < num_dimensions; ++bit) edges.push_back({node, node ^ (NodeId{1} << bit)});
  }
  return Topology{num_nodes, std::move(edges)};
}

UIT_DEFINE Topology MakeGrid(const std::vector<NodeId>& sides) { return detail::MakeLattice(sides, detail::Border::open); }

UIT_DEFINE Topology MakeTorus(const std::vector<NodeId>& sides) {
  return detail::MakeLattice(sides, detail::Border::wrapped);
}

UIT_DEFINE Topology MakeRing(NodeId num_nodes) { return MakeTorus(num_nodes); }

}  // namespace netuit

namespace netuit::detail {

UIT_DEFINE Topology MakeLattice(const std::vector<NodeId>& sides, Border border) {
  std::uint64_t num_nodes = 1;
  for (const NodeId side : sides) {
    num_nodes *= side;
    if (num_nodes > std::numeric_limits<NodeId>::max()) throw uit::InputError("a lattice must have fewer than 2^32 nodes");
  }
  std::vector<Edge> edges;
  edges.reserve(num_nodes * 2 * sides.size());
  std::vector<NodeId> at(sides.size());
  for (NodeId node = 0; node < num_nodes; ++node) {
    NodeId stride = 1;
    for (std::size_t i = sides.size(); i-- > 0; stride *= sides[i]) {
      const NodeId last = sides[i] - 1;
      const bool wraps = border == Border::wrapped && last > 1;
      if (at[i] > 0)
        edges.push_back({node, node - stride});
      else if (wraps)
        edges.push_back({node, node + last * stride});
      if (at[i] < last)
        edges.push_back({node, node + stride});
      else if (wraps)
        edges.push_back({node, node - last * stride});
    }
    for (std::size_t i = sides.size(); i-- > 0 && ++at[i] == sides[i];) at[i] = 0;
  }
  return Topology{static_cast<NodeId>(num_nodes), std::move(edges)};
}

}  // namespace netuit::detail
