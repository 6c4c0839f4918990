// The only translation unit with CLI11, which takes seconds to compile.
#include "options.hpp"

#include <CLI/CLI.hpp>
#include <array>
#include <charconv>
#include <cmath>
#include <sstream>
#include <uit/config.hpp>
#include <uit/support/error.hpp>

namespace channel_selection {
namespace {

constexpr std::array mode_names{"every_update", "rolling", "fixed", "no_barrier", "no_communication"};

/// "10ms", "1.5 s", "2" (seconds).
std::chrono::nanoseconds ParseSpan(const std::string& option, const std::string& text) {
  const auto refuse = [&](const std::string& why) {
    throw uit::InputError(option + " " + text + ": " + why);
  };
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) refuse("not a span of time such as 10ms or 5s");
  std::string unit(rest, text.data() + text.size());
  unit.erase(0, unit.find_first_not_of(' '));
  double nanoseconds = number;
  if (unit.empty() || unit == "s") {
    nanoseconds *= 1e9;
  } else if (unit == "ms") {
    nanoseconds *= 1e6;
  } else if (unit == "us") {
    nanoseconds *= 1e3;
  } else if (unit == "min") {
    nanoseconds *= 60e9;
  } else if (unit != "ns") {
    refuse("unknown unit " + unit + " (ns, us, ms, s, min)");
  }
  if (!std::isfinite(nanoseconds) || nanoseconds < 0) refuse("not a span of time such as 10ms or 5s");
  if (nanoseconds > 9e18) refuse("longer than 285 years");
  return std::chrono::nanoseconds{std::llround(nanoseconds)};
}

unsigned ParseMode(const std::string& text) {
  for (unsigned mode = 0; mode < mode_names.size(); ++mode) {
    if (text == mode_names[mode] || text == std::to_string(mode)) return mode;
  }
  throw uit::InputError("unknown mode " + text + " (0 every_update, 1 rolling, 2 fixed, 3 no_barrier, 4 no_communication)");
}

netuit::Addressing ParseAddressing(const std::string& text) {
  if (text == "multicast") return netuit::Addressing::multicast;
  if (text == "edge") return netuit::Addressing::unicast;
  throw uit::InputError("unknown addressing " + text + " (multicast, edge)");
}

void Check(const Options& options, bool seconds_given) {
  const auto want = [](bool condition, const char* text) {
    if (!condition) throw uit::InputError(text);
  };
  want(options.threads > 0, "--threads 0: a process needs at least one worker");
  want(options.threads <= 4096, "--threads: more than 4096 workers in a process");
  want(options.nodes_per_worker > 0, "--nodes-per-worker 0: a worker needs at least one node");
  want(options.rule.num_colors >= 2, "--colors: a colouring needs at least two colours");
  want(options.rule.num_colors <= 1024, "--colors: more than 1024 colours");
  want(options.rule.learning_rate >= 0 && options.rule.learning_rate <= 1, "--b: not between 0 and 1");
  want(options.replicates > 0, "--replicates 0: nothing to do");
  want(!options.modes.empty(), "--modes: no mode given");
  want(options.rolling_span.count() > 0, "--period-rolling: must be longer than 0");
  want(options.fixed_period.count() > 0, "--period-fixed: must be longer than 0");
  want(options.duration.count() > 0 || options.updates > 0,
       seconds_given ? "--duration 0 without --updates: the run would never end"
                     : "--updates 0: the run would never end");
  want(!options.graph.empty() || !options.directed, "--directed: wants a --graph");
}

}  // namespace

const char* ModeName(unsigned mode) { return mode_names.at(mode); }

std::optional<Options> ParseOptions(int argc, const char* const* argv, std::string& text) {
  Options options;
  CLI::App app{
      "Graph colouring by channel selection (Leith et al. 2012) over threads and processes. Every node takes a\n"
      "colour that no neighbour has, if it can, by Leith's rule; the defaults are the first benchmark of\n"
      "doi:10.1145/3449726.3463205. Start it with mpirun for several processes.",
      "channel_selection"};
  app.footer(
      "Writes one CSV row per mode, replicate and worker (process, thread). Conflicts are recounted serially from\n"
      "the final colours: each pair of adjacent nodes once, self-loops left out. Counts of messages are those of\n"
      "channels that leave their thread. period_s is the mode's own: 0 where it has none. Replicate r is run with\n"
      "seed + r. Exit codes: 0 ok, 1 failure, 2 bad input, 3 partial, 4 an update threw, 5 output not written.");
  app.set_version_flag("--version", std::string{"channel_selection of Conduit "} + UIT_VERSION);
  app.get_formatter()->column_width(36);
  app.option_defaults()->always_capture_default();

  const auto natural = [](const std::string& number) {
    return number.starts_with('-') ? number + " is negative" : std::string{};
  };

  std::vector<std::string> modes;
  std::string addressing = "multicast";
  std::string duration = "5s";
  std::string rolling = "10ms";
  std::string fixed = "1s";
  app.add_option("--graph", options.graph, "graph as NetworkX writes it, or METIS .graph (default: a 2-D torus)")
      ->type_name("FILE");
  app.add_flag("--directed", options.directed, "a line of the graph file is one directed edge, not a pair");
  app.add_option("--node-weights", options.node_weights, "expected load of each node, for METIS")->type_name("FILE");
  app.add_option("--nodes-per-worker", options.nodes_per_worker, "size of the default torus")->type_name("N")->check(natural);
  app.add_option("--threads", options.threads, "workers in each process")->type_name("N")->check(natural);
  app.add_option("--placement", options.placement, "metis, contiguous, round_robin, random, or a file")
      ->type_name("HOW");
  app.add_option("--addressing", addressing, "multicast (a value per node) or edge (a conduit per edge)")
      ->type_name("HOW");
  app.add_option("--colors", options.rule.num_colors, "how many colours")->type_name("C")->check(natural);
  app.add_option("--b", options.rule.learning_rate, "learning rate of Leith's rule")->type_name("B");
  app.add_option("--work", options.work, "compute work per node and update, in steps of a counted loop (~2 ns)")
      ->type_name("N")->check(natural);
  app.add_option("--mode,--modes", modes, "asynchronicity modes by number or name, as in 0,3 (default: 3)")
      ->type_name("M,...")
      ->delimiter(',')
      ->default_str("");
  auto* seconds = app.add_option("--duration", duration, "length of a run: seconds, or with a unit (default: 5s)");
  seconds->type_name("SPAN");
  app.add_option("--updates", options.updates, "end a run after so many updates; alone, without the clock")->type_name("N")->check(natural);
  app.add_option("--period-rolling", rolling, "mode 1: work between barriers (default: 10ms)")->type_name("SPAN");
  app.add_option("--period-fixed", fixed, "mode 2: period of the barriers (default: 1s)")->type_name("SPAN");
  app.add_option("--replicates", options.replicates, "runs of each mode")->type_name("N")->check(natural);
  app.add_option("--seed", options.seed, "first seed")->type_name("N")->check(natural);
  app.add_option("--output", options.output, "rows as CSV (default: standard output)")->type_name("FILE");
  app.add_option("--colors-output", options.colors_output, "final colour and worker of every node as CSV")->type_name("FILE");
  app.add_flag("--progress", options.progress, "progress lines on stderr even if it is no terminal");

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    std::ostringstream out;
    app.exit(asked, out, out);
    text = out.str();
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    throw uit::InputError(error.what());
  }
  if (!modes.empty()) options.modes.clear();
  for (const std::string& mode : modes) options.modes.push_back(ParseMode(mode));
  options.addressing = ParseAddressing(addressing);
  options.duration = ParseSpan("--duration", duration);
  if (seconds->empty() && options.updates > 0) options.duration = {};
  options.rolling_span = ParseSpan("--period-rolling", rolling);
  options.fixed_period = ParseSpan("--period-fixed", fixed);
  Check(options, !seconds->empty());
  return options;
}

}  // namespace channel_selection
