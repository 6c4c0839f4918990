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
#include <uit/support/error.hpp>
#include <uit/support/simulation.hpp>
#include <uit/team/team.hpp>
#include <vector>

#include "cell.hpp"
#include "film.hpp"
#include "options.hpp"

namespace channel_selection {

/// A message of its own for each edge, the newest of which counts; those between two workers share frames.
inline constexpr uit::Policy pooled_latest{.retain = uit::Retain::latest, .consolidate = uit::Consolidate::pooled};

/// Keeps the core busy for `num_steps` steps of a dependent multiplication: a count of work, not of time, so
/// that a worker which loses its core to another has not done any. A simulated one is charged SimulatedWork instead.
inline void Work(std::uint64_t num_steps) {
  if constexpr (uit::is_simulated) return;
  std::uint64_t state = num_steps;
  for (std::uint64_t step = 0; step < num_steps; ++step) state = netuit::MixBits(state + step);
  asm volatile("" : : "r"(state));
}

/// What so many steps cost in a simulation, by UIT_SIMULATED_STEP_SECONDS.
[[nodiscard]] inline std::chrono::duration<double> SimulatedWork(std::uint64_t num_steps) {
  return static_cast<double>(num_steps) *
         uit::SecondsFromEnvironment("UIT_SIMULATED_STEP_SECONDS", std::chrono::nanoseconds{2});
}

/// First colour of a node: a function of seed and node alone, so that every process knows it.
[[nodiscard]] inline unsigned FirstColor(std::uint64_t seed, netuit::NodeId node, unsigned num_colors) {
  return netuit::RandomStream{seed, node}.Below(num_colors);
}

/// A node of this process.
struct OwnNode {
  netuit::NodeId node = 0;
  std::string label{};
  unsigned color = 0;
};

/// How a run ended, and on rank 0 the final colour of each node by global id. If a process was lost, there are none, and
/// the report is about this process.
struct Outcome {
  netuit::RunReport report{};
  std::vector<OwnNode> own{};   ///< of this process, by local number
  std::vector<unsigned> colors{};
  std::vector<Frame> frames{};  ///< as it went, if that was asked for
};

/// Colours a graph once, by the options' rule, load and addressing; records frames if they ask for it. Collective.
[[nodiscard]] inline Outcome ColorGraph(const uit::Team& team, const netuit::Graph& graph, const netuit::Placement& placement,
                                        const Options& options, const netuit::RunPlan& plan, netuit::RunOptions run) {
  netuit::Mesh mesh{team, graph,
                    {.placement = placement,
                     .is_traced = run.quality.interval.count() > 0 || run.on_status,
                     .is_watched = static_cast<bool>(run.on_status)}};
  const auto first_color = [&](netuit::NodeId node) { return FirstColor(run.seed, node, options.rule.num_colors); };
  Cells cells{mesh.NumLocalNodes(), options.rule, options.padded};
  mesh.Visit([&](netuit::Node& node) { cells.Set(node.Index(), first_color(node.Id())); });

  const auto frame_interval = options.frames.empty() ? std::chrono::nanoseconds{0} : options.frame_interval;
  Film film{mesh.NumLocalNodes(), mesh.NumThreads(), frame_interval, plan.duration};
  if (frame_interval.count() > 0) {
    run.sample_interval = frame_interval;
    run.on_sample = [&](const netuit::Sample& sample) {
      film.Record(sample, [&cells](std::size_t node) { return cells.Color(node); });
    };
  }

  // One update of a node: `heard(edge)` is the newest colour of a neighbour, `tell(node, color)` makes the own one known.
  const auto color_by = [&](const auto& heard, const auto& tell) {
    return mesh.Run(plan, [&](netuit::Node& node) {
      const std::size_t index = node.Index();
      const unsigned mine = cells.Color(index);
      bool conflict = false;
      for (const netuit::InEdge edge : node.In()) conflict |= heard(edge) == mine;
      cells.Learn(index, conflict, node.Random());
      if (options.work != 0) Work(options.work);
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
