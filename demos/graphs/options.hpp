#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include <netuit/graph/topology.hpp>
#include <uit/link/world.hpp>

namespace CLI {

class App;

}  // namespace CLI

namespace graphs {

/// What every demo of graph algorithms can be told.
struct Options {
  unsigned scale = 14;              ///< of a Kronecker graph
  netuit::NodeId edge_factor = 16;  ///< of a Kronecker graph
  std::uint64_t seed = 1;
  std::string file{};               ///< an undirected graph to use instead
  bool in_parts = false;            ///< each process reads or draws its own part of the graph
  std::size_t trials = 8;
};

/// What a demo is.
struct About {
  std::string name;
  std::string text;          ///< what it does
  std::string trials;        ///< the option for the number of trials, with its dashes
  std::string trials_text;   ///< what a trial is
  std::function<void(CLI::App&)> add_options{};  ///< adds options of its own, if it has any
};

/// Runs a demo as netuit::GuardedMain does: reads the command line, and calls `run`, whose result is the exit code.
int Main(int argc, char** argv, const About& about, const std::function<int(const uit::World&, const Options&)>& run);

}  // namespace graphs
