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
  demo::Want(options.checkpoint_every == 0 || !options.checkpoint.empty(), "--checkpoint-every: requires a --checkpoint folder");
  demo::Want(options.founders == 0 || options.resume.empty(), "--founders: cannot be combined with --resume");
  demo::Want(options.ancestor.empty() || options.resume.empty() || options.ignores_genomes,
             "--ancestor: can be combined with --resume only if --ignore-genomes is given");
  demo::Want(options.rival.empty() || options.resume.empty(), "--rival: cannot be combined with --resume");
  demo::Want(options.resume.empty() || (options.replicates == 1 && options.modes.size() == 1),
             "--resume: requires one run of one mode");
  demo::Want(options.checkpoint.empty() || (options.replicates == 1 && options.modes.size() == 1),
             "--checkpoint: requires one run of one mode");
  const bool is_exact = options.modes.front() == 0 || options.modes.front() == 5;
  demo::Want(options.checkpoint.empty() || !is_exact || options.schedule.updates % world_period == 0,
             "--updates: not a multiple of 16, the longest period, as --checkpoint requires in modes 0 and 5");
  for (const std::string& name : options.knock_out)
    demo::Want(FindClass(name).has_value(), "--knock-out " + name + ": not a class of instructions (--instructions lists them)" +
                                                   demo::DidYouMean(name, {class_names.begin(), class_names.end()}));
}

}  // namespace

std::optional<Options> ParseOptions(int argc, const char* const* argv, std::string& text) {
  Options options;
  CLI::App app{
      "Digital evolution on threads and processes. Cells on a torus run programs that evolve. They collect and share\n"
      "resource, send packets, bear offspring into each other's places, and belong to kin groups. The defaults are the\n"
      "second benchmark of doi:10.1145/3449726.3463205. Start it with mpirun for several processes.",
      "digital_evolution"};
  app.footer(
      "Writes one CSV row per mode, replicate and worker (process, thread). Replicate r uses seed + r. With --output X.csv,\n"
      "the program also writes X.json (version, options and environment) and X.hosts.csv (the hosts). --record FOLDER\n"
      "writes evolution.csv and one folder per run, with the dominant genome, its lineage, the phylogeny and data for\n"
      "pictures. demos/digital_evolution/README.md explains the columns. Exit codes: 0 ok, 1 failure, 2 bad input,\n"
      "3 partial results, 4 an update threw, 5 output cannot be written, 128 + n ended by signal n.");
  app.set_version_flag("--version", std::string{"digital_evolution of Conduit "} + UIT_VERSION);
  app.get_formatter()->column_width(36);
  app.option_defaults()->always_capture_default();

  demo::SettingsOptions settings{app, options};
  std::string harvest = "wave";
  std::string metric = "hamming";
  unsigned threshold = 0;
  bool lists_instructions = false;
  bool lists_sensors = false;
  app.add_option("--cells-per-worker", options.cells_per_worker, "cells of each worker")->type_name("N")->check(demo::Natural);
  app.add_option("--ancestor", options.ancestor, "genome of the founders as text (default: a built-in one)")
      ->type_name("FILE");
  app.add_option("--rival", options.rival, "genome of half of the founders, for a competition")->type_name("FILE");
  app.add_option("--founders", options.founders, "initial number of cells, spread evenly; 0: one at each place")
      ->type_name("N")->check(demo::Natural);
  app.add_option("--mutation-rate", options.rules.mutation.per_birth, "share of births that mutate")->type_name("P");
  app.add_option("--harvest", harvest, "wave (through kin groups) or even (the same for every cell)")
      ->check(demo::OneOf({"wave", "even"}));
  app.add_option("--metric", metric, "similarity of tags: hamming (equal bits) or streak (runs of equal bits)")
      ->check(demo::OneOf({"hamming", "streak"}));
  app.add_option("--match-threshold", threshold, "similarity at which tags match, of 64; 0: 42 for hamming, 60 for streak")
      ->type_name("N")->check(demo::Natural);
  app.add_flag("--ignore-genomes", options.ignores_genomes, "all cells run the ancestor's program, as a neutral control");
  app.add_option("--knock-out", options.knock_out, "classes of instructions that do nothing, as in messaging,sharing")
      ->type_name("CLASS,...")
      ->delimiter(',')
      ->default_str("");
  app.add_option("--record", options.record, "folder for census, genomes and phylogeny")->type_name("FOLDER");
  demo::SpanOption sample{app, "--sample-interval", options.sample_interval, "time between rows and between pictures of --record"};
  app.add_option("--checkpoint", options.checkpoint, "save the whole world in this folder at the end")->type_name("FOLDER");
  app.add_option("--checkpoint-every", options.checkpoint_every, "also save after every N updates; all workers meet then")
      ->type_name("N")->check(demo::Natural);
  app.add_option("--resume", options.resume, "continue from a checkpoint, with its size and seed")->type_name("FOLDER");
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
    demo::Want(options.resume.empty() || app.count(name) == 0,
               std::string{name} + ": cannot be combined with --resume, which sets it");
  return options;
}

}  // namespace digital_evolution
