#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "cell.hpp"
#include "demos/common/settings.hpp"

namespace channel_selection {

/// How nodes send their colours to their neighbours.
enum class Addressing {
  multicast,  ///< a published field: one value per node for all its out-neighbours
  edge        ///< channels: a conduit per edge, as in the paper
};

/// The options of the command line. The defaults are the paper's first benchmark.
struct Options : demo::Settings {
  std::string graph;  ///< empty: a torus of `nodes_per_worker` nodes for each worker
  bool directed = false;
  std::string node_weights;
  std::uint32_t nodes_per_worker = 2048;
  Addressing addressing = Addressing::multicast;

  LeithRule rule;
  std::uint64_t work = 0;  ///< steps of a counted loop per node and update
  /// If not 0: the workers are slow in turn, each for this long. A slow worker does `slowness` times the work.
  std::chrono::nanoseconds slow_in_turn{0};
  std::uint32_t slowness = 3;
  bool padded = false;     ///< a cache line for each node's state

  std::string colors_output;
  std::string frames;  ///< file for colours over time as CSV; empty: not recorded
  std::chrono::nanoseconds frame_interval = std::chrono::milliseconds{50};  ///< from frame to frame
};

/// Reads the command line. Throws uit::InputError with one line if it is invalid. If it asks for help or the version, puts that
/// text into `text` and returns no options.
[[nodiscard]] std::optional<Options> ParseOptions(int argc, const char* const* argv, std::string& text);

}  // namespace channel_selection
