// Graph colouring over threads and processes: benchmark 1 of the founding paper.
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <limits>
#include <netuit/file/node_weights.hpp>
#include <netuit/netuit.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "coloring.hpp"
#include "host.hpp"
#include "options.hpp"
#include "serial.hpp"
#include "table.hpp"

namespace channel_selection {
namespace {

const char* ReasonName(netuit::StopReason reason) {
  switch (reason) {
    case netuit::StopReason::count: return "count";
    case netuit::StopReason::clock: return "clock";
    case netuit::StopReason::signal: return "signal";
    case netuit::StopReason::thrown: return "thrown";
    default: return "peer_lost";
  }
}

double Seconds(std::chrono::nanoseconds span) { return std::chrono::duration<double>{span}.count(); }

/// The most nearly square torus of so many nodes.
netuit::Topology MakeSquarishTorus(std::uint64_t num_nodes) {
  if (num_nodes > std::numeric_limits<netuit::NodeId>::max()) throw uit::InputError("--nodes-per-worker: too many nodes");
  auto side = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(num_nodes)));
  while (side > 2 && num_nodes % side != 0) --side;
  if (side < 3) {
    throw uit::InputError("--nodes-per-worker: " + std::to_string(num_nodes) +
                          " nodes in all make no 2-D torus with sides of 3 or more");
  }
  return netuit::MakeTorus(side, num_nodes / side);
}

/// The graph without edges from a node to itself, which no colouring can satisfy: such a node would never rest,
/// nor let its neighbours.
netuit::Topology WithoutSelfLoops(netuit::Topology topology) {
  std::vector<netuit::Edge> edges;
  for (netuit::EdgeId edge = 0; edge < topology.NumEdges(); ++edge) {
    const netuit::NodeId source = topology.Source(edge);
    const netuit::NodeId target = topology.Target(edge);
    if (source != target) edges.push_back({source, target, topology.EdgeWeight(edge)});
  }
  if (edges.size() == topology.NumEdges()) return topology;
  std::fprintf(stderr, "conduit: note: %zu self-loops are left out\n", topology.NumEdges() - edges.size());
  netuit::Labels labels;
  std::vector<double> weights;
  for (netuit::NodeId node = 0; node < topology.NumNodes(); ++node) {
    labels.Add(topology.Label(node));
    weights.push_back(topology.NodeWeight(node));
  }
  return {topology.NumNodes(), std::move(edges), std::move(labels), std::move(weights)};
}

/// The graph to colour and where its nodes are. Rank 0's business.
struct Problem {
  std::string name;
  netuit::Topology topology;
  netuit::Placement placement;
};

netuit::Placement Place(const netuit::Topology& topology, const Options& options, netuit::Workers workers) {
  if (options.placement == "metis") return netuit::PlaceByMetis(topology, workers);
  if (options.placement == "contiguous") return netuit::PlaceContiguous(topology, workers);
  if (options.placement == "round_robin") return netuit::PlaceRoundRobin(topology, workers);
  if (options.placement == "random") return netuit::PlaceRandom(topology, workers, options.seed);
  return netuit::PlaceFromFile(topology, workers, options.placement);
}

Problem MakeProblem(const Options& options, std::size_t num_processes) {
  const netuit::Workers workers{.processes = num_processes, .threads = options.threads};
  Problem problem;
  if (options.graph.empty()) {
    problem.topology = MakeSquarishTorus(std::uint64_t{options.nodes_per_worker} * workers.Count());
    problem.name = "torus";
  } else {
    problem.topology = WithoutSelfLoops(netuit::LoadGraph(options.graph, {.directed = options.directed}));
    problem.name = options.graph;
  }
  if (!options.node_weights.empty()) {
    auto weights = netuit::LoadNodeWeights(options.node_weights, problem.topology);
    problem.topology = std::move(problem.topology).WithNodeWeights(std::move(weights));
  }
  problem.placement = Place(problem.topology, options, workers);
  for (const std::string& path : {options.output, options.colors_output}) {
    if (!path.empty() && path != "-") CheckWritable(path);
  }
  return problem;
}

/// Everything that rank 0 writes and says.
class Reporter {
 public:
  Reporter(const Options& options, const Problem& problem, Host host)
      : options_{options}, problem_{problem}, host_{std::move(host)} {}

  /// Adds a run to the results and writes them out, so that they outlive whatever comes after.
  void Add(unsigned mode, unsigned replicate, const Outcome& outcome) {
    const Score score = ScoreColoring(outcome.colors, [this](std::size_t node) {
      return problem_.topology.OutNeighbors(static_cast<netuit::NodeId>(node));
    });
    AddRows(mode, replicate, outcome.report, score);
    if (!options_.colors_output.empty()) {
      AddColors(mode, replicate, outcome.colors, score.in_conflict);
      colors_.Save(options_.colors_output);
    }
    if (options_.output != "-") rows_.Save(options_.output);
    Say(mode, replicate, outcome.report, score);
  }

  /// Writes what goes to standard output.
  void Finish() const {
    if (options_.output == "-") std::cout << rows_.Text() << std::flush;
  }

  [[nodiscard]] bool HasProgress() const { return options_.progress || is_terminal_; }

  /// Shows how a run goes: a line that is written over on a terminal, else one line after the other.
  void Show(unsigned mode, unsigned replicate, const netuit::Progress& progress) const {
    std::fprintf(stderr, "%sprogress: %s, %.1f s, %.0f updates/s%s", is_terminal_ ? "\r\033[K" : "",
                 RunName(mode, replicate).c_str(), Seconds(progress.elapsed), Rate(progress.num_updates, progress.elapsed),
                 is_terminal_ ? "" : "\n");
  }

 private:
  static double Rate(std::uint64_t num_updates, std::chrono::nanoseconds elapsed) {
    return elapsed.count() > 0 ? static_cast<double>(num_updates) / Seconds(elapsed) : 0;
  }

  [[nodiscard]] std::string RunName(unsigned mode, unsigned replicate) const {
    return "mode " + std::to_string(mode) + ' ' + ModeName(mode) + ", run " + std::to_string(replicate + 1) + " of " +
           std::to_string(options_.replicates);
  }

  [[nodiscard]] double Period(unsigned mode) const {
    return mode == 1 ? Seconds(options_.rolling_span) : mode == 2 ? Seconds(options_.fixed_period) : 0;
  }

  void AddRows(unsigned mode, unsigned replicate, const netuit::RunReport& report, const Score& score) {
    const netuit::Workers workers = problem_.placement.Shape();
    for (const netuit::WorkerReport& worker : report.workers) {
      const uit::Tally& tally = worker.tally;
      rows_.Row().Add(problem_.name).Add(problem_.topology.NumNodes()).Add(problem_.topology.NumEdges());
      rows_.Add(workers.processes).Add(workers.threads).Add(mode).Add(ModeName(mode)).Add(replicate);
      rows_.Add(options_.seed + replicate).Add(options_.placement);
      rows_.Add(options_.addressing == netuit::Addressing::multicast ? "multicast" : "edge").Add(Period(mode));
      rows_.Add(worker.place.process).Add(worker.place.thread).Add(worker.num_nodes).Add(worker.num_updates);
      rows_.Add(Seconds(worker.elapsed)).Add(Rate(worker.num_updates, worker.elapsed)).Add(worker.num_barriers);
      rows_.Add(tally.put.attempted).Add(tally.put.Accepted()).Add(tally.put.dropped).Add(tally.put.muted);
      rows_.Add(tally.get.stepped).Add(tally.get.skipped).Add(tally.put.preempted).Add(tally.get.folded);
      rows_.Add(tally.get.unread).Add(tally.lost).Add(report.Tally().InFlight()).Add(report.Balanced());
      rows_.Add(score.num_conflicts).Add(score.num_edges).Add(score.nodes_in_conflict).Add(host_.oversubscribed);
      rows_.Add(ReasonName(report.stopped_by)).Add(host_.mpi_library).Add(host_.compiler).Add(UIT_VERSION);
    }
  }

  void AddColors(unsigned mode, unsigned replicate, std::span<const unsigned> colors,
                 const std::vector<std::uint8_t>& in_conflict) {
    for (netuit::NodeId node = 0; node < colors.size(); ++node) {
      const netuit::Place place = problem_.placement.Of(node);
      colors_.Row().Add(mode).Add(replicate).Add(node).Add(problem_.topology.Label(node)).Add(colors[node]);
      colors_.Add(place.process).Add(place.thread).Add(in_conflict[node] != 0);
    }
  }

  void Say(unsigned mode, unsigned replicate, const netuit::RunReport& report, const Score& score) const {
    const bool is_whole =
        report.stopped_by == netuit::StopReason::clock || report.stopped_by == netuit::StopReason::count;
    double rate = 0;
    for (const auto& worker : report.workers) rate += Rate(worker.num_updates, worker.elapsed);
    std::fprintf(stderr, "%s%s: %.0f updates/s and worker, %llu of %llu adjacent pairs in conflict, accounting %s%s%s\n",
                 is_terminal_ ? "\r\033[K" : "", RunName(mode, replicate).c_str(),
                 rate / static_cast<double>(report.workers.size()),
                 static_cast<unsigned long long>(score.num_conflicts), static_cast<unsigned long long>(score.num_edges),
                 report.Balanced() ? "exact" : "WRONG", is_whole ? "" : ", ended by ",
                 is_whole ? "" : ReasonName(report.stopped_by));
  }

  const Options& options_;
  const Problem& problem_;
  Host host_;
  bool is_terminal_ = isatty(STDERR_FILENO) == 1;
  Table rows_{{"graph", "nodes", "edges", "processes", "threads", "mode", "mode_name", "replicate", "seed", "placement",
               "addressing", "period_s", "process", "thread", "num_nodes", "updates", "elapsed_s", "updates_per_second",
               "barriers", "attempted", "accepted", "dropped", "muted", "stepped", "skipped", "preempted", "folded",
               "unread", "lost", "in_flight", "balanced", "conflicts", "conflict_edges_total", "nodes_in_conflict",
               "oversubscribed", "stopped_by", "mpi_library", "compiler", "version"}};
  Table colors_{{"mode", "replicate", "node", "label", "color", "process", "thread", "in_conflict"}};
};

int Main(const Options& options, const uit::World& world) {
  const auto problem = netuit::OnRoot(world, [&] { return MakeProblem(options, world.Size()); });
  Reporter reporter{options, problem, InspectHost(options.threads)};
  const auto color_graph = options.addressing == netuit::Addressing::multicast ? &ColorGraph<Color> : &ColorGraph<ColorByEdge>;

  int code = 0;
  for (const unsigned mode : options.modes) {
    for (unsigned replicate = 0; replicate < options.replicates && code == 0; ++replicate) {
      netuit::RunOptions run;
      run.mode = static_cast<netuit::AsyncMode>(mode);
      run.duration = options.duration;
      run.num_updates = options.updates;
      run.rolling_span = options.rolling_span;
      run.fixed_period = options.fixed_period;
      run.seed = options.seed + replicate;
      run.progress_interval = std::chrono::milliseconds{200};
      if (world.IsRoot() && reporter.HasProgress()) {
        run.on_progress = [&, mode, replicate](const netuit::Progress& progress) { reporter.Show(mode, replicate, progress); };
      }
      const Outcome outcome = color_graph(problem.topology, problem.placement, world, options.rule, options.work, run);
      code = outcome.report.ExitCode();
      if (world.IsRoot() && !outcome.report.message.empty()) {
        std::fprintf(stderr, "conduit: error: %s\n", outcome.report.message.c_str());
      }
      if (outcome.report.stopped_by == netuit::StopReason::peer_lost) break;
      netuit::OnRoot(world, [&] { return reporter.Add(mode, replicate, outcome), 0; });
    }
  }
  if (world.IsRoot()) reporter.Finish();
  return code;
}

}  // namespace
}  // namespace channel_selection

int main(int argc, char** argv) {
  return netuit::GuardedMain(argc, argv, [&](const uit::World& world) {
    std::string text;
    const auto parse = [&] { return channel_selection::ParseOptions(argc, argv, text); };
    auto options = netuit::OnRoot(world, parse);  // first, so that one process complains
    if (!world.IsRoot()) options = parse();
    if (options) return channel_selection::Main(*options, world);
    if (world.IsRoot()) std::cout << text;
    return 0;
  });
}
