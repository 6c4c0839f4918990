#pragma once

#include <algorithm>
#include <cstdint>
#include <netuit/mesh/node.hpp>
#include <utility>

#include "demos/digital_evolution/world/birth.hpp"
#include "demos/digital_evolution/world/layers.hpp"
#include "demos/digital_evolution/world/site.hpp"

namespace digital_evolution {

/// Sends the births that the program has requested, as far as the stockpile allows. The first facing varies. A birth is paid for
/// only if its put was accepted.
inline void SendBirths(Site& site) {
  Cell& cell = site.place.cell;
  const Rules& rules = site.rules;
  Counters& counters = site.worker.counters;
  const netuit::OutEdges mail = site.node.Out(site.layers.mail);
  for (unsigned turn = 0; turn < num_facings; ++turn) {
    const auto facing = static_cast<unsigned>((site.age / mail_period + site.place.id + turn) % num_facings);
    const Wish wish = std::exchange(cell.wishes[facing], Wish::nothing);
    if (wish == Wish::nothing || cell.paused[facing] > cell.age || cell.stockpile < rules.birth_cost) continue;
    const bool is_kin = wish == Wish::kin;
    const std::int64_t rest = cell.stockpile - rules.birth_cost;
    Birth birth{.kin = cell.group.kin,
                .taxon = cell.taxon,
                .endowment = static_cast<Resource>(rest * cell.state[Sensor::endowment] / 256),
                .generation = cell.generation + 1,
                .kin_generation = cell.KinAge(rules.kin_span) + 1,
                .kin_size = cell.group.size,
                .kin_epoch = cell.group.epoch,
                .founder = cell.founder};
    if (!is_kin) {
      birth.kin = std::uint64_t{site.random()} << 32U;
      birth.kin |= site.random();
      birth.kin_generation = 0;
      birth.kin_size = 1;
    }
    EncodeBirth(birth, site.place.program->GetGenome(), site.worker.departure);
    if (!site.layers.spawn[mail[facing]].TryPut(std::move(site.worker.departure))) {
      ++counters.births_dropped;
      continue;
    }
    cell.Pay(rules.birth_cost + birth.endowment);
    site.worker.ledger.spent += rules.birth_cost;
    site.worker.ledger.endowments_sent += birth.endowment;
    ++counters.births_sent;
    ++cell.state[is_kin ? Sensor::births_kin : Sensor::births_new];
    cell.state.At(Sensor::relation_0, facing) = is_kin ? 2 : 3;
  }
}

/// Sends the waiting packets.
inline void SendPackets(Site& site) {
  Outbox& outbox = site.place.outbox;
  Counters& counters = site.worker.counters;
  const netuit::OutEdges mail = site.node.Out(site.layers.mail);
  for (unsigned facing = 0; facing < num_facings; ++facing) {
    if (outbox.count[facing] == 0) continue;
    for (std::uint32_t packet = 0; packet < outbox.count[facing]; ++packet) {
      const bool is_sent = site.layers.talk[mail[facing]].TryPut(outbox.packets[facing][packet]);
      ++(is_sent ? counters.packets_sent : counters.packets_dropped);
      site.place.cell.state[Sensor::packets_sent] += is_sent ? 1 : 0;
    }
    outbox.count[facing] = 0;
    outbox.packets[facing] = {};
  }
}

}  // namespace digital_evolution
