#include "demos/channel_selection/coloring.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <netuit/graph/topologies.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/node_random.hpp>
#include <netuit/placement/metis.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/schedules.hpp>
#include <uit/team/team.hpp>
#include <vector>

#include "demos/channel_selection/serial.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"

using namespace channel_selection;
using uit::testing::MpiTestWorld;

namespace {

constexpr LeithRule rule{.num_colors = 3, .learning_rate = 0.1};

InNeighbours InNeighboursOf(const netuit::Topology& topology) {
  InNeighbours graph{.offsets = {0}, .sources = {}};
  for (netuit::NodeId node = 0; node < topology.NumNodes(); ++node) {
    for (const netuit::EdgeId edge : topology.InEdges(node)) graph.sources.push_back(topology.Source(edge));
    graph.offsets.push_back(graph.sources.size());
  }
  return graph;
}

std::vector<unsigned> ColorSerially(const netuit::Topology& topology, std::uint64_t seed, std::uint64_t num_updates) {
  const InNeighbours graph = InNeighboursOf(topology);
  SerialColoring<float> coloring{graph, rule};
  coloring.Initialize([&](std::size_t node) { return FirstColor(seed, static_cast<netuit::NodeId>(node), rule.num_colors); });
  for (std::uint64_t update = 0; update < num_updates; ++update) {
    coloring.UpdateAllAtOnce(update, [&](std::size_t node, std::uint64_t u) {
      return netuit::NodeRandom{seed, static_cast<netuit::NodeId>(node), u};
    });
  }
  return coloring.Colors();
}

Score ScoreOn(const netuit::Topology& topology, const std::vector<unsigned>& colors) {
  return ScoreColoring(colors, [&](std::size_t node) { return topology.OutNeighbors(static_cast<netuit::NodeId>(node)); });
}

}  // namespace

TEST_CASE("mode 0 colours as the serial loop does, wherever nodes are", "[channel_selection]") {
  Options options;
  options.addressing = GENERATE(Addressing::multicast, Addressing::edge);
  constexpr std::uint64_t num_updates = 40;
  for (const auto& topology : {netuit::MakeTorus(10, 12), netuit::MakeSmallWorld(100, 4, 0.1, 7)}) {
    for (std::uint32_t threads = 1; threads <= 2; ++threads) {
      const uit::Team team{MpiTestWorld(), {.threads = threads}};
      const netuit::Workers workers{.processes = team.NumProcesses(), .threads = threads};
      for (const auto& placement : {netuit::PlaceByMetis(topology, workers), netuit::PlaceRandom(topology, workers, 5)}) {
        const auto in_step = netuit::EveryUpdate{.updates = num_updates}.MakePlan();
        const Outcome outcome = ColorGraph(team, topology, placement, options, in_step, {.seed = 11});
        CHECK(outcome.report.ExitCode() == 0);
        if (!team.IsRoot()) continue;
        CHECK(outcome.colors == ColorSerially(topology, 11, num_updates));
        CHECK(outcome.report.Balanced());
      }
    }
  }
}

TEST_CASE("one worker at a time is slow if the workers are slow in turn", "[channel_selection]") {
  Options options;
  options.work = 10;
  options.slowness = 3;
  options.slow_in_turn = std::chrono::hours{1};
  const uit::Team team{MpiTestWorld(), {.threads = 2}};
  const netuit::Mesh mesh{team, netuit::MakeTorus(8, 8)};
  const Turns turns{mesh, options};
  std::size_t num_slow = 0;
  for (const auto& part : mesh.Partitions()) {
    const std::uint64_t work = turns.Work(part->first_local);
    for (std::size_t i = 0; i < part->NumNodes(); ++i) CHECK(turns.Work(part->first_local + i) == work);
    CHECK((work == 10 || work == 30));
    num_slow += work == 30 ? 1 : 0;
  }
  std::size_t all_slow = 0;
  for (const std::size_t slow : team.GetWorld().AllGatherValue(num_slow)) all_slow += slow;
  CHECK(all_slow == 1);
  options.slow_in_turn = {};
  const Turns none{mesh, options};
  for (std::size_t node = 0; node < mesh.NumLocalNodes(); ++node) CHECK(none.Work(node) == 10);
}

TEST_CASE("every mode colours a torus and accounts for each message", "[channel_selection]") {
  Options options;
  options.addressing = GENERATE(Addressing::multicast, Addressing::edge);
  options.work = 3;
  const uit::Team team{MpiTestWorld(), {.threads = 2}};
  const auto topology = netuit::MakeTorus(24, 24);
  const auto placement = netuit::PlaceByMetis(topology, {.processes = team.NumProcesses(), .threads = 2});
  for (int mode = 0; mode <= 5; ++mode) {
    CAPTURE(mode);
    const auto plan = netuit::ScheduleOf(
        static_cast<netuit::AsyncMode>(mode),
        {.updates = 200, .span = std::chrono::microseconds{300}, .period = std::chrono::milliseconds{2}});
    const Outcome outcome = ColorGraph(team, topology, placement, options, plan, {.seed = 3});
    CHECK(outcome.report.ExitCode() == 0);
    if (!team.IsRoot()) continue;
    CHECK(outcome.report.Balanced());
    CHECK(outcome.colors.size() == topology.NumNodes());
    const Score score = ScoreOn(topology, outcome.colors);
    CHECK(score.num_edges == 2 * 24 * 24);
    if (mode == 4) {
      CHECK(outcome.report.Tally().put.attempted == 0);
      CHECK(outcome.report.Tally().get.stepped == 0);
      CHECK(outcome.report.Tally().put.muted > 0);
    } else {
      CHECK(outcome.report.Tally().put.muted == 0);
      CHECK(score.nodes_in_conflict < topology.NumNodes() / 5);  // at the start it is a third of the pairs
    }
  }
}
