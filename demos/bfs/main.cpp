// Breadth-first search of a graph that is distributed over processes, as in Graph500. Compares, in one run, two programs by calls
// to the owners of nodes with one over MPI by hand.
#include <cstddef>
#include <string>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/mesh/gather.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node.hpp>
#include <uit/link/world.hpp>

#include "by_calls.hpp"
#include "by_mpi.hpp"
#include "demos/graphs/input.hpp"
#include "demos/graphs/options.hpp"
#include "demos/graphs/part.hpp"
#include "demos/graphs/race.hpp"
#include "demos/graphs/spread.hpp"
#include "tree.hpp"

namespace bfs {
namespace {

constexpr auto text =
    "Searches a graph breadth first from several roots, by the rules of Graph500, in three ways: over MPI by hand, by calls\n"
    "to the owners of nodes level by level, and by calls without levels. Start it with mpirun. Checks every tree. Prints a row\n"
    "per way: millions of edges of the graph that a search reaches per second (harmonic mean over the roots), and the ratio\n"
    "to MPI (median over the roots).";

/// Says what is wrong with a tree, on rank 0. Every process checks its own nodes. Collective.
std::string Complaint(const netuit::Mesh& mesh, netuit::NodeId root, const std::vector<netuit::NodeId>& parents) {
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

int Run(const uit::World& world, const graphs::Options& options) {
  graphs::Input input{world, options};
  netuit::Mesh& mesh = input.Mesh();
  const graphs::Part part{world, mesh};
  const std::vector<netuit::NodeId> roots = input.ChooseRoots();
  std::vector<double> reached(roots.size());  // edges, by trial
  const auto check = [&](std::size_t trial, const std::vector<netuit::NodeId>& gathered) {
    const std::vector<netuit::NodeId> parents = graphs::Spread(world, gathered);
    if (world.IsRoot()) reached[trial] = input.NumLinks([&](netuit::NodeId node) { return parents[node] != netuit::no_node; });
    return Complaint(mesh, roots[trial], parents);
  };

  ByMpi by_mpi{world, part};
  ByLevels by_levels{mesh};
  WithoutLevels without_levels{mesh};
  graphs::Race race{mesh};
  race.Add({"MPI level by level", [&](std::size_t trial) { by_mpi.Search(roots[trial]); },
            [&](std::size_t trial) { return check(trial, netuit::GatherByNode<netuit::NodeId>(mesh, by_mpi.Parents())); }});
  race.Add({"calls level by level", [&](std::size_t trial) { by_levels.Search(roots[trial]); },
            [&](std::size_t trial) { return check(trial, mesh.Gather(by_levels.Parents())); }});
  race.Add({"calls without levels", [&](std::size_t trial) { without_levels.Search(roots[trial]); },
            [&](std::size_t trial) { return check(trial, mesh.Gather(without_levels.Parents())); }});
  race.Run(roots.size(), [&](std::size_t trial) { return reached[trial]; });
  return 0;
}

}  // namespace
}  // namespace bfs

int main(int argc, char** argv) {
  return graphs::Main(argc, argv,
                      {.name = "bfs",
                       .text = bfs::text,
                       .trials = "--roots",
                       .trials_text = "searches, each from another node"},
                      bfs::Run);
}
