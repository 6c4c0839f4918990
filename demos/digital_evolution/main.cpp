// Digital evolution over threads and processes: benchmark 2 of the founding paper.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <netuit/checkpoint/checkpoint.hpp>
#include <netuit/file/line_reader.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/app/guarded_main.hpp>
#include <netuit/mesh/on_root.hpp>
#include <netuit/app/hosts.hpp>
#include <netuit/file/table.hpp>
#include <netuit/run/run_options.hpp>
#include <uit/app/environment.hpp>
#include <optional>
#include <span>
#include <string>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>
#include <uit/team/team.hpp>
#include <uit/link/world.hpp>
#include <utility>
#include <vector>

#include "demos/common/run_record.hpp"
#include "demos/common/torus.hpp"
#include "demos/common/watch.hpp"
#include "demos/digital_evolution/evolution.hpp"
#include "demos/digital_evolution/options.hpp"
#include "demos/digital_evolution/record/gathered.hpp"
#include "demos/digital_evolution/record/world_notes.hpp"
#include "demos/digital_evolution/world/ancestor.hpp"

namespace digital_evolution {
namespace {

Genome ReadGenome(const std::string& path) {
  std::ifstream stream = netuit::OpenInput(path);
  return ParseGenome(stream, path, world_names);
}

/// Collective. Gives every process rank 0's genome.
Genome Shared(const uit::World& world, const Genome& genome) {
  const auto bytes = std::as_bytes(std::span<const Instruction>(genome));
  const uit::Bytes all = world.Broadcast(uit::Bytes(bytes.begin(), bytes.end()));
  Genome shared(all.size() / sizeof(Instruction));
  if (!all.empty()) std::memcpy(static_cast<void*>(shared.data()), all.data(), all.size());
  return shared;
}

/// Reads and checks the input, on rank 0. `notes` are those of the checkpoint to continue from, if any.
struct Setting {
  demo::Problem problem;
  Beginning beginning;
};
Setting Prepare(const Options& options, std::size_t num_processes, const std::optional<WorldNotes>& notes) {
  Setting setting;
  Beginning& beginning = setting.beginning;
  const netuit::Workers workers{.processes = num_processes, .threads = options.threads};
  beginning.founding.ancestor = options.ancestor.empty() ? AncestorGenome() : ReadGenome(options.ancestor);
  if (!options.rival.empty()) beginning.founding.rival = ReadGenome(options.rival);
  if (notes) {
    beginning.side = notes->side;
    beginning.width = notes->width;
  } else {
    const std::uint64_t num_cells = std::uint64_t{options.cells_per_worker} * workers.Count();
    const demo::TorusShape shape = demo::SquarishTorus("--cells-per-worker", num_cells, "cells");
    beginning.side = shape.side;
    beginning.width = shape.width;
  }
  setting.problem.graph = netuit::MakeTorus(beginning.side, beginning.width);
  setting.problem.name = "torus";
  setting.problem.placement = demo::Place(setting.problem.graph, options, workers);
  if (options.founders > beginning.side * beginning.width)
    throw uit::InputError("--founders: more than there are places");
  for (const std::string& path : {options.output, options.quality, options.trace}) {
    if (!path.empty() && path != "-") netuit::CheckWritable(path);
  }
  for (const auto& [folder, file] : {std::pair{options.record, "/evolution.csv"}, {options.checkpoint, "/checkpoint.json"}}) {
    if (folder.empty()) continue;
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    netuit::CheckWritable(folder + file);
  }
  return setting;
}

/// The time of a cell's update in a simulation, in addition to that of any node. tools/simulate sets it by
/// UIT_SIMULATED_CELL_SECONDS.
std::chrono::duration<double> SimulatedCell() {
  return uit::SecondsFromEnvironment("UIT_SIMULATED_CELL_SECONDS", std::chrono::nanoseconds{260});
}

/// The first worker's part of the world: progress describes only its cells.
std::string FirstShare(const netuit::Placement& placement) {
  return ", on " + std::to_string(placement.NumNodesByWorker().front()) + " of " + std::to_string(placement.NumNodes()) + " places";
}

std::string Describe(const Outcome& outcome) {
  const Census& sums = outcome.sums;
  char living[128] = "no cell is left";
  if (sums.num_cells != 0)
    std::snprintf(living, sizeof living, "%llu cells of generation %.1f with %.1f instructions",
                  static_cast<unsigned long long>(sums.num_cells), sums.MeanGeneration(), sums.MeanLength());
  char text[320];
  std::snprintf(text, sizeof text, "%s, %llu births, resource %s, state %016llx", living,
                static_cast<unsigned long long>(sums.counters.Births()), outcome.is_conserved ? "exact" : "WRONG",
                static_cast<unsigned long long>(outcome.state_hash));
  return text;
}

int Main(Options options, std::vector<std::string> command_line, const uit::World& world) {
  std::optional<WorldNotes> notes;
  if (!options.resume.empty()) {
    notes = ParseWorldNotes(netuit::ReadCheckpointInfo(world, options.resume).notes, options.resume);
    options.seed = notes->seed;
  }
  auto [problem, beginning] = netuit::OnRoot(world, [&] { return Prepare(options, world.Size(), notes); });
  beginning.notes = notes;
  beginning.founding.ancestor = Shared(world, beginning.founding.ancestor);
  if (!options.rival.empty()) beginning.founding.rival = Shared(world, beginning.founding.rival.value_or(Genome{}));
  beginning.side = world.BroadcastValue(beginning.side);
  beginning.width = world.BroadcastValue(beginning.width);
  beginning.founding.num_founders = options.founders;
  for (const std::string& name : options.knock_out) options.rules.machine.knocked_out.Insert(*FindClass(name));
  if (options.ignores_genomes)
    options.rules.common_program = std::make_shared<const Program>(beginning.founding.ancestor, options.rules.machine);
  if (world.IsRoot() && notes && notes->rules != HashOf(options.rules))
    std::fprintf(stderr, "conduit: warning: %s: continues under other rules than those it was saved under\n",
                 options.resume.c_str());

  demo::RunRecord record{"digital_evolution", options, demo::ShareFacts(world, problem, options.threads), "mixed",
                         netuit::Hosts::Inspect(world, options.threads), world.Library(), std::move(command_line),
                         {"cells", "cells_of_rival", "births", "mean_generation", "mean_genome_length", "resource_exact",
                          "state_hash"}};
  const uit::Team team{world, {.threads = static_cast<std::uint32_t>(options.threads)}};
  EvolutionTable table;
  int code = 0;
  bool has_begun = false;
  for (const unsigned mode : options.modes) {
    for (unsigned replicate = 0; replicate < options.replicates && code == 0; ++replicate) {
      netuit::RunOptions run = demo::MakeRunOptions(options, mode, replicate);
      run.simulated_node_cost = SimulatedCell();
      Evolution evolution{options, problem, beginning, team, run.seed.value()};
      if (!std::exchange(has_begun, true))  // nothing is written if a checkpoint is refused
        netuit::OnRoot(world, [&] { return record.Begin(), 0; });
      demo::Watch watch{record.RunName(mode, replicate)};
      if (options.watch) run.on_status = [&watch](std::span<const netuit::WorkerStatus> workers) { watch.Show(workers); };
      if (world.IsRoot() && record.HasProgress() && !options.watch) {
        run.on_progress = [&, mode, replicate, share = FirstShare(problem.placement)](const netuit::Progress& progress) {
          record.Show(mode, replicate, evolution.Whole(progress), evolution.Describe() + share);
        };
      }
      Outcome outcome = evolution.Run(demo::PlanOf(options, mode), run);
      const auto add_sums = [](netuit::Table& row, const Census& sums) {
        row.Add(sums.num_cells).Add(sums.num_of_rival).Add(sums.counters.Births()).Add(sums.MeanGeneration());
        row.Add(sums.MeanLength());
      };
      bool is_conserved = true;
      std::exception_ptr unwritten = outcome.unwritten;
      const auto write = [&unwritten](auto&& act) {  // if a file cannot be written, the others still are
        try {
          act();
        } catch (...) {
          if (!IsUnwritten(std::current_exception())) throw;
          if (!unwritten) unwritten = std::current_exception();
        }
      };
      if (outcome.report.stopped_by != netuit::StopReason::peer_lost) {
        try {
          write([&] { evolution.Save(table, mode, replicate); });
          is_conserved = world.BroadcastValue(outcome.is_conserved) || outcome.report.stopped_by == netuit::StopReason::thrown;
          const auto add = [&] {
            record.Add(mode, replicate, outcome.report, [&](netuit::Table& row, const netuit::WorkerReport&) {
              add_sums(row, outcome.sums);
              row.Add(outcome.is_conserved).Add(detail::Hexadecimal(outcome.state_hash));
            });
            record.Say(mode, replicate, outcome.report, Describe(outcome));
            return 0;
          };
          write([&] { netuit::OnRoot(world, add); });
        } catch (const uit::PeerLost& lost) {
          outcome.report.Lose(lost);
        }
      }
      code = outcome.report.ExitCode();
      if (code != 0) evolution.KeepSignals();
      const bool has_lost_peer = outcome.report.stopped_by == netuit::StopReason::peer_lost;  // collective calls no longer work
      if (has_lost_peer) {
        record.AddOwn(world.Rank(), mode, replicate, outcome.report, [&](netuit::Table& row, const netuit::WorkerReport&) {
          add_sums(row, evolution.TakeOwnCensus());
          row.Add("").Add("");
        });
      }
      demo::ReportError(world, outcome.report);
      if (has_lost_peer) return code;
      if (!is_conserved) throw uit::Error("resource was not conserved in the run");
      if (unwritten) std::rethrow_exception(unwritten);
    }
  }
  netuit::OnRoot(world, [&] { return record.Finish(code == 0), 0; });
  return code;
}

}  // namespace
}  // namespace digital_evolution

int main(int argc, char** argv) {
  return netuit::GuardedMain(argc, argv, [&](const uit::World& world) {
    std::string text;
    const auto parse = [&] { return digital_evolution::ParseOptions(argc, argv, text); };
    auto options = netuit::OnRoot(world, parse);  // first, so that one process complains
    if (!world.IsRoot()) options = parse();
    if (options) return digital_evolution::Main(*options, {argv, argv + argc}, world);
    if (world.IsRoot()) std::cout << text;
    return 0;
  });
}
