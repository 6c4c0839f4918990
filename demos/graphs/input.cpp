#include "input.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include <netuit/file/load_graph.hpp>
#include <netuit/graph/graph.hpp>
#include <netuit/graph/kronecker.hpp>
#include <netuit/graph/random_stream.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/gather.hpp>
#include <netuit/mesh/graph_in_parts.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node.hpp>
#include <netuit/mesh/on_root.hpp>
#include <uit/link/world.hpp>
#include <uit/support/error.hpp>
#include <uit/team/team.hpp>

namespace graphs {
namespace {

netuit::Topology Weighted(netuit::Topology graph, const Weight& weight) {
  if (!weight || graph.HasEdgeWeights()) return graph;
  std::vector<netuit::Edge> edges;
  edges.reserve(graph.NumEdges());
  for (netuit::EdgeId edge = 0; edge < graph.NumEdges(); ++edge)
    edges.push_back({graph.Source(edge), graph.Target(edge), weight(graph.Source(edge), graph.Target(edge))});
  return {graph.NumNodes(), std::move(edges)};
}

/// Gives the nodes weights for METIS, unless they have some: a search takes time for each edge. If all nodes weighed the same, one
/// process might get most edges, and the others the nodes without any.
netuit::Topology WithLoads(netuit::Topology graph) {
  if (graph.HasNodeWeights()) return graph;
  std::vector<double> loads;
  for (netuit::NodeId node = 0; node < graph.NumNodes(); ++node) loads.push_back(1 + static_cast<double>(graph.OutNeighbors(node).size()));
  return std::move(graph).WithNodeWeights(std::move(loads));
}

netuit::Graph MakeGraph(const Options& options, const Weight& weight) {
  return [options, weight] {
    return WithLoads(Weighted(options.file.empty() ? netuit::MakeKronecker(options.scale, options.edge_factor, options.seed)
                                                   : netuit::LoadGraph(options.file).Get(),
                              weight));
  };
}

netuit::GraphInParts MakeGraphInParts(const Options& options, const Weight& weight) {
  const netuit::GraphInParts graph = options.file.empty()
                                         ? netuit::KroneckerInParts(options.scale, options.edge_factor, options.seed)
                                         : netuit::ReadInParts(options.file);
  return weight ? graph.WithWeights(weight) : graph;
}

netuit::Mesh MakeMesh(const uit::Team& team, const netuit::Graph& graph, const Options& options, const Weight& weight) {
  if (options.in_parts) return netuit::Mesh{team, MakeGraphInParts(options, weight)};
  return netuit::Mesh{team, graph};
}

}  // namespace

Input::Input(const uit::World& world, const Options& options, const Weight& weight)
    : world_(world), options_(options), graph_(MakeGraph(options, weight)), team_(world, {.threads = 1}),
      mesh_(MakeMesh(team_, graph_, options, weight)) {
  netuit::OnRoot(world, [&] {  // so that only one process prints an error
    if (mesh_.NumEdges() == 0) throw uit::InputError("the graph has no edge");
    return true;
  });
  std::vector<std::uint32_t> mine;
  mesh_.Visit([&](const netuit::Node& node) { mine.push_back(static_cast<std::uint32_t>(node.Out().size())); });
  degrees_ = netuit::GatherByNode(mesh_, mine);
}

std::vector<netuit::NodeId> Input::ChooseRoots() const {
  std::vector<netuit::NodeId> roots;
  std::set<netuit::NodeId> chosen;
  const auto num_candidates = static_cast<std::size_t>(std::ranges::count_if(degrees_, [](auto degree) { return degree != 0; }));
  netuit::RandomStream random{options_.seed, 1U << 31U};
  while (world_.IsRoot() && roots.size() < options_.trials) {
    const netuit::NodeId node = random.Below(mesh_.NumNodes());
    if (degrees_[node] != 0 && (chosen.size() == num_candidates || chosen.insert(node).second)) roots.push_back(node);
  }
  return netuit::ValuesOfRoot(world_, roots);
}

}  // namespace graphs
