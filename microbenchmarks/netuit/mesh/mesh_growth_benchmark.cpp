// What time and memory does a mesh cost per edge, and do they grow linearly? Does a run allocate after its start?

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include <netuit/graph/graph.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/modes.hpp>
#include <uit/policy.hpp>
#include <uit/support/clock.hpp>
#include <uit/team/team.hpp>
#include <uit/link/world.hpp>

#include "microbenchmarks/netuit/channel_selection/mesh.hpp"
#include "microbenchmarks/support/allocations.hpp"
#include "microbenchmarks/support/amount.hpp"
#include "microbenchmarks/support/program.hpp"
#include "tests/support/counted_memory.hpp"

namespace {

using namespace bench::coloring;

/// The cost of a mesh in one thread. It has four times as many edges as nodes.
struct Cost {
  double wiring;  ///< s
  double memory;  ///< B
  double update;  ///< ns per node
};

[[nodiscard]] netuit::Graph Torus(double num_nodes) {
  const auto side = static_cast<std::uint64_t>(std::lround(std::sqrt(num_nodes)));
  return netuit::MakeTorus(side, side);
}

template <typename Way>
Cost Join(double num_nodes) {
  const netuit::Graph graph = Torus(num_nodes);
  const netuit::MeshOptions options{.placement = netuit::PlaceContiguous(graph, {.processes = 1, .threads = 1})};
  const std::size_t before = uit::testing::num_held_bytes;
  const uit::TimePoint start = uit::Now();
  netuit::Mesh mesh{uit::Team{}, graph, options};
  Way::Join(mesh, {});
  mesh.Connect();
  const std::chrono::duration<double> elapsed = uit::Now() - start;
  return {.wiring = elapsed.count(), .memory = static_cast<double>(uit::testing::num_held_bytes - before), .update = 0};
}

/// The best of several tries.
template <typename Way>
Cost Measure(double num_nodes) {
  Cost best = Join<Way>(num_nodes);  // the first try may have to request memory from the system
  for (int i = 0; i < (num_nodes < 1e6 ? 5 : 1); ++i) best.wiring = std::min(best.wiring, Join<Way>(num_nodes).wiring);
  OnMesh<Way> mesh{uit::Team{}, Torus(num_nodes)};
  // The same number of updates at every size, since an update costs more while nodes are in conflict.
  const auto update = [&](std::uint64_t num_updates) {
    const auto report = mesh.Run(netuit::Free{.updates = num_updates}.MakePlan(), {.seed = seed, .stops_on_signal = false});
    return 1e9 / report.workers.front().Rate() / num_nodes;
  };
  update(30);
  best.update = update(5);
  for (int i = 0; i < 3; ++i) best.update = std::min(best.update, update(5));
  return best;
}

template <typename Way>
void MeasureGrowth(bench::Program& program, const std::string& addressing, double most_bytes, double graph_bytes) {
  const std::string name = "mesh, " + addressing;
  const std::string total = name + ": wiring 10^6 nodes, 4*10^6 edges";
  const std::string each = name + ": wiring per edge";
  const std::string memory = name + ": bytes per edge beyond the graph";
  const std::string update = name + ": update per node";
  const std::string growth = ", 10^6 nodes to 10^4";
  bool is_wanted = false;
  for (const std::string& figure : {total, each, each + growth, memory, memory + growth, update, update + growth})
    is_wanted |= program.IsWanted(figure);
  if (!is_wanted) return;
  Cost small{};
  Cost large{};
  for (const double num_nodes : {1e3, 1e4, 1e5, 1e6}) {
    const Cost cost = Measure<Way>(num_nodes);
    if (num_nodes == 1e4) small = cost;
    large = cost;
    const auto draw = [&](const std::string& quantity, double y) {
      program.Add({.chart = "growth of a mesh on one thread", .x_label = "nodes, with 4 edges each", .y_label = quantity,
                   .line = addressing, .x = num_nodes}, y);
    };
    draw("update, ns per node", cost.update);
    draw("memory, bytes per edge", cost.memory / (4 * num_nodes));
    draw("wiring, ns per edge", cost.wiring * 1e9 / (4 * num_nodes));
  }
  const auto per_edge = [&](double bytes, double num_nodes) { return bytes / (4 * num_nodes) - graph_bytes; };
  program.Add(bench::Amount(total, large.wiring, "s", 5));
  program.Add(bench::Amount(each, large.wiring * 1e9 / 4e6, "ns", 1000));
  program.Add(bench::Amount(each + growth, large.wiring / small.wiring / 100, "ratio", 3));
  program.Add(bench::Amount(memory, per_edge(large.memory, 1e6), "B", most_bytes));
  program.Add(bench::Amount(memory + growth, per_edge(large.memory, 1e6) / per_edge(small.memory, 1e4), "ratio", 1.05));
  program.Add(bench::Amount(update, large.update, "ns", 1000));
  program.Add(bench::Amount(update + growth, large.update / small.update, "ratio", 3));
}

template <typename Way>
void MeasureAllocations(bench::Program& program, const std::string& addressing, std::uint32_t threads,
                        netuit::AsyncMode mode) {
  const std::string name = "allocations in 1000 updates, " + addressing + ", " + std::to_string(threads) +
                           " threads, mode " + std::to_string(static_cast<int>(mode));
  if (!program.IsWanted(name)) return;
  const uit::Team team{uit::World{}, {.threads = threads}};
  OnMesh<Way> mesh{team, TorusFor(team)};
  bench::AddAllocations(program, name, [&](std::uint64_t num_updates) {
    mesh.Run(netuit::ScheduleOf(mode, {.updates = num_updates}), {.seed = seed, .stops_on_signal = false});
  });
}

}  // namespace

int main(int argc, char** argv) {
  bench::Program program{argc, argv};
  // A worker's part of the graph: 4 words per edge (source, target, their workers), two edge numbers, and its index.
  constexpr double graph_bytes = 4 * sizeof(std::uint32_t) + 2 * sizeof(netuit::EdgeId);
  MeasureGrowth<ByField>(program, "multicast", 16, graph_bytes);
  MeasureGrowth<ByEdge<uit::every>>(program, "conduit per edge", 96, graph_bytes);
  using enum netuit::AsyncMode;
  for (const auto mode : {every_update, no_barrier, dataflow}) {
    for (const std::uint32_t threads : {1U, 2U}) {
      MeasureAllocations<ByField>(program, "multicast", threads, mode);
      MeasureAllocations<ByNewestOfEdge>(program, "conduit per edge", threads, mode);
    }
  }
  return program.Finish();
}
