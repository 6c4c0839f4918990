#include "demos/digital_evolution/options.hpp"

#include <CLI/CLI.hpp>
#include <string>
#include <uit/config.hpp>

#include "demos/common/command_line.hpp"
#include "demos/digital_evolution/record/tables.hpp"

namespace digital_evolution {
namespace {

void Check(const Options& options) {
  demo::Want(options.cells_per_worker > 0, "--cells-per-worker 0: a worker needs at least one cell");
  const double rate = options.rules.mutation.per_birth;
  demo::Want(rate >= 0 && rate <= 1, "--mutation-rate: not between 0 and 1");
  demo::Want(options.sample_interval.count() > 0, "--sample-interval: must be longer than 0");
  demo::Want(options.checkpoint_every % world_period == 0, "--checkpoint-every: not a multiple of 16 updates, the longest period");
  demo::Want(options.checkpoint_every == 0 || !options.checkpoint.empty(), "--checkpoint-every: wants a --checkpoint file");
  demo::Want(options.founders == 0 || options.resume.empty(), "--founders: a world that goes on has been founded");
  demo::Want(options.ancestor.empty() || options.resume.empty() || options.ignores_genomes,
             "--ancestor: a world that goes on has been founded (but for --ignore-genomes)");
  demo::Want(options.rival.empty() || options.resume.empty(), "--rival: a world that goes on has been founded");
  demo::Want(options.resume.empty() || (options.replicates == 1 && options.modes.size() == 1),
             "--resume: goes on with one run of one mode");
  demo::Want(options.checkpoint.empty() || (options.replicates == 1 && options.modes.size() == 1),
             "--checkpoint: of one run of one mode");
  demo::Want(options.checkpoint.empty() || options.modes.front() != 0 || options.schedule.updates % world_period == 0,
             "--updates: not a multiple of 16, the longest period, as a --checkpoint of mode 0 wants");
  for (const std::string& name : options.knock_out)
    demo::Want(FindClass(name).has_value(), "--knock-out " + name + ": no class of instructions (--instructions lists them)");
}

}  // namespace

std::optional<Options> ParseOptions(int argc, const char* const* argv, std::string& text) {
  Options options;
  CLI::App app{
      "Digital evolution over threads and processes: cells on a torus that run evolving programs, collect and share\n"
      "resource, talk, bear offspring into each other's places and belong to kin groups. The defaults are the second\n"
      "benchmark of doi:10.1145/3449726.3463205. Start it with mpirun for several processes.",
      "digital_evolution"};
  app.footer(
      "Writes one CSV row per mode, replicate and worker (process, thread). Replicate r is run with seed + r. Beside the\n"
      "rows of --output X.csv stand X.json (how they came about) and X.hosts.csv (what computers it was on). --record\n"
      "FOLDER gets evolution.csv and a folder for each run, with the dominant genome, its lineage, the phylogeny and\n"
      "pictures' data. demos/digital_evolution/README.md says what each column means. Exit codes: 0 ok, 1 failure, 2 bad\n"
      "input, 3 partial, 4 an update threw, 5 output not written, 128 + n ended by signal n.");
  app.set_version_flag("--version", std::string{"digital_evolution of Conduit "} + UIT_VERSION);
  app.get_formatter()->column_width(36);
  app.option_defaults()->always_capture_default();

  demo::SettingsOptions settings{app, options};
  std::string harvest = "wave";
  std::string metric = "hamming";
  unsigned threshold = 0;
  bool lists_instructions = false;
  bool lists_sensors = false;
  app.add_option("--cells-per-worker", options.cells_per_worker, "size of the world")->type_name("N")->check(demo::Natural);
  app.add_option("--ancestor", options.ancestor, "genome of the founders as text (default: one that comes with it)")
      ->type_name("FILE");
  app.add_option("--rival", options.rival, "genome of half of the founders, for a competition")->type_name("FILE");
  app.add_option("--founders", options.founders, "cells to begin with, spread evenly; 0: one in each place")
      ->type_name("N")->check(demo::Natural);
  app.add_option("--mutation-rate", options.rules.mutation.per_birth, "part of births that mutate")->type_name("P");
  app.add_option("--harvest", harvest, "wave (through kin groups) or even (to all alike)")
      ->check(CLI::IsMember({"wave", "even"}));
  app.add_option("--metric", metric, "how alike tags are: hamming (equal bits) or streak (runs of equal ones)")
      ->check(CLI::IsMember({"hamming", "streak"}));
  app.add_option("--match-threshold", threshold, "how alike tags have to be, of 64; 0: 42 by hamming, 60 by streak")
      ->type_name("N")->check(demo::Natural);
  app.add_flag("--ignore-genomes", options.ignores_genomes, "all run the ancestor's program: a neutral control");
  app.add_option("--knock-out", options.knock_out, "classes of instructions that do nothing, as in messaging,sharing")
      ->type_name("CLASS,...")
      ->delimiter(',')
      ->default_str("");
  app.add_option("--record", options.record, "folder for what evolved")->type_name("FOLDER");
  demo::SpanOption sample{app, "--sample-interval", options.sample_interval, "from row to row, and picture to picture, of --record"};
  app.add_option("--checkpoint", options.checkpoint, "file for the whole world, written at the end")->type_name("FILE");
  app.add_option("--checkpoint-every", options.checkpoint_every, "also after each so many updates; all workers meet then")
      ->type_name("N")->check(demo::Natural);
  app.add_option("--resume", options.resume, "go on from a checkpoint, with its size and seed")->type_name("FILE");
  app.add_flag("--instructions", lists_instructions, "print the instructions as CSV, and end");
  app.add_flag("--sensors", lists_sensors, "print the words of a cell's state as CSV, and end");

  if (!demo::Parse(app, argc, argv, text)) return std::nullopt;
  if (lists_instructions || lists_sensors) {
    text = lists_instructions ? InstructionTable().Text() : SensorTable().Text();
    return std::nullopt;
  }
  settings.Finish();
  sample.Finish();
  options.rules.harvest = harvest == "wave" ? Harvest::wave : Harvest::even;
  demo::Want(threshold <= 64, "--match-threshold: tags have 64 bits");
  constexpr unsigned streak_threshold = 60;  // since scores of random tags spread widely
  MachineOptions& machine = options.rules.machine;
  if (metric == "streak") machine.metric = Metric::streak, machine.match_threshold = streak_threshold;
  if (threshold != 0) machine.match_threshold = threshold;
  Check(options);
  for (const char* name : {"--cells-per-worker", "--seed"})
    demo::Want(options.resume.empty() || app.count(name) == 0, std::string{name} + ": a world that goes on has its size and seed");
  return options;
}

}  // namespace digital_evolution
