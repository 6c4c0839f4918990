#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <uit/support/bytes.hpp>
#include <uit/link/world.hpp>
#include <utility>
#include <vector>

#include "demos/digital_evolution/machine/genome.hpp"
#include "demos/digital_evolution/record/gathered.hpp"
#include "demos/digital_evolution/world/world.hpp"

namespace digital_evolution {

/// The most common genome.
struct Dominant {
  Genome genome;                ///< empty if there are no cells
  std::uint64_t num_cells = 0;  ///< that have it
  std::uint64_t taxon = 0;      ///< of most of those
};

/// Collective, between runs. Finds the most common genome; among equals, the one with the smallest hash. Only rank 0 gets it.
inline Dominant FindDominant(const World& cells, const uit::World& world) {
  struct Entry {
    std::uint64_t hash = 0;
    std::uint64_t taxon = 0;
    std::uint64_t count = 0;
  };
  const auto count_by = [](auto& counts, const auto& entries) {
    for (const Entry& entry : entries) counts[std::pair{entry.hash, entry.taxon}] += entry.count;
  };
  const auto entries_of = [](const auto& counts) {
    std::vector<Entry> entries;
    for (const auto& [key, count] : counts) entries.push_back({key.first, key.second, count});
    return entries;
  };
  using Counts = std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t>;  // by hash and taxon
  Counts mine;
  for (const Place& place : cells.Places()) {
    if (place.cell.IsAlive()) ++mine[{place.program->Hash(), place.cell.taxon}];
  }
  Counts all;
  count_by(all, Gathered(world, std::span<const Entry>(entries_of(mine))));
  std::map<std::uint64_t, Entry> by_hash;  // with the commonest taxon of each
  for (const auto& [key, count] : all) {
    Entry& entry = by_hash[key.first];
    entry.hash += count;  // holds the sum, until the winner is known
    if (count > entry.count) entry = {entry.hash, key.second, count};
  }
  Entry winner;
  for (const auto& [hash, entry] : by_hash) {
    if (entry.hash > winner.count) winner = {hash, entry.taxon, entry.hash};
  }
  winner = world.BroadcastValue(winner);

  std::vector<Instruction> genome;
  for (const Place& place : cells.Places()) {
    if (genome.empty() && place.cell.IsAlive() && place.program->Hash() == winner.hash) genome = place.program->GetGenome();
  }
  const auto bytes = std::as_bytes(std::span<const Instruction>(genome));
  Dominant dominant{.genome = {}, .num_cells = winner.count, .taxon = winner.taxon};
  for (const uit::Bytes& part : world.Gather(bytes)) {
    if (!dominant.genome.empty() || part.empty()) continue;
    dominant.genome.resize(part.size() / sizeof(Instruction));
    std::memcpy(static_cast<void*>(dominant.genome.data()), part.data(), part.size());
  }
  return dominant;
}

}  // namespace digital_evolution
