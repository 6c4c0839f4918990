#pragma once

#include <cstddef>
#include <cstdint>
#include <netuit/mesh/node.hpp>
#include <optional>
#include <utility>
#include <vector>

#include <uit/support/error.hpp>

#include "demos/digital_evolution/machine/mutation.hpp"
#include "demos/digital_evolution/world/birth.hpp"
#include "demos/digital_evolution/world/layers.hpp"
#include "demos/digital_evolution/world/site.hpp"

namespace digital_evolution {

/// Calls `visit(facing, message)` for each waiting message in the channels that end at the node. `visit` may move messages out,
/// so that no buffer keeps the memory of a genome.
template <typename C, typename V>
void TakeAll(const C& channels, const netuit::InEdges<>& edges, V&& visit) {
  for (std::uint32_t facing = 0; facing < edges.size(); ++facing) {
    auto& outlet = channels[edges[facing]];
    while (auto message = outlet.TryTake()) visit(facing, std::move(*message));
  }
}

/// Adds the resource that the place has received.
inline void ReceiveTransfers(Site& site) {
  std::int64_t amount = 0;
  for (const netuit::InEdge edge : site.node.In<num_facings>()) amount += site.layers.transfer[edge].JumpGet();
  if (amount == 0) return;
  Ledger& ledger = site.worker.ledger;
  ledger.transfers_received += amount;
  Cell& cell = site.place.cell;
  if (!cell.IsAlive()) {
    ledger.lost_to_empty += amount;
    return;
  }
  ledger.decayed += cell.Gain(amount);
  cell.Note(Sensor::received, amount);
}

/// A birth replaces the present cell, if any.
inline void Settle(Site& site, const std::vector<std::uint32_t>& words, std::uint32_t facing) {
  Genome& genome = site.worker.genome;
  std::optional<Birth> birth = DecodeBirth(words, genome);
  if (!birth) throw uit::Error("a message about a birth cannot be decoded");
  Place& place = site.place;
  const bool has_displaced = place.cell.IsAlive();
  if (has_displaced) {
    site.End(birth->kin == place.cell.group.kin ? Death::displaced_by_kin : Death::displaced_by_stranger);
  }
  const BirthNote note{.worker = place.worker,
                       .age = site.age,
                       .parent_taxon = birth->taxon,
                       .is_new_taxon = Mutate(genome, site.rules.mutation, site.random).Any()};
  if (note.is_new_taxon) birth->taxon = (site.age + 1) * site.num_nodes + place.id;
  place.program = site.worker.shelf.Find(genome);
  place.cell =
      MakeCell(*birth, place.program->Hash(), genome.size(), static_cast<std::int32_t>(facing), site.random());
  place.cell.state[Sensor::has_displaced] = has_displaced ? 1 : 0;
  Counters& counters = site.worker.counters;
  ++(birth->kin_generation == 0 ? counters.births_new : counters.births_kin);
  counters.births_mutated += note.is_new_taxon ? 1 : 0;
  if (site.hooks.on_birth) site.hooks.on_birth(place, note);
  place.cell.machine.SignalEvent(site.GetProgram(), static_cast<std::size_t>(Event::born), facing);
}

/// One of the births that have arrived takes the place, chosen at random.
inline void ReceiveBirths(Site& site) {
  std::uint32_t num_arrived = 0;
  std::uint32_t facing = 0;
  std::vector<std::uint32_t>& newcomer = site.worker.newcomer;
  Ledger& ledger = site.worker.ledger;
  const auto receive = [&](std::uint32_t from, std::vector<std::uint32_t> words) {
    if (words.size() < num_birth_words) throw uit::Error("a message about a birth cannot be decoded");
    ++num_arrived;
    ledger.endowments_received += EndowmentOf(words);
    if (num_arrived == 1 || site.random.Below(num_arrived) == 0) {
      std::swap(newcomer, words);
      facing = from;
    }
    if (num_arrived > 1) ledger.crowded_out += EndowmentOf(words);
  };
  TakeAll(site.layers.spawn, site.node.In(site.layers.mail), receive);
  if (num_arrived == 0) return;
  site.worker.counters.births_crowded_out += num_arrived - 1;
  Settle(site, newcomer, facing);
}

/// Packets of kin, and of strangers that are admitted, start cores.
inline void ReceivePackets(Site& site) {
  Cell& cell = site.place.cell;
  const auto receive = [&](std::uint32_t from, const Packet& packet) {
    if (!cell.IsAlive()) return;
    Counters& counters = site.worker.counters;
    ++counters.packets_received;
    if (!site.IsKin(from) && cell.state.At(Sensor::admits_0, from) == 0) return;
    const Tag tag = packet.tag_words[0] | std::uint64_t{packet.tag_words[1]} << 32U;
    if (!cell.machine.Signal(site.GetProgram(), tag, from, packet.data)) return;
    ++counters.packets_heeded;
    ++cell.state[Sensor::packets_received];
  };
  TakeAll(site.layers.talk, site.node.In(site.layers.mail), receive);
}

}  // namespace digital_evolution
