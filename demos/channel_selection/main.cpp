// Graph colouring over threads and processes: benchmark 1 of the founding paper.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <netuit/file/node_weights.hpp>
#include <netuit/file/load_graph.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/app/guarded_main.hpp>
#include <netuit/mesh/on_root.hpp>
#include <netuit/app/hosts.hpp>
#include <netuit/run/run_options.hpp>
#include <uit/app/signal_watch.hpp>
#include <optional>
#include <span>
#include <string>
#include <uit/support/error.hpp>
#include <uit/support/simulation.hpp>
#include <uit/team/team.hpp>
#include <uit/link/world.hpp>
#include <utility>
#include <vector>

#include "coloring.hpp"
#include "demos/common/torus.hpp"
#include "demos/common/watch.hpp"
#include "options.hpp"
#include "reporter.hpp"

namespace channel_selection {
namespace {

/// The graph without self-loops. No colouring satisfies a self-loop: its node, and then its neighbours, would never settle.
netuit::Topology WithoutSelfLoops(netuit::Topology topology) {
  std::vector<netuit::Edge> edges;
  for (netuit::EdgeId edge = 0; edge < topology.NumEdges(); ++edge) {
    const netuit::NodeId source = topology.Source(edge);
    const netuit::NodeId target = topology.Target(edge);
    if (source != target) edges.push_back({source, target, topology.EdgeWeight(edge)});
  }
  if (edges.size() == topology.NumEdges()) return topology;
  std::fprintf(stderr, "conduit: note: %zu self-loops are ignored\n", topology.NumEdges() - edges.size());
  netuit::Labels labels;
  std::vector<double> weights;
  for (netuit::NodeId node = 0; node < topology.NumNodes(); ++node) {
    labels.Add(topology.Label(node));
    weights.push_back(topology.NodeWeight(node));
  }
  return {topology.NumNodes(), std::move(edges), std::move(labels), std::move(weights)};
}

demo::Problem MakeProblem(const Options& options, std::size_t num_processes) {
  const netuit::Workers workers{.processes = num_processes, .threads = options.threads};
  demo::Problem problem;
  netuit::Topology graph;
  if (options.graph.empty()) {
    const std::uint64_t num_nodes = std::uint64_t{options.nodes_per_worker} * workers.Count();
    const demo::TorusShape shape = demo::SquarishTorus("--nodes-per-worker", num_nodes, "nodes");
    graph = netuit::MakeTorus(shape.side, shape.width);
    problem.name = "torus";
  } else {
    graph = WithoutSelfLoops(netuit::LoadGraph(options.graph, {.directed = options.directed}));
    problem.name = options.graph;
  }
  if (!options.node_weights.empty()) {
    auto weights = netuit::LoadNodeWeights(options.node_weights, graph);
    graph = std::move(graph).WithNodeWeights(std::move(weights));
  }
  problem.placement = demo::Place(graph, options, workers);
  problem.graph = std::move(graph);
  if (!options.replay.empty() && !std::filesystem::is_directory(options.replay))
    throw uit::InputError(options.replay + ": cannot be read: no such folder");
  for (const std::string& path : {options.output, options.colors_output, options.quality, options.frames, options.trace}) {
    if (!path.empty() && path != "-") netuit::CheckWritable(path);
  }
  return problem;
}

int Main(const Options& options, std::vector<std::string> command_line, const uit::World& world) {
  const auto problem = netuit::OnRoot(world, [&] { return MakeProblem(options, world.Size()); });
  Reporter reporter{options, problem, demo::ShareFacts(world, problem, options.threads),
                    netuit::Hosts::Inspect(world, options.threads), world.Library(), std::move(command_line)};
  demo::RunRecord& record = reporter.Record();
  netuit::OnRoot(world, [&] { return record.Begin(), 0; });
  const uit::Team team{world, {.threads = static_cast<std::uint32_t>(options.threads)}};

  int code = 0;
  for (const unsigned mode : options.modes) {
    for (unsigned replicate = 0; replicate < options.replicates && code == 0; ++replicate) {
      netuit::RunOptions run = demo::MakeRunOptions(options, mode, replicate);
      run.simulated_node_cost = SimulatedWork(options.work);
      demo::Watch watch{record.RunName(mode, replicate)};
      if (options.watch) run.on_status = [&watch](std::span<const netuit::WorkerStatus> workers) { watch.Show(workers); };
      if (world.IsRoot() && record.HasProgress() && !options.watch) {
        run.on_progress = [&, mode, replicate](const netuit::Progress& progress) { record.Show(mode, replicate, progress); };
      }
      std::optional<uit::SignalWatch> signals;  // signals between the run and its results wait
      if constexpr (!uit::is_simulated) signals.emplace();
      Outcome outcome = ColorGraph(team, problem.graph, problem.placement, options, demo::PlanOf(options, mode), run);
      if (outcome.report.stopped_by != netuit::StopReason::peer_lost) {
        try {
          netuit::OnRoot(world, [&] { return reporter.Add(mode, replicate, outcome), 0; });
        } catch (const uit::PeerLost& lost) {
          outcome.report.Lose(lost);
        }
      }
      code = outcome.report.ExitCode();
      if (code != 0 && signals) signals->Keep();  // launchers repeat signals; the verdict is not written yet
      const bool has_lost_peer = outcome.report.stopped_by == netuit::StopReason::peer_lost;  // collectives are no longer possible
      if (has_lost_peer) reporter.AddOwn(world.Rank(), mode, replicate, outcome);
      demo::ReportError(world, outcome.report);
      if (has_lost_peer) return code;
    }
  }
  netuit::OnRoot(world, [&] { return record.Finish(code == 0), 0; });
  return code;
}

}  // namespace
}  // namespace channel_selection

int main(int argc, char** argv) {
  return netuit::GuardedMain(argc, argv, [&](const uit::World& world) {
    std::string text;
    const auto parse = [&] { return channel_selection::ParseOptions(argc, argv, text); };
    auto options = netuit::OnRoot(world, parse);  // first, so that only one process prints an error
    if (!world.IsRoot()) options = parse();
    if (options) return channel_selection::Main(*options, {argv, argv + argc}, world);
    if (world.IsRoot()) std::cout << text;
    return 0;
  });
}
