// What does a run in dataflow order need beforehand, if edges have delays, and does it allocate after its start?

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <netuit/graph/edge_delays.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/mesh.hpp>
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

/// An iteration on a torus, placed in rows: Gauss and Seidel's by these delays, Jacobi's without.
class Relaxation {
 public:
  explicit Relaxation(netuit::NodeId side, const netuit::EdgeDelays& delays = netuit::GaussSeidel())
      : mesh_{uit::Team{uit::World{}, {.threads = num_threads}},
              std::vector<netuit::NamedNetwork>{{"", Torus(side), {.delays = delays}}},
              {.placement = netuit::PlaceContiguous(Torus(side), {.processes = 1, .threads = num_threads})}},
        value_{mesh_.AddPublishedField<double>([](netuit::NodeId id) { return id % 7 * 1.0; })} {}

  void Update(std::uint64_t num_updates) {
    mesh_.Run(netuit::Dataflow{.updates = num_updates}, [this](netuit::Node& node) {
      double sum = 0;
      for (const netuit::InEdge edge : node.In()) sum += value_[edge];
      value_[node] = sum / 4;
    }, {.stops_on_signal = false});
  }
  double NumEdges() const { return static_cast<double>(mesh_.NumEdges()); }

 private:
  static netuit::Graph Torus(netuit::NodeId side) { return netuit::MakeTorus(side, side); }

  netuit::Mesh mesh_;
  netuit::PublishedField<double> value_;
};

/// The time per edge, in ns, that delays add to making a mesh and to its first update, beyond what they add to a later one; 0 if
/// disturbances were longer. The best of several tries of each.
double PlanTime(netuit::NodeId side) {
  const auto best = [&](const netuit::EdgeDelays& delays) {
    std::chrono::duration<double, std::nano> first{1e12};
    std::chrono::duration<double, std::nano> later{1e12};
    double num_edges = 0;
    for (int i = 0; i < 5; ++i) {
      const uit::TimePoint begin = uit::Now();
      Relaxation relaxation{side, delays};
      relaxation.Update(1);
      const uit::TimePoint middle = uit::Now();
      relaxation.Update(1);
      first = std::min<std::chrono::duration<double, std::nano>>(first, middle - begin);
      later = std::min<std::chrono::duration<double, std::nano>>(later, uit::Now() - middle);
      num_edges = relaxation.NumEdges();
    }
    return (first - later).count() / num_edges;
  };
  return std::max(best(netuit::GaussSeidel()) - best({}), 0.0);
}

void MeasurePlan(bench::Program& program) {
  const std::string each = "dataflow with delays, 10^6 edges: plan per edge";
  const std::string growth = each + ", to 10^4";
  if (!program.IsWanted(each) && !program.IsWanted(growth)) return;
  const double large = PlanTime(500);
  program.Add(bench::Amount(each, large, "ns", 1000));
  const double small = PlanTime(50);
  if (large > 0 && small > 0) program.Add(bench::Amount(growth, large / small, "ratio", 3));
  else std::printf("%s: other work was longer than the plan\n", growth.c_str());
}

void MeasureAllocations(bench::Program& program) {
  const std::string name = "allocations in 1000 updates, with delays, 2 threads, mode 5";
  if (!program.IsWanted(name)) return;
  Relaxation relaxation{48};
  bench::AddAllocations(program, name, [&](std::uint64_t num_updates) { relaxation.Update(num_updates); });
}

}  // namespace

int main(int argc, char** argv) {
  bench::Program program{argc, argv};
  MeasurePlan(program);
  MeasureAllocations(program);
  return program.Finish();
}
