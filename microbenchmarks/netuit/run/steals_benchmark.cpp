// How much faster is a run of two threads, of which one has ten times the work, if the other updates nodes of it while it waits?
// With the work shared evenly, an update takes 5.5 units of work in place of 10: 1.82 times the rate, if two busy cores are as fast
// as one. And how near does it come to a placement that gives both threads the same work?
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <netuit/graph/topologies.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run.hpp>
#include <netuit/run/schedule.hpp>
#include <uit/link/world.hpp>
#include <uit/team/team.hpp>

#include "microbenchmarks/support/program.hpp"

namespace {

constexpr std::uint32_t num_workers = 2;
constexpr unsigned unevenness = 10;
constexpr double bound = 2.0 * unevenness / (1 + unevenness);

/// A relaxation on a torus of 2048 nodes per worker. A node does its work `weight` times, and each of the first half of the nodes does
/// that ten times. These belong to one worker, or half of them to each.
class Uneven {
 public:
  Uneven(netuit::AsyncMode mode, unsigned weight, bool is_placed_evenly, std::optional<netuit::Steals> steals)
      : mode_{mode},
        weight_{weight},
        steals_{steals},
        mesh_{uit::Team{uit::World{}, {.threads = num_workers}}, torus, {.placement = Place(is_placed_evenly)}},
        x_{mesh_.AddPublishedField<double>([](netuit::NodeId id) { return static_cast<double>(id % 17); })} {}

  /// Returns ns per update.
  double Time(std::chrono::nanoseconds window) {
    const netuit::RunPlan plan = netuit::ScheduleOf(mode_, {.duration = window, .steals = steals_});
    const netuit::RunReport report = mesh_.Run(plan, [x = x_, weight = weight_](netuit::Node& node) {
      for (unsigned i = node.Id() < num_nodes / 2 ? unevenness * weight : weight; i != 0; --i) {
        double sum = 0;
        for (const netuit::InEdge edge : node.In()) sum += x[edge];
        x[node] = sum / 4.01;
        asm volatile("" ::: "memory");  // so that it is done each time
      }
    }, {.stops_on_signal = false});
    return 1e9 / report.workers.front().Rate();
  }

 private:
  static constexpr netuit::NodeId num_nodes = 2048 * num_workers;
  static inline const netuit::Topology torus = netuit::MakeTorus(num_nodes / 64, 64);

  static netuit::Placement Place(bool evenly) {
    std::vector<std::uint32_t> worker_of(num_nodes);
    for (netuit::NodeId node = 0; node < num_nodes; ++node)
      worker_of[node] = evenly ? node / (num_nodes / 4) % num_workers : node / (num_nodes / 2);
    return {{.processes = 1, .threads = num_workers}, std::move(worker_of)};
  }

  netuit::AsyncMode mode_;
  unsigned weight_;
  std::optional<netuit::Steals> steals_;
  netuit::Mesh mesh_;
  netuit::PublishedField<double> x_;
};

void Measure(bench::Program& program, bench::Crew& crew, const std::string& how, netuit::AsyncMode mode, unsigned weight) {
  const std::string name = "uneven relaxation, 2 threads, " + how;
  bench::Contest contest{name, bench::Unit::thousands_per_second};
  const auto add = [&](const std::string& competitor, bool is_placed_evenly, std::optional<netuit::Steals> steals) {
    const auto uneven = std::make_shared<Uneven>(mode, weight, is_placed_evenly, steals);
    contest.Add(competitor, [&crew, uneven](const bench::Load& load) {
      crew.Unpin();  // a thread that it starts inherits the CPU of this one
      const double time = uneven->Time(load.window);
      crew.Pin();
      return time;
    });
  };
  add("without", false, {});
  add("with steals", false, netuit::Steals{});
  add("placed evenly", true, {});
  contest.Say({.name = name + ": with steals, over without",
               .ours = "with steals",
               .against = {"without"},
               .at_least = 0.9 * bound});
  contest.Say({.name = name + ": with steals, over an even placement without",
               .ours = "with steals",
               .against = {"placed evenly"},
               .at_least = 0.9});
  program.Run(contest, crew);
}

}  // namespace

int main(int argc, char** argv) {
  bench::Program program{argc, argv};
  bench::Crew crew{num_workers};
  // The data of a stolen node moves to another core and back. If a node takes a few ns, that costs more than its work.
  for (const auto& [nodes, weight] : {std::pair{"", 1U}, {", nodes of 0.1 and 1 us", 32U}}) {
    Measure(program, crew, std::string("mode 0") + nodes, netuit::AsyncMode::every_update, weight);
    Measure(program, crew, std::string("mode 5") + nodes, netuit::AsyncMode::dataflow, weight);
  }
  return program.Finish();
}
