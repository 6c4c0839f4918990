// Breadth-first search of a graph that is distributed over processes, as in Graph500. Compares, in one run, two programs by calls
// to the owners of nodes with one over MPI by hand.
#include <cstddef>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/mesh/gather.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/on_root.hpp>
#include <uit/link/world.hpp>

#include "by_calls.hpp"
#include "by_mpi.hpp"
#include "complaint.hpp"
#include "demos/common/contest.hpp"
#include "demos/graphs/input.hpp"
#include "demos/graphs/options.hpp"
#include "demos/graphs/part.hpp"

namespace bfs {
namespace {

constexpr auto text =
    "Searches a graph breadth first from several roots, by the rules of Graph500, in three ways: over MPI by hand, by calls\n"
    "to the owners of nodes level by level, and by calls without levels. Start it with mpirun. Checks every tree. Prints a row\n"
    "per way; the items are the edges of the graph that a search reaches, and the ratio is that to MPI.";

int Run(const uit::World& world, const graphs::Options& options) {
  graphs::Input input{world, options};
  netuit::Mesh& mesh = input.Mesh();
  const graphs::Part part{world, mesh};
  const std::vector<netuit::NodeId> roots = input.ChooseRoots();
  std::vector<double> reached(roots.size());  // edges, by round
  const auto check = [&](std::size_t round, const std::vector<netuit::NodeId>& gathered) {
    const std::vector<netuit::NodeId> parents = netuit::ValuesOfRoot(world, gathered);
    if (world.IsRoot()) reached[round] = input.NumLinks([&](netuit::NodeId node) { return parents[node] != netuit::no_node; });
    return Complaint(mesh, roots[round], parents);
  };

  ByMpi by_mpi{world, part};
  ByLevels by_levels{mesh};
  WithoutLevels without_levels{mesh};
  const auto num_reached = [&](std::size_t round) { return reached[round]; };
  demo::Compete(world,
                {{"MPI level by level", [&](std::size_t round) { by_mpi.Search(roots[round]); },
                  [&](std::size_t round) { return check(round, netuit::GatherByNode<netuit::NodeId>(mesh, by_mpi.Parents())); },
                  num_reached},
                 {"calls level by level", [&](std::size_t round) { by_levels.Search(roots[round]); },
                  [&](std::size_t round) { return check(round, mesh.Gather(by_levels.Parents())); }, num_reached},
                 {"calls without levels", [&](std::size_t round) { without_levels.Search(roots[round]); },
                  [&](std::size_t round) { return check(round, mesh.Gather(without_levels.Parents())); }, num_reached}},
                roots.size());
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
