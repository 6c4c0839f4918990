// How long does it take to plan a run in dataflow order, if edges have delays, and to make a mesh for it? Does the run allocate after
// its start?

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

#include <netuit/graph/edge_delays.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/placement/dataflow_plan.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run.hpp>
#include <uit/link/world.hpp>
#include <uit/support/clock.hpp>
#include <uit/team/team.hpp>

#include "microbenchmarks/support/allocations.hpp"
#include "microbenchmarks/support/amount.hpp"
#include "microbenchmarks/support/program.hpp"

namespace {

constexpr std::uint32_t num_threads = 2;

netuit::Placement InRows(const netuit::Topology& torus) {
  return netuit::PlaceContiguous(torus, {.processes = 1, .threads = num_threads});
}

/// Gauss and Seidel's iteration on a torus, placed in rows.
class Relaxation {
 public:
  explicit Relaxation(const netuit::Topology& torus)
      : mesh_{uit::Team{uit::World{}, {.threads = num_threads}},
              std::vector<netuit::NamedNetwork>{{"", torus, {.delays = netuit::GaussSeidel()}}},
              {.placement = InRows(torus)}},
        value_{mesh_.AddPublishedField<double>([](netuit::NodeId id) { return id % 7 * 1.0; })} {}

  void Update(std::uint64_t num_updates) {
    mesh_.Run(netuit::Dataflow{.updates = num_updates}, [this](netuit::Node& node) {
      double sum = 0;
      for (const netuit::InEdge edge : node.In()) sum += value_[edge];
      value_[node] = sum / 4;
    }, {.stops_on_signal = false});
  }

 private:
  netuit::Mesh mesh_;
  netuit::PublishedField<double> value_;
};

/// Adds the time per edge of `work(torus)` with 10^6 edges, and how many times as long it is as with 10^5. The best of several tries
/// of each.
template <std::invocable<const netuit::Topology&> F>
void AddTimePerEdge(bench::Program& program, const std::string& name, double most, F&& work) {
  const std::string each = name + ", 10^6 edges: time per edge";
  const std::string growth = each + ", to 10^5";
  if (!program.IsWanted(each) && !program.IsWanted(growth)) return;
  const auto time = [&](netuit::NodeId side) {
    const netuit::Topology torus = netuit::MakeTorus(side, side);
    std::chrono::duration<double, std::nano> best{1e12};
    for (int i = 0; i < 5; ++i) {
      const uit::TimePoint begin = uit::Now();
      work(torus);
      best = std::min<std::chrono::duration<double, std::nano>>(best, uit::Now() - begin);
    }
    return best.count() / static_cast<double>(torus.NumEdges());
  };
  const double large = time(500);
  program.Add(bench::Amount(each, large, "ns", most));
  program.Add(bench::Amount(growth, large / time(158), "ratio", 3));
}

void MeasurePlan(bench::Program& program) {
  AddTimePerEdge(program, "plan of Gauss-Seidel, in rows on 2 workers", 1000, [](const netuit::Topology& torus) {
    const netuit::DataflowPlan plan{torus, netuit::GaussSeidel(), InRows(torus)};
  });
  AddTimePerEdge(program, "plan of Gauss-Seidel, at random on 64 workers", 1000, [](const netuit::Topology& torus) {
    const netuit::DataflowPlan plan{torus, netuit::GaussSeidel(), netuit::PlaceRandom(torus, {.processes = 64, .threads = 1}, 1)};
  });
  AddTimePerEdge(program, "mesh by Gauss-Seidel, from its making to the end of its first update", 1000,
                 [](const netuit::Topology& torus) { Relaxation{torus}.Update(1); });
}

void MeasureAllocations(bench::Program& program) {
  const std::string name = "allocations in 1000 updates, with delays, 2 threads, mode 5";
  if (!program.IsWanted(name)) return;
  Relaxation relaxation{netuit::MakeTorus(48, 48)};
  bench::AddAllocations(program, name, [&](std::uint64_t num_updates) { relaxation.Update(num_updates); });
}

}  // namespace

int main(int argc, char** argv) {
  bench::Program program{argc, argv};
  MeasurePlan(program);
  MeasureAllocations(program);
  return program.Finish();
}
