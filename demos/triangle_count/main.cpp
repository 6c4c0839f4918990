// The triangles of a graph that is distributed over processes. Compares, in one run, calls to the owners of nodes with one program
// over MPI by hand.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh.hpp>
#include <uit/link/world.hpp>

#include "by_calls.hpp"
#include "by_mpi.hpp"
#include "demos/common/contest.hpp"
#include "demos/graphs/input.hpp"
#include "demos/graphs/options.hpp"
#include "demos/graphs/part.hpp"
#include "neighbors.hpp"

namespace triangle_count {
namespace {

constexpr auto text =
    "Counts the triangles of a graph in two ways: over MPI by hand, and by calls to the owners of nodes. Start it with mpirun.\n"
    "Compares with a serial count on rank 0; with --in-parts, with the count over MPI. Prints a row per way; the items are edges,\n"
    "and the ratio is that to MPI.";

int Run(const uit::World& world, const graphs::Options& options) {
  graphs::Input input{world, options};
  netuit::Mesh& mesh = input.Mesh();
  const graphs::Part part{world, mesh};
  ByMpi by_mpi{world, part};
  ByCalls by_calls{mesh};
  const std::uint64_t exact = input.IsWhole() ? CountSerially(input.Whole()) : by_mpi.Count();
  std::uint64_t count = 0;
  const auto check = [&](std::size_t) -> std::string {
    return !world.IsRoot() || count == exact ? "" : std::to_string(count) + " triangles, not " + std::to_string(exact);
  };
  const auto num_links = [&](std::size_t) { return static_cast<double>(mesh.NumEdges()) / 2; };
  demo::Compete(world,
                {{"MPI in batches", [&](std::size_t) { count = by_mpi.Count(); }, check, num_links},
                 {"calls", [&](std::size_t) { count = by_calls.Count(); }, check, num_links}},
                options.trials);
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
