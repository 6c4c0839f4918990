// Shortest ways from a node of a weighted graph that is distributed over processes. Compares, in one run, a program by calls to the
// owners of nodes, for each edge or after local steps, with one over MPI by hand.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <netuit/graph/random_stream.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/edge_field.hpp>
#include <netuit/mesh/gather.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node.hpp>
#include <netuit/mesh/on_root.hpp>
#include <uit/link/world.hpp>

#include "by_calls.hpp"
#include "by_mpi.hpp"
#include "demos/common/contest.hpp"
#include "demos/graphs/difference.hpp"
#include "demos/graphs/input.hpp"
#include "demos/graphs/options.hpp"
#include "demos/graphs/over_processes.hpp"
#include "demos/graphs/part.hpp"
#include "demos/graphs/slots.hpp"
#include "serial.hpp"

namespace sssp {
namespace {

constexpr auto text =
    "Finds the lengths of the shortest ways from several roots in steps (Delta-stepping): over MPI by hand, by calls for each edge to\n"
    "the owners of nodes, and by calls after local steps like those of the MPI version. Start it with mpirun. A graph without\n"
    "weights gets random ones in 0 … 1. Compares with Dijkstra's algorithm on rank 0. Prints a row for each; the\n"
    "items are the edges that are reached, and the ratio is that to MPI. With --in-parts, each process checks its own edges instead.";

/// Says what is wrong with lengths of ways, or nothing, on rank 0. Every process checks the edges that end at its own nodes. No
/// edge may lead to a shorter way, so no length is too large. Each node but the root has a neighbour from which its way comes;
/// because weights are above 0, such neighbours lead back to the root, so no length is too small. Collective.
std::string Complaint(netuit::Mesh& mesh, netuit::NodeId root, const std::vector<double>& gathered) {
  const std::vector<double> lengths = netuit::ValuesOfRoot(mesh.GetWorld(), gathered);
  const netuit::EdgeWeights weight = mesh.GetEdgeWeights();
  std::string complaint;
  mesh.Visit([&](const netuit::Node& node) {
    const double length = lengths[node.Id()];
    double shortest = node.Id() == root ? 0 : infinite;
    for (const netuit::InEdge edge : node.In()) {
      shortest = std::min(shortest, lengths[edge.Source()] + weight[edge]);
      if (weight[edge] == 0) complaint = "an edge weighs 0, so the lengths cannot be checked in parts";
    }
    if (complaint.empty() && length != shortest)
      complaint = "node " + std::to_string(node.Id()) + " has " + std::to_string(length) + " instead of " +
                  std::to_string(shortest);
  });
  return graphs::FirstComplaint(mesh.GetWorld(), complaint);
}

int Run(const uit::World& world, const graphs::Options& options, double delta) {
  graphs::Input input{world, options, [seed = options.seed](netuit::NodeId source, netuit::NodeId target) {
                        const auto [low, high] = std::minmax(source, target);
                        return netuit::RandomStream{seed, std::uint64_t{low} << 32U | high}.Uniform();
                      }};
  netuit::Mesh& mesh = input.Mesh();
  const graphs::Part part{world, mesh};
  const std::vector<netuit::NodeId> roots = input.ChooseRoots();
  std::vector<std::vector<double>> exact(roots.size());  // by round
  std::vector<double> reached(roots.size());             // edges, by round
  const graphs::Slots slots{mesh, part};
  ByMpi by_mpi{mesh, part, slots, delta};
  ByCalls by_calls{mesh, delta};
  ByLocalSteps by_local_steps{mesh, part, slots, delta};
  const auto search_serially = [&](std::size_t round) {
    if (world.IsRoot()) exact[round] = SolveSerially(input.Whole(), roots[round]);
  };
  const auto check = [&](std::size_t round, const std::vector<double>& lengths) {
    if (world.IsRoot()) reached[round] = input.NumLinks([&](netuit::NodeId node) { return lengths[node] < infinite; });
    if (!input.IsWhole()) return Complaint(mesh, roots[round], lengths);
    if (world.IsRoot() && exact[round].empty()) search_serially(round);  // before its turn
    return graphs::Difference(lengths, exact[round]);
  };
  const auto num_reached = [&](std::size_t round) { return reached[round]; };
  std::vector<demo::Method> methods;
  methods.push_back({"MPI in steps", [&](std::size_t round) { by_mpi.Search(roots[round]); },
                     [&](std::size_t round) { return check(round, netuit::GatherByNode(mesh, by_mpi.Lengths())); },
                     num_reached});
  if (input.IsWhole()) methods.push_back({"serial", search_serially, [](std::size_t) { return std::string{}; }, num_reached});
  methods.push_back({"calls in steps", [&](std::size_t round) { by_calls.Search(roots[round]); },
                     [&](std::size_t round) { return check(round, mesh.Gather(by_calls.Lengths())); }, num_reached});
  methods.push_back({"calls after local steps", [&](std::size_t round) { by_local_steps.Search(roots[round]); },
                     [&](std::size_t round) { return check(round, netuit::GatherByNode(mesh, by_local_steps.Lengths())); },
                     num_reached});
  demo::Compete(world, methods, roots.size());
  return 0;
}

}  // namespace
}  // namespace sssp

int main(int argc, char** argv) {
  double delta = 0.03;
  return graphs::Main(argc, argv,
                      {.name = "sssp",
                       .text = sssp::text,
                       .trials = "--roots",
                       .trials_text = "searches, each from another node",
                       .add_options =
                           [&](CLI::App& app) {
                             app.add_option("--delta", delta, "length of a step; long ones let nodes tell of ways that are soon replaced")->check(CLI::Range(1e-6, 1e9));
                           }},
                      [&](const uit::World& world, const graphs::Options& options) { return sssp::Run(world, options, delta); });
}
