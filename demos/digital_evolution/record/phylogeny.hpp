#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <netuit/file/table.hpp>
#include <span>
#include <string>
#include <uit/link/world.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "demos/digital_evolution/machine/genome_text.hpp"
#include "demos/digital_evolution/record/gathered.hpp"
#include "demos/digital_evolution/world/birth.hpp"
#include "demos/digital_evolution/world/world.hpp"

namespace digital_evolution {

/// Who descends from whom. A taxon is what a mutated birth founds: cells that have inherited its genome unchanged. Each worker
/// notes what happens to its cells, some 100 bytes a mutated birth; Gather brings the notes together, and keeps of them those
/// of taxa that live and their ancestors.
class Phylogeny {
 public:
  /// For so many threads of this process.
  explicit Phylogeny(std::size_t num_threads) : notes_(num_threads) {}

  /// What tells it of births and deaths.
  Hooks MakeHooks() {
    return {.on_birth = [this](const Place& place, const BirthNote& note) { NoteBirth(place, note); },
            .on_death = [this](const Place& place, Death, std::uint64_t age) { NoteDeath(place, age); }};
  }
  /// Notes the cells of a world that nobody was born to: founders, or those of a checkpoint, and the taxa, perhaps extinct,
  /// of parents whose offspring is on its way.
  void NoteRoots(const World& world) {
    Genome genome;
    for (const Place& place : world.Places()) {
      auto& notes = notes_[place.worker];
      if (place.cell.IsAlive()) {
        Taxon& taxon = notes[place.cell.taxon];
        const std::uint64_t num_born = taxon.num_born;
        taxon = {.id = place.cell.taxon, .origin = world.Age(), .genome_hash = place.program->Hash(),
                 .length = place.cell.genome_length, .num_born = num_born + 1};
      }
      for (const Mail::Offspring& offspring : place.mail.offspring) {
        if (!DecodeBirth(offspring.words, genome)) continue;  // which ends the run
        const std::uint64_t id = TaxonOf(offspring.words);
        notes.try_emplace(id, Taxon{.id = id, .origin = world.Age(), .genome_hash = HashOf(genome), .length = genome.size(),
                                    .last_death = world.Age()});
      }
    }
  }
  /// Brings all notes to rank 0, and lets extinct lines go. Collective, between runs.
  void Gather(const World& cells, const uit::World& world) {
    std::vector<Taxon> mine;
    for (auto& notes : notes_) {
      for (const auto& [id, taxon] : notes) mine.push_back(taxon);
      notes.clear();
    }
    std::vector<std::uint64_t> waiting;  // whose offspring is on its way
    for (const Place& place : cells.Places()) {
      for (const Mail::Offspring& offspring : place.mail.offspring) waiting.push_back(TaxonOf(offspring.words));
    }
    for (const Taxon& theirs : Gathered(world, std::span<const Taxon>(mine))) {
      Taxon& taxon = all_[theirs.id];
      if (theirs.length != 0) {  // seen at its origin
        const Taxon before = std::exchange(taxon, theirs);
        taxon.num_born = before.num_born;
        taxon.num_died = before.num_died;
        taxon.last_death = before.last_death;
      }
      taxon.num_born += theirs.num_born;
      taxon.num_died += theirs.num_died;
      taxon.last_death = std::max(taxon.last_death, theirs.last_death);
    }
    waiting = Gathered(world, std::span<const std::uint64_t>(waiting));
    if (!world.IsRoot()) return;
    KeepLinesTo(std::move(waiting));
    BeginAfterParents();
  }
  /// Saves what Gather has kept in the ALife data standard's phylogeny format (alife-data-standards.github.io), with times in updates.
  /// On rank 0.
  void Save(const std::string& path) const {
    netuit::Table table{{"id", "ancestor_list", "origin_time", "destruction_time", "taxon_label", "genome_length", "num_cells",
                         "total_cells"}};
    for (const Taxon* taxon : Sorted()) {
      table.Row().Add(taxon->id).Add(AncestorList(*taxon)).Add(taxon->origin);
      if (taxon->NumAlive() > 0) table.Add("inf");
      else table.Add(taxon->last_death);
      table.Add(detail::Hexadecimal(taxon->genome_hash)).Add(taxon->length).Add(taxon->NumAlive()).Add(taxon->num_born);
    }
    table.Save(path);
  }
  /// Saves the line from a root to a taxon, as Gather has kept it. On rank 0.
  void SaveLineage(std::uint64_t taxon, const std::string& path) const {
    std::vector<const Taxon*> line;
    for (auto found = all_.find(taxon); found != all_.end() && line.size() <= all_.size();
         found = found->second.has_parent != 0 ? all_.find(found->second.parent) : all_.end()) {
      line.push_back(&found->second);
    }
    std::ranges::reverse(line);
    netuit::Table table{{"depth", "id", "ancestor_list", "origin_time", "taxon_label", "genome_length", "total_cells"}};
    for (std::size_t depth = 0; depth < line.size(); ++depth) {
      table.Row().Add(depth).Add(line[depth]->id).Add(AncestorList(*line[depth])).Add(line[depth]->origin);
      table.Add(detail::Hexadecimal(line[depth]->genome_hash)).Add(line[depth]->length).Add(line[depth]->num_born);
    }
    table.Save(path);
  }

 private:
  struct Taxon {
    std::uint64_t id = 0;
    std::uint64_t parent = 0;
    std::uint64_t has_parent = 0;
    std::uint64_t origin = 0;       // in updates
    std::uint64_t genome_hash = 0;
    std::uint64_t length = 0;       // instructions; 0: not seen at its origin
    std::uint64_t num_born = 0;
    std::uint64_t num_died = 0;
    std::uint64_t last_death = 0;   // in updates

    std::uint64_t NumAlive() const { return num_born - num_died; }
  };

  void NoteBirth(const Place& place, const BirthNote& note) {
    Taxon& taxon = notes_[note.worker][place.cell.taxon];
    taxon.id = place.cell.taxon;
    ++taxon.num_born;
    if (!note.is_new_taxon) return;
    taxon.parent = note.parent_taxon;
    taxon.has_parent = 1;
    taxon.origin = note.age;
    taxon.genome_hash = place.program->Hash();
    taxon.length = place.cell.genome_length;
  }
  void NoteDeath(const Place& place, std::uint64_t age) {
    Taxon& taxon = notes_[place.worker][place.cell.taxon];
    taxon.id = place.cell.taxon;
    ++taxon.num_died;
    taxon.last_death = std::max(taxon.last_death, age);
  }
  /// Forgets what is neither alive nor one of `wanted` nor an ancestor of those.
  void KeepLinesTo(std::vector<std::uint64_t> wanted) {
    for (const auto& [id, taxon] : all_) {
      if (taxon.NumAlive() != 0) wanted.push_back(id);
    }
    std::unordered_map<std::uint64_t, Taxon> kept;
    while (!wanted.empty()) {
      const auto found = all_.find(wanted.back());
      wanted.pop_back();
      if (found == all_.end() || !kept.insert(*found).second) continue;
      if (found->second.has_parent != 0) wanted.push_back(found->second.parent);
    }
    all_ = std::move(kept);
  }
  /// Workers that drift apart count their updates each for itself: whoever would have been born before its parent, or have
  /// died before it was born, is taken to have done so at the same time.
  void BeginAfterParents() {
    for (bool has_changed = true; has_changed;) {
      has_changed = false;
      for (auto& [id, taxon] : all_) {
        const auto parent = taxon.has_parent != 0 ? all_.find(taxon.parent) : all_.end();
        if (parent == all_.end() || taxon.origin >= parent->second.origin) continue;
        taxon.origin = parent->second.origin;
        has_changed = true;
      }
    }
    for (auto& [id, taxon] : all_) taxon.last_death = std::max(taxon.last_death, taxon.origin);
  }
  static std::string AncestorList(const Taxon& taxon) {
    return taxon.has_parent != 0 ? '[' + std::to_string(taxon.parent) + ']' : std::string{"[none]"};
  }
  std::vector<const Taxon*> Sorted() const {
    std::vector<const Taxon*> sorted;
    for (const auto& [id, taxon] : all_) sorted.push_back(&taxon);
    std::ranges::sort(sorted, {}, [](const Taxon* taxon) { return std::pair{taxon->origin, taxon->id}; });
    return sorted;
  }

  std::vector<std::unordered_map<std::uint64_t, Taxon>> notes_;  // by thread
  std::unordered_map<std::uint64_t, Taxon> all_;
};

}  // namespace digital_evolution
