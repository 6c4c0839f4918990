// The triangles of a graph that is distributed over processes. Compares, in one run, calls to the owners of nodes with one program
// over MPI by hand.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

#include <netuit/graph/graph.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh.hpp>
#include <uit/link/world.hpp>
#include <uit/team/team.hpp>

#include "by_calls.hpp"
#include "by_mpi.hpp"
#include "demos/graphs/options.hpp"
#include "demos/graphs/part.hpp"
#include "demos/graphs/race.hpp"
#include "demos/graphs/roots.hpp"
#include "neighbors.hpp"

namespace triangle_count {
namespace {

constexpr auto text =
    "Counts the triangles of a graph in two ways: over MPI by hand, and by calls to the owners of nodes. Start it with mpirun.\n"
    "Compares with a serial count on rank 0. Prints a row per way: millions of edges per second (harmonic mean), and the ratio\n"
    "to MPI (median).";

int Run(const uit::World& world, const graphs::Options& options) {
  const netuit::Graph graph = graphs::MakeGraph(options);
  const uit::Team team{world, {.threads = 1}};
  netuit::Mesh mesh{team, graph};
  const graphs::Part part{world, mesh};
  const netuit::Topology& whole = world.IsRoot() ? graph.Get() : graphs::no_graph;
  const std::uint64_t exact = CountSerially(whole);
  std::uint64_t count = 0;
  const auto check = [&](std::size_t) -> std::string {
    return !world.IsRoot() || count == exact ? "" : std::to_string(count) + " triangles, not " + std::to_string(exact);
  };
  ByMpi by_mpi{world, part};
  ByCalls by_calls{mesh};
  graphs::Race race{world, whole};
  race.Add({"MPI in batches", [&](std::size_t) { count = by_mpi.Count(); }, check});
  race.Add({"calls", [&](std::size_t) { count = by_calls.Count(); }, check});
  race.Run(options.trials, [&](std::size_t) { return static_cast<double>(whole.NumEdges()) / 2; });
  if (world.IsRoot()) std::printf("triangles: %llu\n", static_cast<unsigned long long>(exact));
  return 0;
}

}  // namespace
}  // namespace triangle_count

int main(int argc, char** argv) {
  return graphs::Main(argc, argv,
                      {.name = "triangle_count",
                       .text = triangle_count::text,
                       .trials = "--replicates",
                       .trials_text = "counts in each way"},
                      triangle_count::Run);
}
