#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <netuit/mesh/layer.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cell.hpp"

namespace channel_selection {

/// What the command line asks for; the defaults are the paper's first benchmark.
struct Options {
  std::string graph;  ///< empty: a torus of `nodes_per_worker` nodes for each worker
  bool directed = false;
  std::string node_weights;
  std::uint32_t nodes_per_worker = 2048;
  std::size_t threads = 1;  ///< workers of each process
  std::string placement = "metis";
  netuit::Addressing addressing = netuit::Addressing::multicast;  ///< unicast: a conduit per edge, as in the paper

  LeithRule rule;
  std::uint64_t work = 0;  ///< steps of a counted loop per node and update

  std::vector<unsigned> modes{3};
  std::chrono::nanoseconds duration = std::chrono::seconds{5};  ///< 0: no limit by the clock
  std::uint64_t updates = 0;                                    ///< 0: no limit by count
  std::chrono::nanoseconds rolling_span = std::chrono::milliseconds{10};
  std::chrono::nanoseconds fixed_period = std::chrono::seconds{1};
  unsigned replicates = 5;
  std::uint64_t seed = 1;

  std::string output = "-";  ///< rows as CSV; "-" is standard output
  std::string colors_output;
  bool progress = false;
};

/// The names of modes 0 to 4, as in the rows.
[[nodiscard]] const char* ModeName(unsigned mode);

/// Reads the command line. Throws uit::InputError with one line if it makes no sense; if it asks for help or
/// the version, gives that text in `text` and no options.
[[nodiscard]] std::optional<Options> ParseOptions(int argc, const char* const* argv, std::string& text);

}  // namespace channel_selection
