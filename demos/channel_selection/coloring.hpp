#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <netuit/netuit.hpp>
#include <span>
#include <utility>
#include <vector>

#include "cell.hpp"
#include "film.hpp"

namespace channel_selection {

/// The colour of a node, heard by all its out-neighbours.
struct Color : netuit::Multicast<unsigned> {};

/// The same with a conduit per edge, as in the paper.
struct ColorByEdge
    : netuit::Unicast<unsigned, uit::Policy{.retain = uit::Retain::latest, .consolidate = uit::Consolidate::pooled}> {};

/// The newest that an input of either layer has to say.
template <netuit::Layer L>
[[nodiscard]] unsigned Heard(auto&& input) {
  if constexpr (netuit::MulticastLayer<L>) {
    return input;
  } else {
    return input.JumpGet();
  }
}

/// Tells a colour through the output of either layer.
template <netuit::Layer L>
void Tell(auto&& output, unsigned color) {
  if constexpr (netuit::MulticastLayer<L>) {
    output.TryPut(color);
  } else {
    for (auto&& inlet : output) inlet.TryPut(color);
  }
}

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

/// What an update costs beside the rule itself.
struct Load {
  std::uint64_t work = 0;  ///< steps of Work, per node
  bool is_padded = false;  ///< a cache line for each node's state
};

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
  netuit::RunReport report;
  std::vector<OwnNode> own{};   ///< of this process, by local number
  std::vector<unsigned> colors{};
  std::vector<Frame> frames{};  ///< as it went, if that was asked for
};

/// Colours a graph once; records a frame every `frame_interval`, or none if that is 0. Collective.
template <netuit::Layer L>
[[nodiscard]] Outcome ColorGraph(const netuit::Topology& topology, const netuit::Placement& placement,
                                 const uit::World& world, const LeithRule& rule, const Load& load,
                                 netuit::RunOptions options, std::chrono::nanoseconds frame_interval = {}) {
  netuit::TaggedMesh<L> mesh{topology, placement, world,
                       {.is_traced = options.quality.interval.count() > 0 || options.on_status,
                        .is_watched = static_cast<bool>(options.on_status)}};
  const auto first_color = [&](netuit::NodeId node) { return FirstColor(options.seed, node, rule.num_colors); };
  mesh.template Initialize<L>(first_color);
  Cells cells{mesh.NumLocalNodes(), rule, load.is_padded};
  for (std::size_t node = 0; node < mesh.NumLocalNodes(); ++node) cells.Set(node, first_color(mesh.Id(node)));

  Film film{mesh.NumLocalNodes(), mesh.NumThreads(), frame_interval, options.duration};
  if (frame_interval.count() > 0) {
    options.sample_interval = frame_interval;
    options.on_sample = [&](const netuit::Sample& sample) {
      film.Record(sample, [&cells](std::size_t node) { return cells.Color(node); });
    };
  }

  auto report = netuit::Run(mesh, options, [&](auto& node) {
    const std::size_t index = node.Index();
    const unsigned mine = cells.Color(index);
    bool conflict = false;
    for (auto&& neighbor : node.template In<L>()) conflict |= Heard<L>(neighbor) == mine;
    cells.Learn(index, conflict, node.Random());
    if (load.work != 0) Work(load.work);
    Tell<L>(node.template Out<L>(), cells.Color(index));
  });
  Outcome outcome{.report = std::move(report)};
  const std::vector<unsigned> colors = cells.Colors();
  for (std::size_t node = 0; node < colors.size(); ++node)
    outcome.own.push_back({mesh.Id(node), mesh.Label(node), colors[node]});
  if (outcome.report.stopped_by == netuit::StopReason::peer_lost) return outcome;
  try {
    outcome.colors = mesh.Gather(std::span{colors});
    outcome.frames = film.Gather(mesh);
  } catch (const uit::PeerLost& lost) {
    outcome.report.Lose(lost);
  }
  return outcome;
}

}  // namespace channel_selection
