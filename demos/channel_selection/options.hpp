#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "cell.hpp"
#include "demos/common/settings.hpp"

namespace channel_selection {

/// How nodes tell their neighbours their colours.
enum class Addressing {
  multicast,  ///< a published field: one value per node, heard by all its out-neighbours
  edge        ///< channels: a conduit per edge, as in the paper
};

/// What the command line asks for; the defaults are the paper's first benchmark.
struct Options : demo::Settings {
  std::string graph;  ///< empty: a torus of `nodes_per_worker` nodes for each worker
  bool directed = false;
  std::string node_weights;
  std::uint32_t nodes_per_worker = 2048;
  Addressing addressing = Addressing::multicast;

  LeithRule rule;
  std::uint64_t work = 0;  ///< steps of a counted loop per node and update
  bool padded = false;     ///< a cache line for each node's state

  std::string colors_output;
  std::string frames;  ///< colours over time as CSV; empty: they are not recorded
  std::chrono::nanoseconds frame_interval = std::chrono::milliseconds{50};  ///< from frame to frame
};

/// Reads the command line. Throws uit::InputError with one line if it makes no sense; if it asks for help or
/// the version, gives that text in `text` and no options.
[[nodiscard]] std::optional<Options> ParseOptions(int argc, const char* const* argv, std::string& text);

}  // namespace channel_selection
