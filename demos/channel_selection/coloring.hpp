#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <netuit/graph/graph.hpp>
#include <netuit/graph/random_stream.hpp>
#include <netuit/mesh/gather.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/run.hpp>
#include <netuit/run/run_options.hpp>
#include <uit/app/environment.hpp>
#include <string>
#include <uit/policy.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/support/simulation.hpp>
#include <uit/team/team.hpp>
#include <vector>

#include "cell.hpp"
#include "film.hpp"
#include "options.hpp"

namespace channel_selection {

/// A conduit per edge that keeps the newest message. Messages between two workers share frames.
inline constexpr uit::Policy pooled_latest{.retain = uit::Retain::latest, .consolidate = uit::Consolidate::pooled};

/// Keeps the core busy for `num_steps` steps of a dependent multiplication. This is an amount of work, not of time: a worker that
/// loses its core does no work meanwhile. A simulated worker is charged SimulatedWork instead.
inline void Work(std::uint64_t num_steps) {
  if constexpr (uit::is_simulated) return;
  std::uint64_t state = num_steps;
  for (std::uint64_t step = 0; step < num_steps; ++step) state = netuit::MixBits(state + step);
  asm volatile("" : : "r"(state));
}

/// Returns the time that `num_steps` steps of Work take in a simulation. The environment variable UIT_SIMULATED_STEP_SECONDS has
/// the time of one step; the default is 2 ns.
[[nodiscard]] inline std::chrono::duration<double> SimulatedWork(std::uint64_t num_steps) {
  return static_cast<double>(num_steps) *
         uit::SecondsFromEnvironment("UIT_SIMULATED_STEP_SECONDS", std::chrono::nanoseconds{2});
}

/// Makes the workers slow in turn. Every process finds the same turn, because processes of a host share a clock.
class Turns {
 public:
  Turns(const netuit::Mesh& mesh, const Options& options)
      : span_(options.slow_in_turn), work_(options.work), slowness_(options.slowness), worker_of_(mesh.NumLocalNodes()) {
    const std::size_t first = mesh.GetWorld().Rank() * mesh.NumThreads();
    num_workers_ = mesh.GetWorld().Size() * mesh.NumThreads();
    for (std::size_t thread = 0; thread < mesh.Partitions().size(); ++thread) {
      const auto& part = *mesh.Partitions()[thread];
      for (std::size_t i = 0; i < part.NumNodes(); ++i) worker_of_[part.first_local + i] = first + thread;
    }
  }
  /// The work of a node of this process now.
  std::uint64_t Work(std::size_t node) const {
    if (span_.count() == 0) return work_;
    const auto turn = static_cast<std::uint64_t>(uit::Now().time_since_epoch() / span_);
    return turn % num_workers_ == worker_of_[node] ? work_ * slowness_ : work_;
  }

 private:
  std::chrono::nanoseconds span_;
  std::uint64_t work_;
  std::uint64_t slowness_;
  std::size_t num_workers_ = 1;
  std::vector<std::size_t> worker_of_;  // by local number of a node
};

/// The first colour of a node. It depends only on seed and node, so every process knows it.
[[nodiscard]] inline unsigned FirstColor(std::uint64_t seed, netuit::NodeId node, unsigned num_colors) {
  return netuit::RandomStream{seed, node}.Below(num_colors);
}

/// A node of this process.
struct OwnNode {
  netuit::NodeId node = 0;
  std::string label{};
  unsigned color = 0;
};

/// The report of a run, and on rank 0 the final colour of each node by global id. If a process was lost, these colours are
/// missing, and the report is about this process only.
struct Outcome {
  netuit::RunReport report{};
  std::vector<OwnNode> own{};   ///< of this process, by local number
  std::vector<unsigned> colors{};
  std::vector<Frame> frames{};  ///< colours over time, if requested
};

/// Collective. Colours a graph once, with the options' rule, load and addressing. Records frames if the options say so.
[[nodiscard]] inline Outcome ColorGraph(const uit::Team& team, const netuit::Graph& graph, const netuit::Placement& placement,
                                        const Options& options, const netuit::RunPlan& plan, netuit::RunOptions run) {
  netuit::Mesh mesh{team, graph,
                    {.placement = placement,
                     .is_traced = run.quality.interval.count() > 0 || run.on_status,
                     .is_watched = static_cast<bool>(run.on_status)}};
  const auto first_color = [&](netuit::NodeId node) { return FirstColor(run.seed.value(), node, options.rule.num_colors); };
  Cells cells{mesh.NumLocalNodes(), options.rule, options.padded};
  mesh.Visit([&](netuit::Node& node) { cells.Set(node.Index(), first_color(node.Id())); });

  const Turns turns{mesh, options};
  const auto frame_interval = options.frames.empty() ? std::chrono::nanoseconds{0} : options.frame_interval;
  Film film{mesh.NumLocalNodes(), mesh.NumThreads(), frame_interval, plan.duration};
  if (frame_interval.count() > 0) {
    run.sample_interval = frame_interval;
    run.on_sample = [&](const netuit::Sample& sample) {
      film.Record(sample, [&cells](std::size_t node) { return cells.Color(node); });
    };
  }

  // One update of a node: `received(edge)` is the newest colour of a neighbour, `tell(node, color)` publishes its own.
  const auto color_by = [&](const auto& received, const auto& tell) {
    return mesh.Run(plan, [&](netuit::Node& node) {
      const std::size_t index = node.Index();
      const unsigned mine = cells.Color(index);
      bool conflict = false;
      for (const netuit::InEdge edge : node.In()) conflict |= received(edge) == mine;
      cells.Learn(index, conflict, node.Random());
      if (options.work != 0) Work(turns.Work(index));
      tell(node, cells.Color(index));
    }, run);
  };
  Outcome outcome;
  if (options.addressing == Addressing::multicast) {
    const auto color = mesh.AddPublishedField<unsigned>(first_color);
    outcome.report = color_by([color](const netuit::InEdge& edge) { return color[edge]; },
                              [color](const netuit::Node& node, unsigned mine) { color[node] = mine; });
  } else {
    const auto color = mesh.AddChannels<unsigned, pooled_latest>({}, first_color);
    outcome.report = color_by([color](const netuit::InEdge& edge) { return color[edge].JumpGet(); },
                              [color](const netuit::Node& node, unsigned mine) {
                                for (const netuit::OutEdge edge : node.Out()) color[edge].TryPut(mine);
                              });
  }

  const std::vector<unsigned> colors = cells.Colors();
  for (std::size_t node = 0; node < colors.size(); ++node)
    outcome.own.push_back({mesh.Id(node), mesh.Label(node), colors[node]});
  if (outcome.report.stopped_by == netuit::StopReason::peer_lost) return outcome;
  try {
    outcome.colors = netuit::GatherByNode(mesh, colors);
    outcome.frames = film.Gather(mesh);
  } catch (const uit::PeerLost& lost) {
    outcome.report.Lose(lost);
  }
  return outcome;
}

}  // namespace channel_selection
