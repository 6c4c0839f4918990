#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <vector>

#include <netuit/graph/graph.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh.hpp>
#include <uit/link/world.hpp>
#include <uit/team/team.hpp>

#include "demos/graphs/options.hpp"

namespace graphs {

/// The weight of an edge by its ends.
using Weight = std::function<double(netuit::NodeId source, netuit::NodeId target)>;

/// The graph of a demo: a mesh of one thread per process, and what else is known of the graph.
class Input {
 public:
  /// Makes the graph that the options choose. It gets weights from `weight`, if that is given and the graph has none. Collective.
  /// If the graph cannot be made or has no edge, every process throws, and one of them throws the cause.
  Input(const uit::World& world, const Options& options, const Weight& weight = {});

  netuit::Mesh& Mesh() { return mesh_; }
  const netuit::Mesh& Mesh() const { return mesh_; }
  /// Whether rank 0 has the whole graph.
  bool IsWhole() const { return !options_.in_parts; }
  /// The whole graph on rank 0, if it has it; otherwise a graph of no nodes.
  const netuit::Topology& Whole() const { return IsWhole() && world_.IsRoot() ? graph_.Get() : nothing_; }
  /// By node, how many edges begin there. Empty except on rank 0.
  const std::vector<std::uint32_t>& Degrees() const { return degrees_; }

  /// As many random nodes as the options have trials, each with a neighbour. All are different, unless the graph has too few. Collective.
  std::vector<netuit::NodeId> ChooseRoots() const;
  /// Half the number of edges that begin at nodes for which `is_reached(node)` holds: in an undirected graph, their links. Rank 0
  /// only.
  template <std::predicate<netuit::NodeId> F>
  double NumLinks(F&& is_reached) const {
    double sum = 0;
    for (netuit::NodeId node = 0; node < degrees_.size(); ++node)
      if (is_reached(node)) sum += degrees_[node];
    return sum / 2;
  }

 private:
  uit::World world_;
  Options options_;
  netuit::Graph graph_;
  uit::Team team_;
  netuit::Mesh mesh_;
  netuit::Topology nothing_;
  std::vector<std::uint32_t> degrees_;
};

}  // namespace graphs
