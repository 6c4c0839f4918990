// How does the speed of a breadth-first search by calls depend on the size of the graph, beside one over MPI by hand? Rank 0 makes
// graphs up to scale 18, so that METIS can place them. Larger ones are made in parts, each by its process, as long as they fit into
// half of the memory that is free.

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/on_root.hpp>
#include <uit/link/world.hpp>
#include <uit/support/clock.hpp>

#include "demos/bfs/by_calls.hpp"
#include "demos/bfs/by_mpi.hpp"
#include "demos/bfs/complaint.hpp"
#include "demos/graphs/input.hpp"
#include "demos/graphs/options.hpp"
#include "demos/graphs/part.hpp"
#include "microbenchmarks/support/program.hpp"
#include "microbenchmarks/support/rank_main.hpp"
#include "microbenchmarks/support/ranks.hpp"

namespace {

using Search = std::function<void(netuit::NodeId root)>;

/// Searches from a root a few times, and returns the time of the fastest in seconds: what disturbs the machine only makes it
/// slower.
double Time(const uit::World& world, const Search& search, netuit::NodeId root) {
  double best = 0;
  for (int trial = 0; trial < 3; ++trial) {
    world.Agree("");  // all start together
    const uit::TimePoint start = uit::Now();
    search(root);
    const double seconds = std::ranges::max(world.AllGatherValue(std::chrono::duration<double>(uit::Now() - start).count()));
    if (trial == 0 || seconds < best) best = seconds;
  }
  return best;
}

/// The edges that searches reach per second, in millions: the harmonic mean over some roots.
struct Rates {
  double by_mpi = 0;
  double by_calls = 0;
};

Rates Measure(const uit::World& world, unsigned scale, bool in_parts, std::size_t num_roots) {
  const graphs::Options options{.scale = scale, .in_parts = in_parts, .trials = num_roots};
  graphs::Input input{world, options};
  netuit::Mesh& mesh = input.Mesh();
  const graphs::Part part{world, mesh};
  bfs::ByMpi by_mpi{world, part};
  bfs::ByLevels by_levels{mesh};
  double sum_by_mpi = 0;    // of the times for a million edges
  double sum_by_calls = 0;
  for (const netuit::NodeId root : input.ChooseRoots()) {
    const double seconds_by_mpi = Time(world, [&](netuit::NodeId from) { by_mpi.Search(from); }, root);
    const double seconds_by_calls = Time(world, [&](netuit::NodeId from) { by_levels.Search(from); }, root);
    const std::vector<netuit::NodeId> parents = netuit::ValuesOfRoot(world, mesh.Gather(by_levels.Parents()));
    const std::string complaint = bfs::Complaint(mesh, root, parents);
    if (!world.IsRoot()) continue;
    if (!complaint.empty()) {
      std::fprintf(stderr, "%s\n", complaint.c_str());
      std::exit(1);
    }
    const double millions = input.NumLinks([&](netuit::NodeId node) { return parents[node] != netuit::no_node; }) / 1e6;
    sum_by_mpi += seconds_by_mpi / millions;
    sum_by_calls += seconds_by_calls / millions;
  }
  return {static_cast<double>(num_roots) / sum_by_mpi, static_cast<double>(num_roots) / sum_by_calls};
}

/// The largest scale in parts that needs at most half of the host's free memory, about 2.5 kB per node: up to 20, which takes half a
/// minute. Collective.
unsigned LargestScale(const uit::World& world) {
  constexpr std::uint64_t bytes_per_node = 2500;
  unsigned scale = 16;
  std::ifstream file{"/proc/meminfo"};
  std::string word;
  std::uint64_t kilobytes = 0;
  while (file >> word && word != "MemAvailable:") {
  }
  file >> kilobytes;
  while (scale < 20 && (bytes_per_node << (scale + 2)) <= kilobytes * 1024 / 2) scale += 2;
  return world.BroadcastValue(scale);
}

/// The most memory that this process has had, in GB.
double PeakGigabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1e6;
}

void MeasureSize(bench::Program& program, const uit::World& world, unsigned scale, bool in_parts, std::size_t num_roots) {
  const std::string where = in_parts ? " in parts" : "";
  const std::string name = "breadth-first search by calls" + where + ", scale " + std::to_string(scale) + ": to MPI by hand";
  if (!program.IsWanted(name)) return;
  const Rates rates = Measure(world, scale, in_parts, num_roots);
  const double gigabytes = std::ranges::max(world.AllGatherValue(PeakGigabytes()));
  if (!world.IsRoot()) return;
  const auto draw = [&](const std::string& line, double rate) {
    program.Add({.chart = "breadth-first search of Kronecker graphs", .x_label = "scale: the graph has 2^scale nodes",
                 .y_label = "million edges per second", .line = line, .x = static_cast<double>(scale)}, rate);
  };
  draw("MPI by hand" + where, rates.by_mpi);
  draw("calls" + where, rates.by_calls);
  program.Add({.figure = name,
               .value = bench::Digits(rates.by_calls / rates.by_mpi),
               .spread = "-",
               .target = "-",
               .verdict = "-",
               .proximity = "-",
               .detail = "calls " + bench::Digits(rates.by_calls) + ", MPI by hand " + bench::Digits(rates.by_mpi) +
                         " million edges per second, up to " + bench::Digits(gigabytes) + " GB per process"});
}

void MeasureGrowth(bench::Program& program, bench::Ranks& /*ranks*/, const uit::World& world) {
  for (unsigned scale = 10; scale <= (program.IsQuick() ? 14U : 18U); scale += 2)
    MeasureSize(program, world, scale, false, program.IsQuick() ? 2 : 8);
  const unsigned largest = program.IsQuick() ? 16 : LargestScale(world);
  for (unsigned scale = 16; scale <= largest; scale += 2) MeasureSize(program, world, scale, true, scale < 20 ? 2 : 1);
}

}  // namespace

int main(int argc, char** argv) { return bench::MainOfTwoRanks(argc, argv, MeasureGrowth); }
