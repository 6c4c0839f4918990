// What does a mesh cost to wire and to hold, per edge, and does it grow in proportion? Does a run
// allocate once it is under way?

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include <uit/exchange/world.hpp>

#include "microbenchmarks/netuit/channel_selection/mesh.hpp"
#include "microbenchmarks/support/counted_new.hpp"
#include "microbenchmarks/support/program.hpp"

namespace {

using namespace bench::coloring;

/// Every message, at a depth of 2.
struct ByEdge : netuit::Unicast<unsigned> {};

/// A figure that is an amount, not a ratio.
bench::Row Amount(const std::string& figure, double value, const std::string& unit, double most) {
  return {.figure = figure,
          .value = bench::Digits(value),
          .spread = unit,
          .target = "<= " + bench::Digits(most),
          .verdict = value <= most ? "ok" : "short",
          .proximity = "-",
          .detail = {}};
}

struct Cost {
  double seconds;
  double bytes;
};

/// Of a mesh of so many nodes and four times as many edges, in one thread.
template <netuit::Layer L>
Cost Wire(std::size_t num_nodes) {
  const auto side = static_cast<std::uint64_t>(std::lround(std::sqrt(static_cast<double>(num_nodes))));
  const netuit::Topology topology = netuit::MakeTorus(side, side);
  const netuit::Placement placement = netuit::PlaceContiguous(topology, {.processes = 1, .threads = 1});
  const auto before = bench::Heap().num_bytes;
  const uit::TimePoint start = uit::Now();
  const netuit::Mesh<L> mesh{topology, placement, uit::World{}};
  const std::chrono::duration<double> elapsed = uit::Now() - start;
  return {.seconds = elapsed.count(), .bytes = static_cast<double>(bench::Heap().num_bytes - before)};
}

template <netuit::Layer L>
void MeasureGrowth(bench::Program& program, const std::string& addressing, double most_bytes, double graph_bytes) {
  const std::string name = "mesh, " + addressing;
  const std::string total = name + ": wiring 10^6 nodes, 4*10^6 edges";
  const std::string each = name + ": wiring per edge";
  const std::string growth = name + ": wiring per edge, 10^6 nodes to 10^4";
  const std::string memory = name + ": bytes per edge beyond the graph";
  bool is_wanted = false;
  for (const std::string& figure : {total, each, growth, memory}) is_wanted |= program.IsWanted(figure);
  if (!is_wanted) return;
  constexpr double num_edges = 4e6;
  Wire<L>(10'000);
  double small = 1e9;
  for (int i = 0; i < 5; ++i) small = std::min(small, Wire<L>(10'000).seconds / 4e4);
  const Cost large = Wire<L>(1'000'000);
  program.Add(Amount(total, large.seconds, "s", 5));
  program.Add(Amount(each, large.seconds / num_edges * 1e9, "ns", 1000));
  program.Add(Amount(growth, large.seconds / num_edges / small, "ratio", 3));
  program.Add(Amount(memory, large.bytes / num_edges - graph_bytes, "B", most_bytes));
}

/// Allocations of 2000 updates beyond those of 1000.
template <netuit::Layer L>
void MeasureAllocations(bench::Program& program, const std::string& addressing, std::uint32_t threads,
                        netuit::AsyncMode mode) {
  const std::string name = "allocations in 1000 updates, " + addressing + ", " + std::to_string(threads) +
                           " threads, mode " + std::to_string(static_cast<int>(mode));
  if (!program.IsWanted(name)) return;
  OnMesh<L> mesh{{.processes = 1, .threads = threads}, uit::World{}};
  const auto count = [&](std::uint64_t num_updates) {
    const auto before = bench::Heap().num_allocations;
    const auto report = mesh.Run({.mode = mode, .num_updates = num_updates, .seed = seed, .stops_on_signal = false});
    return static_cast<double>(bench::Heap().num_allocations - before);
  };
  // An end makes its record when the first message of its is left unread, and that may take some runs.
  double one = count(1000);
  for (int run = 0; run < 8; ++run) one = count(1000);
  program.Add(Amount(name, count(2000) - one, "allocations", 0));
}

}  // namespace

int main(int argc, char** argv) {
  bench::Program program{argc, argv};
  // A worker's part of the graph: 4 words per edge (source, target, their workers), two edge numbers, and its index.
  constexpr double graph_bytes = 4 * sizeof(std::uint32_t) + 2 * sizeof(netuit::EdgeId);
  MeasureGrowth<Color>(program, "multicast", 16, graph_bytes);
  MeasureGrowth<ByEdge>(program, "conduit per edge", 96, graph_bytes);
  using enum netuit::AsyncMode;
  for (const auto mode : {every_update, no_barrier}) {
    for (const std::uint32_t threads : {1U, 2U}) {
      MeasureAllocations<Color>(program, "multicast", threads, mode);
      MeasureAllocations<ColorByEdge>(program, "conduit per edge", threads, mode);
    }
  }
  return program.Finish();
}
