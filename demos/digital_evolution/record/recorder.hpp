#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <netuit/file/atomic_file.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/on_root.hpp>
#include <netuit/file/table.hpp>
#include <netuit/run/run_options.hpp>
#include <span>
#include <string>
#include <system_error>
#include <uit/support/error.hpp>
#include <uit/link/world.hpp>
#include <vector>

#include "demos/common/run_record.hpp"
#include "demos/digital_evolution/record/census.hpp"
#include "demos/digital_evolution/record/dominant.hpp"
#include "demos/digital_evolution/record/film.hpp"
#include "demos/digital_evolution/record/gathered.hpp"
#include "demos/digital_evolution/record/outcomes.hpp"
#include "demos/digital_evolution/record/phylogeny.hpp"
#include "demos/digital_evolution/world/names.hpp"
#include "demos/digital_evolution/world/world.hpp"

namespace digital_evolution {

/// Writes the results of one run into the folder of --record.
class RunRecorder {
 public:
  /// For a world that has been founded or loaded; records a picture every `interval`.
  RunRecorder(const World& cells, std::chrono::nanoseconds interval, Phylogeny& phylogeny)
      : cells_{cells},
        age_at_beginning_{cells.Age()},
        world_{cells.GetMesh().GetWorld()},
        num_nodes_{cells.GetMesh().NumNodes()},
        rows_(cells.GetMesh().NumThreads()),
        interval_{interval},
        film_{cells, rows_.size(), num_nodes_, interval},
        phylogeny_{phylogeny} {}

  /// Records a worker's cells; `before` is the time of earlier parts of the run. Only that worker calls this.
  void Record(netuit::Sample sample, std::chrono::nanoseconds before, std::uint64_t age_before) {
    sample.elapsed += before;
    film_.Record(sample);
    std::vector<Census>& rows = rows_[sample.worker.thread];
    if (!rows.empty() && rows.back().elapsed / interval_ == sample.elapsed / interval_) return;  // where a part begins
    rows.push_back(Look(sample, age_before + sample.num_updates));
  }
  /// Adds the last rows after the run. Not collective.
  void RecordEnd(const netuit::RunReport& report, std::chrono::nanoseconds elapsed) {
    const auto rank = static_cast<std::uint32_t>(world_.Rank());
    std::size_t first = 0;
    for (std::uint32_t thread = 0; thread < rows_.size(); ++thread) {
      std::size_t count = 0;
      while (first + count < cells_.NumPlaces() && cells_.At(first + count).worker == thread) ++count;
      netuit::Sample sample{{rank, thread}, elapsed, 0, first, count};
      for (const netuit::WorkerReport& worker : report.workers) {
        if (worker.id == sample.worker) sample.num_updates = worker.num_updates;
      }
      rows_[thread].push_back(Look(sample, age_at_beginning_ + sample.num_updates));
      first += count;
    }
  }
  /// Collective. Brings the records to rank 0, which adds them to `table` and writes the run's own folder.
  void Save(EvolutionTable& table, const std::string& folder, std::size_t width, unsigned mode, unsigned replicate,
            std::uint64_t seed) {
    std::vector<Census> mine;
    for (const auto& rows : rows_) mine.insert(mine.end(), rows.begin(), rows.end());
    const std::vector<Census> all = Gathered(world_, std::span<const Census>(mine));
    const std::string own = folder + "/mode" + std::to_string(mode) + "-replicate" + std::to_string(replicate);
    const Dominant dominant = FindDominant(cells_, world_);
    const netuit::Table kin_groups = KinGroupTable(cells_, world_);
    const netuit::Table instruction_use = InstructionUseTable(cells_, static_cast<std::uint32_t>(rows_.size()), world_);
    phylogeny_.Gather(cells_, world_);
    netuit::OnRoot(world_, [&] {
      std::error_code error;
      std::filesystem::create_directories(own, error);
      if (error) throw uit::OutputError(own + ": cannot be made: " + error.message());
      for (const Census& census : all) table.Add(mode, demo::ModeName(mode), replicate, seed, census);
      table.Save(folder + "/evolution.csv");
      netuit::WriteFileAtomically(own + "/dominant.genome", [&](std::ostream& out) {
        out << "# the genome of " << dominant.num_cells << " cells, after " << cells_.Age() << " updates; taxon "
            << dominant.taxon << ", seed " << seed << ", mode " << mode << '\n';
        if (!dominant.genome.empty()) out << ToText(dominant.genome, world_names);
      });
      phylogeny_.Save(own + "/phylogeny.csv");
      phylogeny_.SaveLineage(dominant.taxon, own + "/lineage.csv");
      kin_groups.Save(own + "/kin_groups.csv");
      instruction_use.Save(own + "/instructions.csv");
      return 0;
    });
    film_.Save(world_, num_nodes_, width, own + "/frames.csv");
  }

 private:
  Census Look(const netuit::Sample& sample, std::uint64_t age) const {
    Census census = TakeCensus(cells_, sample.worker, sample.first_node, sample.num_nodes);
    census.elapsed = sample.elapsed;
    census.age = age;
    return census;
  }

  const World& cells_;
  std::uint64_t age_at_beginning_;
  uit::World world_;
  std::size_t num_nodes_;
  std::vector<std::vector<Census>> rows_;  // by thread
  std::chrono::nanoseconds interval_;
  Film film_;
  Phylogeny& phylogeny_;
};

}  // namespace digital_evolution
