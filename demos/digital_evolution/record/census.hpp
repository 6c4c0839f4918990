#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <netuit/placement/placement.hpp>
#include <netuit/file/table.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "demos/digital_evolution/world/counters.hpp"
#include "demos/digital_evolution/world/resource.hpp"
#include "demos/digital_evolution/world/world.hpp"

namespace digital_evolution {

/// Statistics of one worker's cells at one time, and counts since the world began.
struct Census {
  netuit::WorkerId worker;                   ///< whose cells
  std::chrono::nanoseconds elapsed{0};    ///< of the run, by the worker's clock
  std::uint64_t age = 0;                  ///< of the world there, in updates
  std::uint64_t num_places = 0;           ///< nodes of the worker
  std::uint64_t num_cells = 0;            ///< that are not empty
  std::uint64_t num_of_rival = 0;         ///< cells that descend from the rival
  std::uint64_t num_kin_groups = 0;       ///< with a cell there; those that span workers count on each
  std::uint64_t num_genomes = 0;          ///< number of different genomes among them
  std::uint64_t sum_kin_size = 0;         ///< estimates of cells, added up
  std::uint64_t sum_length = 0;           ///< of genomes, in instructions
  std::uint64_t sum_generation = 0;       ///< births since the founder
  std::uint64_t max_generation = 0;       ///< of any cell
  std::int64_t held = 0;                  ///< resource in stockpiles
  Ledger ledger{};                        ///< of the worker
  Counters counters{};                    ///< of the worker

  /// Adds the statistics of other cells. The worker and the time stay.
  Census& operator+=(const Census& other) {
    num_places += other.num_places;
    num_cells += other.num_cells;
    num_of_rival += other.num_of_rival;
    num_kin_groups += other.num_kin_groups;
    num_genomes += other.num_genomes;
    sum_kin_size += other.sum_kin_size;
    sum_length += other.sum_length;
    sum_generation += other.sum_generation;
    max_generation = std::max(max_generation, other.max_generation);
    held += other.held;
    ledger += other.ledger;
    counters += other.counters;
    return *this;
  }
  double MeanLength() const { return Mean(sum_length); }          ///< instructions; NaN without cells
  double MeanGeneration() const { return Mean(sum_generation); }  ///< births; NaN without cells
  double MeanKinSize() const { return Mean(sum_kin_size); }       ///< cells; NaN without cells

 private:
  double Mean(std::uint64_t sum) const { return static_cast<double>(sum) / static_cast<double>(num_cells); }
};

/// Takes the census of a worker. During a run only that worker may call this; between runs, any thread.
inline Census TakeCensus(const World& world, netuit::WorkerId worker, std::size_t first, std::size_t count) {
  Census census{.worker = worker, .num_places = count};
  std::vector<std::uint64_t> kin;
  std::vector<std::uint64_t> genomes;
  for (const Place& place : world.Places(first, count)) {
    if (!place.cell.IsAlive()) continue;
    const Cell& cell = place.cell;
    ++census.num_cells;
    census.num_of_rival += cell.founder;
    census.sum_kin_size += cell.group.size;
    census.sum_length += cell.genome_length;
    census.sum_generation += cell.generation;
    census.max_generation = std::max<std::uint64_t>(census.max_generation, cell.generation);
    census.held += cell.stockpile;
    kin.push_back(cell.group.kin);
    genomes.push_back(place.program->Hash());
  }
  const auto count_different = [](std::vector<std::uint64_t>& values) {
    std::ranges::sort(values);
    return static_cast<std::uint64_t>(std::ranges::unique(values).begin() - values.begin());
  };
  census.num_kin_groups = count_different(kin);
  census.num_genomes = count_different(genomes);
  census.ledger = world.GetLedger(worker.thread);
  census.counters = world.GetCounters(worker.thread);
  return census;
}

/// Rows of evolution.csv: a row per worker and time.
class EvolutionTable {
 public:
  /// With the header alone.
  EvolutionTable() : table_{Columns()} {}

  /// Adds a row. Amounts are in units of one resource.
  void Add(unsigned mode, const char* mode_name, unsigned replicate, std::uint64_t seed, const Census& census) {
    const Counters& counters = census.counters;
    const Ledger& ledger = census.ledger;
    table_.Row().Add(mode).Add(mode_name).Add(replicate).Add(seed).Add(census.worker.process).Add(census.worker.thread);
    table_.Add(std::chrono::duration<double>(census.elapsed).count()).Add(census.age).Add(census.num_places);
    table_.Add(census.num_cells).Add(census.num_of_rival).Add(census.num_kin_groups).Add(census.num_genomes);
    table_.Add(census.MeanKinSize()).Add(census.MeanLength()).Add(census.MeanGeneration()).Add(census.max_generation);
    table_.Add(counters.births_kin).Add(counters.births_new).Add(counters.births_mutated).Add(counters.births_crowded_out);
    table_.Add(counters.births_sent).Add(counters.births_dropped);
    for (const std::uint64_t deaths : counters.deaths) table_.Add(deaths);
    table_.Add(counters.transfers_kin).Add(counters.transfers_strangers);
    table_.Add(InResource(counters.transferred_kin)).Add(InResource(counters.transferred_strangers));
    table_.Add(counters.packets_sent).Add(counters.packets_dropped).Add(counters.packets_received).Add(counters.packets_heeded);
    table_.Add(counters.waves_begun).Add(counters.waves_harvested);
    for (const std::uint64_t use : counters.UseByClass()) table_.Add(use);
    for (const std::int64_t amount :
         {census.held, ledger.initial, ledger.inflow, ledger.harvested, ledger.spent, ledger.decayed, ledger.forfeited,
          ledger.crowded_out, ledger.lost_to_empty, ledger.transfers_sent, ledger.transfers_received,
          ledger.endowments_sent, ledger.endowments_received}) {
      table_.Add(InResource(amount));
    }
  }
  /// Replaces the file. Throws uit::OutputError.
  void Save(const std::string& path) const { table_.Save(path); }

 private:
  static double InResource(std::int64_t amount) { return static_cast<double>(amount) / one_resource; }
  static std::vector<std::string> Names() {
    std::vector<std::string> names{"mode", "mode_name", "replicate", "seed", "process", "thread", "elapsed_s", "updates",
                                   "places", "cells", "cells_of_rival", "kin_groups", "genomes", "mean_kin_size",
                                   "mean_genome_length", "mean_generation", "max_generation", "births_kin", "births_new",
                                   "births_mutated", "births_crowded_out", "births_sent", "births_dropped"};
    for (const std::string_view cause : death_names) names.push_back("deaths_" + std::string{cause});
    for (const char* name : {"transfers_kin", "transfers_strangers", "transferred_kin", "transferred_strangers",
                             "packets_sent", "packets_dropped", "packets_received", "packets_heeded", "waves_begun",
                             "waves_harvested"})
      names.emplace_back(name);
    for (const std::string_view name : class_names) names.push_back("use_" + std::string{name});
    for (const char* name : {"held", "initial", "inflow", "harvested", "spent", "decayed", "forfeited", "crowded_out",
                             "lost_to_empty", "transfers_sent", "transfers_received", "endowments_sent",
                             "endowments_received"})
      names.push_back("resource_" + std::string{name});
    return names;
  }
  static std::vector<std::string_view> Columns() {
    static const std::vector<std::string> names = Names();
    return {names.begin(), names.end()};
  }

  netuit::Table table_;
};

}  // namespace digital_evolution
