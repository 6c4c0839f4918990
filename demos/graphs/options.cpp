#include "options.hpp"

#include <functional>

#include <CLI/CLI.hpp>

#include <netuit/app/guarded_main.hpp>
#include <uit/config.hpp>
#include <uit/link/world.hpp>

#include "demos/common/command_line.hpp"
#include "demos/common/contest.hpp"

namespace graphs {
namespace {

void AddTo(CLI::App& app, const About& about, Options& options) {
  app.set_version_flag("--version", about.name + " of Conduit " + UIT_VERSION);
  app.option_defaults()->always_capture_default();
  app.add_option("--scale", options.scale, "the Kronecker graph has 2^N nodes")->type_name("N")->check(CLI::Range(0, 31));
  app.add_option("--edge-factor", options.edge_factor, "links of the Kronecker graph that are drawn for each node")
      ->type_name("N")->check(CLI::Range(1, 1 << 20));
  app.add_option("--seed", options.seed, "determines the graph and all other random choices")->type_name("N")->check(demo::Natural);
  app.add_option("--graph", options.file, "an undirected graph to use instead, such as an edge list")->type_name("FILE");
  app.add_flag("--in-parts", options.in_parts,
               "each process draws or reads only its part of the graph, and none has it whole; FILE must be a binary CSR file");
  app.add_option(about.trials, options.trials, about.trials_text)->type_name("N")->check(CLI::Range(1, 1 << 20));
  if (about.add_options) about.add_options(app);
}

}  // namespace

int Main(int argc, char** argv, const About& about, const std::function<int(const uit::World&, const Options&)>& run) {
  return netuit::GuardedMain(argc, argv, [&](const uit::World& world) {
    Options options;
    CLI::App app{about.text, about.name};
    AddTo(app, about, options);
    return demo::ParseOnRoot(world, app, argc, argv) ? run(world, options) : 0;
  });
}

}  // namespace graphs
