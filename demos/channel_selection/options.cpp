#include "options.hpp"

#include <CLI/CLI.hpp>
#include <uit/config.hpp>
#include <uit/support/error.hpp>

#include "demos/common/command_line.hpp"

namespace channel_selection {
namespace {

Addressing ParseAddressing(const std::string& text) {
  if (text == "multicast") return Addressing::multicast;
  if (text == "edge") return Addressing::edge;
  throw uit::InputError("unknown addressing " + text + " (multicast, edge)" + demo::DidYouMean(text, {"multicast", "edge"}));
}

void Check(const Options& options) {
  demo::Want(options.nodes_per_worker > 0, "--nodes-per-worker 0: a worker needs at least one node");
  demo::Want(options.rule.num_colors >= 2, "--colors: a colouring needs at least two colours");
  demo::Want(options.rule.num_colors <= 1024, "--colors: more than 1024 colours");
  demo::Want(options.rule.learning_rate >= 0 && options.rule.learning_rate <= 1, "--b: not between 0 and 1");
  demo::Want(options.frame_interval.count() > 0, "--frame-interval: must be longer than 0");
  demo::Want(options.frames.empty() || options.schedule.duration.count() > 0, "--frames: requires a --duration");
  demo::Want(options.slow_in_turn.count() >= 0, "--slow-in-turn: must not be negative");
  demo::Want(options.slow_in_turn.count() == 0 || options.work > 0,
             "--slow-in-turn: requires --work, of which a slow worker has more");
  demo::Want(options.slowness > 0 && options.slowness <= 1000, "--slowness: expected 1 to 1000");
  demo::Want(!options.graph.empty() || !options.directed, "--directed: requires a --graph");
}

}  // namespace

std::optional<Options> ParseOptions(int argc, const char* const* argv, std::string& text) {
  Options options;
  CLI::App app{
      "Colours a graph by channel selection (Leith et al. 2012) on threads and processes. Every node tries to find a\n"
      "colour that no neighbour has, by Leith's rule. The defaults are the first benchmark of\n"
      "doi:10.1145/3449726.3463205. Start it with mpirun for several processes.",
      "channel_selection"};
  app.footer(
      "Writes one CSV row per mode, replicate and worker (process, thread). Conflicts are counted from the final\n"
      "colours: each pair of adjacent nodes once, without self-loops. Only messages between threads are counted.\n"
      "period_s is the period of the mode, or 0 if it has none. Replicate r uses seed + r. With --output X.csv, the\n"
      "program also writes X.json (version, options and environment) and X.hosts.csv (the hosts). Exit codes:\n"
      "0 ok, 1 failure, 2 bad input, 3 partial results, 4 an update threw, 5 output cannot be written.");
  app.set_version_flag("--version", std::string{"channel_selection of Conduit "} + UIT_VERSION);
  app.get_formatter()->column_width(36);
  app.option_defaults()->always_capture_default();

  demo::SettingsOptions settings{app, options};
  app.add_option("--record", options.record, "record what every worker sees, so that --replay can repeat the runs")
      ->type_name("DIR");
  app.add_option("--replay", options.replay, "repeat recorded runs exactly; requires the same options")
      ->type_name("DIR");
  std::string addressing = "multicast";
  app.add_option("--graph", options.graph, "a graph file of NetworkX or METIS (default: a 2-D torus)")
      ->type_name("FILE");
  app.add_flag("--directed", options.directed, "a line of the graph file is one directed edge, not a pair of edges");
  app.add_option("--node-weights", options.node_weights, "expected load of each node, for METIS")->type_name("FILE");
  app.add_option("--nodes-per-worker", options.nodes_per_worker, "size of the default torus")
      ->type_name("N")->check(demo::Natural);
  app.add_option("--addressing", addressing, "multicast (a published field) or edge (a channel per edge)")
      ->type_name("HOW");
  app.add_option("--colors", options.rule.num_colors, "number of colours")->type_name("C")->check(demo::Natural);
  app.add_option("--b", options.rule.learning_rate, "learning rate of Leith's rule")->type_name("B");
  app.add_option("--work", options.work, "compute work per node and update, in steps of a counted loop (~2 ns)")
      ->type_name("N")->check(demo::Natural);
  demo::SpanOption slow{app, "--slow-in-turn", options.slow_in_turn,
                        "workers are slow in turn, each for so long, as noise on a cluster makes them (0: none)"};
  app.add_option("--slowness", options.slowness, "how many times the work of others a slow worker has")
      ->type_name("F")->check(demo::Natural);
  app.add_flag("--padded", options.padded, "give each node's state its own cache line");
  app.add_option("--colors-output", options.colors_output, "final colour and worker of every node as CSV")->type_name("FILE");
  app.add_option("--frames", options.frames, "colours over time as CSV, for tools/report")->type_name("FILE");
  demo::SpanOption frame{app, "--frame-interval", options.frame_interval, "time between frames"};

  if (!demo::Parse(app, argc, argv, text)) return std::nullopt;
  settings.Finish();
  frame.Finish();
  slow.Finish();
  options.addressing = ParseAddressing(addressing);
  Check(options);
  return options;
}

}  // namespace channel_selection
