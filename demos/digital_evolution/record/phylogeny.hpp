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

/// The descent of taxa. A mutated birth founds a taxon: all cells that inherit its genome unchanged. Each worker notes the births
/// and deaths of its cells, about 100 bytes per mutated birth. Gather collects the notes, and keeps living taxa and their
/// ancestors.
class Phylogeny {
 public:
  /// For `num_threads` threads of this process.
  explicit Phylogeny(std::size_t num_threads) : notes_(num_threads) {}

  /// The hooks that report births and deaths to it.
  Hooks MakeHooks() {
    return {.on_birth = [this](const Place& place, const BirthNote& note) { NoteBirth(place, note); },
            .on_death = [this](const Place& place, Death, std::uint64_t age) { NoteDeath(place, age); }};
  }
  /// Notes the cells that exist at the start: founders, or those of a checkpoint. Also notes the taxa, perhaps extinct, of
  /// parents whose offspring is in flight.
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
    }
    world.ForEachUnborn([&](const Place& place, const std::vector<std::uint32_t>& words) {
      if (!DecodeBirth(words, genome)) return;  // which ends the run
      const std::uint64_t id = TaxonOf(words);
      notes_[place.worker].try_emplace(id, Taxon{.id = id, .origin = world.Age(), .genome_hash = HashOf(genome),
                                                 .length = genome.size(), .last_death = world.Age()});
    });
  }
  /// Collective, between runs. Brings all notes to rank 0, and removes extinct lines.
  void Gather(const World& cells, const uit::World& world) {
    std::vector<Taxon> mine;
    for (auto& notes : notes_) {
      for (const auto& [id, taxon] : notes) mine.push_back(taxon);
      notes.clear();
    }
    std::vector<std::uint64_t> waiting;  // taxa of offspring that has been sent and not born
    cells.ForEachUnborn([&](const Place&, const std::vector<std::uint32_t>& words) { waiting.push_back(TaxonOf(words)); });
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
  /// Saves the taxa of Gather in the ALife data standard's phylogeny format (alife-data-standards.github.io), with times in
  /// updates. On rank 0.
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
  /// Saves a taxon that Gather kept and all its ancestors, from the root on. On rank 0.
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
  /// Removes taxa that are not alive, not in `wanted`, and not an ancestor of such a taxon.
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
  /// Each worker counts its own updates, so times of different workers may disagree. A taxon that would
  /// begin before its parent begins with it. One that would end before it began ends at that time.
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
