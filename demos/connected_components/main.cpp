// The connected components of a graph that is distributed over processes. Compares, in one run, a program in which the smallest
// label spreads by calls to the owners of nodes, or between sets of them, with one over MPI by hand.
#include <cstddef>
#include <string>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/mesh/gather.hpp>
#include <netuit/mesh/mesh.hpp>
#include <uit/link/world.hpp>

#include "by_calls.hpp"
#include "by_mpi.hpp"
#include "demos/common/contest.hpp"
#include "demos/graphs/difference.hpp"
#include "demos/graphs/input.hpp"
#include "demos/graphs/options.hpp"
#include "demos/graphs/part.hpp"
#include "demos/graphs/slots.hpp"
#include "forests.hpp"

namespace connected_components {
namespace {

constexpr auto text =
    "Finds the connected components of a graph over MPI by hand, and by calls to the owners of nodes: of each node, or of sets that\n"
    "each process, as the one over MPI, has found among its own nodes beforehand. Start it with mpirun.\n"
    "Compares with a serial search on rank 0. Prints a row for each; the items are edges, and the ratio is that to MPI. With\n"
    "--in-parts, no serial search is possible: each process joins the nodes of its own edges, and rank 0 joins what they have\n"
    "found, which is not timed.";

/// The smallest number of a node in the component of each node, on one process.
std::vector<netuit::NodeId> SolveSerially(const netuit::Topology& graph) {
  std::vector<netuit::NodeId> labels(graph.NumNodes(), netuit::no_node);
  std::vector<netuit::NodeId> waiting;
  for (netuit::NodeId first = 0; first < graph.NumNodes(); ++first) {
    if (labels[first] != netuit::no_node) continue;
    labels[first] = first;
    for (waiting.push_back(first); !waiting.empty();) {
      const netuit::NodeId node = waiting.back();
      waiting.pop_back();
      for (const netuit::NodeId target : graph.OutNeighbors(node)) {
        if (labels[target] != netuit::no_node) continue;
        labels[target] = first;
        waiting.push_back(target);
      }
    }
  }
  return labels;
}

int Run(const uit::World& world, const graphs::Options& options) {
  graphs::Input input{world, options};
  netuit::Mesh& mesh = input.Mesh();
  const graphs::Part part{world, mesh};
  std::vector<netuit::NodeId> exact = input.IsWhole() ? SolveSerially(input.Whole()) : JoinForests(mesh);
  const graphs::Slots slots{mesh, part};
  ByMpi by_mpi{mesh, part, slots};
  ByLabels by_labels{mesh};
  BySets by_sets{mesh, part, slots};
  const auto num_links = [&](std::size_t) { return static_cast<double>(mesh.NumEdges()) / 2; };
  std::vector<demo::Method> methods;
  methods.push_back({"MPI in rounds", [&](std::size_t) { by_mpi.Solve(); }, [&](std::size_t) {
                       return graphs::Difference(netuit::GatherByNode(mesh, by_mpi.Labels()), exact);
                     }, num_links});
  if (input.IsWhole())
    methods.push_back({"serial", [&](std::size_t) { exact = SolveSerially(input.Whole()); },
                       [](std::size_t) { return std::string{}; }, num_links});
  methods.push_back({"calls", [&](std::size_t) { by_labels.Solve(); },
                     [&](std::size_t) { return graphs::Difference(mesh.Gather(by_labels.Labels()), exact); }, num_links});
  methods.push_back({"calls between sets", [&](std::size_t) { by_sets.Solve(); }, [&](std::size_t) {
                       return graphs::Difference(netuit::GatherByNode(mesh, by_sets.Labels()), exact);
                     }, num_links});
  demo::Compete(world, methods, options.trials);
  return 0;
}

}  // namespace
}  // namespace connected_components

int main(int argc, char** argv) {
  return graphs::Main(argc, argv,
                      {.name = "connected_components",
                       .text = connected_components::text,
                       .trials = "--replicates",
                       .trials_text = "computations"},
                      connected_components::Run);
}
