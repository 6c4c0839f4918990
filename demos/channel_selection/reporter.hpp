#pragma once

#include <cstddef>
#include <cstdint>
#include <netuit/graph/topology.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/app/hosts.hpp>
#include <netuit/file/table.hpp>
#include <netuit/run/run_options.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coloring.hpp"
#include "demos/common/run_record.hpp"
#include "options.hpp"
#include "serial.hpp"

namespace channel_selection {

/// The name of an addressing, as in the rows.
inline const char* AddressingName(const Options& options) {
  return options.addressing == Addressing::multicast ? "multicast" : "edge";
}

/// All output of rank 0, and of the other processes if one was lost.
class Reporter {
 public:
  /// Adds this program's output to that of every benchmark.
  Reporter(const Options& options, const demo::Problem& problem, demo::ProblemFacts facts, netuit::Hosts hosts,
           std::string library, std::vector<std::string> command_line)
      : options_{options},
        problem_{problem},
        record_{"channel_selection", options, std::move(facts), AddressingName(options), std::move(hosts), std::move(library),
                std::move(command_line), {"conflicts", "conflict_edges_total", "nodes_in_conflict"}} {}

  /// The output of every benchmark.
  demo::RunRecord& Record() { return record_; }

  /// Adds a run to the results and writes them at once, so that a later failure does not lose them.
  void Add(unsigned mode, unsigned replicate, const Outcome& outcome) {
    const Score score = ScoreOf(outcome.colors);
    if (!options_.colors_output.empty()) {
      AddColors(mode, replicate, outcome.colors, score.in_conflict);
      colors_.Save(options_.colors_output);
    }
    if (!options_.frames.empty()) {
      AddFrames(mode, replicate, outcome.frames);
      frames_.Save(options_.frames);
    }
    record_.Add(mode, replicate, outcome.report, [&score](netuit::Table& row, const netuit::WorkerReport&) {
      row.Add(score.num_conflicts).Add(score.num_edges).Add(score.nodes_in_conflict);
    });
    record_.Say(mode, replicate, outcome.report,
                std::to_string(score.num_conflicts) + " of " + std::to_string(score.num_edges) + " adjacent pairs in conflict");
  }

  /// Writes this process's own results of a run that lost another process: its rows, and the colours of its nodes.
  void AddOwn(std::size_t rank, unsigned mode, unsigned replicate, const Outcome& outcome) {
    if (!options_.colors_output.empty()) {
      netuit::Table colors = colors_.Empty();
      for (const auto& [node, label, color] : outcome.own)
        colors.Row().Add(mode).Add(replicate).Add(node).Add(label).Add(color).Add(rank).Add("").Add("");
      colors.Save(demo::RunRecord::OfRank(options_.colors_output, rank));
    }
    record_.AddOwn(rank, mode, replicate, outcome.report,
                   [](netuit::Table& row, const netuit::WorkerReport&) { row.Add("").Add("").Add(""); });
  }

 private:
  [[nodiscard]] Score ScoreOf(std::span<const unsigned> colors) const {
    const netuit::Topology& graph = problem_.graph;
    return ScoreColoring(colors, [&graph](std::size_t node) { return graph.OutNeighbors(static_cast<netuit::NodeId>(node)); });
  }
  void AddFrames(unsigned mode, unsigned replicate, const std::vector<Frame>& frames) {
    static constexpr std::string_view digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for (const Frame& frame : frames) {
      std::string text;
      for (const unsigned color : frame.colors) text += digits[color % digits.size()];
      frames_.Row().Add(mode).Add(replicate).Add(demo::Seconds(frame.elapsed)).Add(text);
      frames_.Add(ScoreOf(frame.colors).num_conflicts);
    }
  }
  void AddColors(unsigned mode, unsigned replicate, std::span<const unsigned> colors,
                 const std::vector<std::uint8_t>& in_conflict) {
    const netuit::Topology& graph = problem_.graph;
    for (netuit::NodeId node = 0; node < colors.size(); ++node) {
      const netuit::WorkerId place = problem_.placement.Of(node);
      colors_.Row().Add(mode).Add(replicate).Add(node).Add(graph.Label(node)).Add(colors[node]);
      colors_.Add(place.process).Add(place.thread).Add(in_conflict[node] != 0);
    }
  }

  const Options& options_;
  const demo::Problem& problem_;
  demo::RunRecord record_;
  netuit::Table colors_{{"mode", "replicate", "node", "label", "color", "process", "thread", "in_conflict"}};
  netuit::Table frames_{{"mode", "replicate", "elapsed_s", "colors", "conflicts"}};
};

}  // namespace channel_selection
