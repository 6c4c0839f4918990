// Shortest ways from a node of a weighted graph that is distributed over processes, by calls to the owners of nodes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include <netuit/graph/graph.hpp>
#include <netuit/graph/random_stream.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh.hpp>
#include <uit/link/world.hpp>
#include <uit/team/team.hpp>

#include "by_calls.hpp"
#include "demos/graphs/options.hpp"
#include "demos/graphs/race.hpp"
#include "demos/graphs/roots.hpp"
#include "serial.hpp"

namespace sssp {
namespace {

constexpr auto text =
    "Finds the lengths of the shortest ways from several roots by calls to the owners of nodes, at once and in steps\n"
    "(Delta-stepping). Start it with mpirun. A graph without weights gets random ones in 0 … 1. Compares with Dijkstra's\n"
    "algorithm on rank 0. Prints a row for each: millions of edges that are reached per second (harmonic mean), and the ratio to\n"
    "Dijkstra's algorithm (median).";

/// The graph, with a random weight for each link if it has none.
netuit::Graph Weighted(const netuit::Graph& graph, std::uint64_t seed) {
  const auto make = [graph, seed] {
    const netuit::Topology& from = graph.Get();
    if (from.HasEdgeWeights()) return from;
    std::vector<netuit::Edge> edges;
    edges.reserve(from.NumEdges());
    for (netuit::EdgeId edge = 0; edge < from.NumEdges(); ++edge) {
      const auto [low, high] = std::minmax({from.Source(edge), from.Target(edge)});
      const double weight = netuit::RandomStream{seed, std::uint64_t{low} << 32U | high}.Uniform();
      edges.push_back({from.Source(edge), from.Target(edge), weight});
    }
    return netuit::Topology{from.NumNodes(), std::move(edges)};
  };
  return make;
}

int Run(const uit::World& world, const graphs::Options& options, double delta) {
  const netuit::Graph graph = Weighted(graphs::MakeGraph(options), options.seed);
  const uit::Team team{world, {.threads = 1}};
  netuit::Mesh mesh{team, graph};
  const std::vector<netuit::NodeId> roots = graphs::ChooseRoots(world, graph, options);
  const netuit::Topology& whole = world.IsRoot() ? graph.Get() : graphs::no_graph;
  std::vector<std::vector<double>> exact(roots.size());  // by trial
  ByCalls at_once{mesh, infinite};
  ByCalls in_steps{mesh, delta};
  graphs::Race race{world, whole};
  const auto search_serially = [&](std::size_t trial) {
    if (world.IsRoot()) exact[trial] = SolveSerially(whole, roots[trial]);
  };
  race.Add({"serial", search_serially, [](std::size_t) { return std::string{}; }});
  const auto check = [&](std::size_t trial, const std::vector<double>& lengths) {
    if (world.IsRoot() && exact[trial].empty()) search_serially(trial);  // before its turn
    return graphs::Difference(lengths, exact[trial]);
  };
  race.Add({"calls at once", [&](std::size_t trial) { at_once.Search(roots[trial]); },
            [&](std::size_t trial) { return check(trial, mesh.Gather(at_once.Lengths())); }});
  race.Add({"calls in steps", [&](std::size_t trial) { in_steps.Search(roots[trial]); },
            [&](std::size_t trial) { return check(trial, mesh.Gather(in_steps.Lengths())); }});
  race.Run(roots.size(), [&](std::size_t trial) {
    return graphs::NumLinks(whole, [&](netuit::NodeId node) { return exact[trial][node] < infinite; });
  });
  return 0;
}

}  // namespace
}  // namespace sssp

int main(int argc, char** argv) {
  double delta = 0.1;
  return graphs::Main(argc, argv,
                      {.name = "sssp",
                       .text = sssp::text,
                       .trials = "--roots",
                       .trials_text = "searches, each from another node",
                       .add_options =
                           [&](CLI::App& app) {
                             app.add_option("--delta", delta, "length of a step")->check(CLI::Range(1e-6, 1e9));
                           }},
                      [&](const uit::World& world, const graphs::Options& options) { return sssp::Run(world, options, delta); });
}
