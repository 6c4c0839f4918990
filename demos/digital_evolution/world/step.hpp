#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "demos/digital_evolution/world/arrivals.hpp"
#include "demos/digital_evolution/world/cell_host.hpp"
#include "demos/digital_evolution/world/departures.hpp"
#include "demos/digital_evolution/world/layers.hpp"
#include "demos/digital_evolution/world/site.hpp"

namespace digital_evolution {

static_assert(world_period % event_period == 0 && world_period % mail_period == 0 && world_period % view_period == 0);

/// The facing of events that face one neighbour after another.
inline unsigned TurningFacing(const Site& site) {
  return static_cast<unsigned>((site.age / event_period + site.place.id) % num_facings);
}

/// Updates the words of the state that are not kept up to date otherwise.
inline void RefreshState(Site& site) {
  Cell& cell = site.place.cell;
  State& state = cell.state;
  const std::int32_t kin_age = cell.KinAge(site.rules.kin_span);
  state[Sensor::stockpile] = cell.stockpile >> Cell::sensed_shift;
  state[Sensor::age] = static_cast<std::int32_t>(cell.age);
  state[Sensor::kin_generation] = kin_age;
  state[Sensor::kin_size] = static_cast<std::int32_t>(cell.group.size);
  state[Sensor::wave] = cell.wave.hop;
  state[Sensor::since_harvest] = static_cast<std::int32_t>(cell.age - cell.last_harvest);
  state[Sensor::is_expired] = kin_age > site.rules.fertile_kin_age ? 1 : 0;
  state[Sensor::can_afford] = cell.stockpile >= site.rules.birth_cost ? 1 : 0;
  state[Sensor::num_cores] = static_cast<std::int32_t>(cell.machine.NumCores());
  state[Sensor::clock] = static_cast<std::int32_t>(static_cast<std::uint32_t>(site.age));
  std::int32_t num_kin = 0;
  std::int32_t num_alive = 0;
  for (unsigned facing = 0; facing < num_facings; ++facing) {
    const std::int32_t is_kin = site.IsKin(facing) ? 1 : 0;
    num_kin += is_kin;
    num_alive += site.signals[facing].group != 0 ? 1 : 0;
    state.At(Sensor::kin_0, facing) = is_kin;
    state.At(Sensor::paused_0, facing) = static_cast<std::int32_t>(std::max(cell.paused[facing], cell.age) - cell.age);
  }
  state[Sensor::num_kin] = num_kin;
  state[Sensor::num_alive] = num_alive;
}

/// Adds the harvest: from waves, or the same to all cells.
inline void GainResource(Site& site) {
  Cell& cell = site.place.cell;
  const Rules& rules = site.rules;
  Ledger& ledger = site.worker.ledger;
  const Resource loss = cell.stockpile >> rules.decay_shift;
  cell.stockpile -= loss;
  ledger.decayed += loss;
  ledger.inflow += rules.inflow;
  Resource harvest = rules.harvest == Harvest::even ? rules.even_harvest : 0;
  if (rules.harvest == Harvest::wave) {
    const bool takes_part = cell.KinAge(rules.kin_span) <= rules.harvest_kin_age;
    std::uint8_t heard = 0;
    for (unsigned facing = 0; takes_part && facing < num_facings; ++facing) {
      const std::uint8_t hop = site.signals[facing].wave;
      if (hop != 0 && site.IsKin(facing) && (heard == 0 || hop < heard)) heard = hop;
    }
    const bool begins = takes_part && site.random() < rules.wave.start;
    if (cell.wave.Update(rules.wave, heard, begins)) {
      harvest = rules.wave_harvest;
      cell.last_harvest = cell.age;
      ++site.worker.counters.waves_harvested;
      site.worker.counters.waves_begun += begins ? 1 : 0;
      cell.machine.SignalEvent(site.GetProgram(), static_cast<std::size_t>(Event::wave), TurningFacing(site));
    }
  }
  ledger.harvested += harvest;
  cell.Note(Sensor::harvested, harvest);
  ledger.decayed += cell.Gain(std::int64_t{rules.inflow} + harvest);
}

/// Raises the events of an update for the program.
inline void RaiseEvents(Site& site) {
  Cell& cell = site.place.cell;
  const Program& program = site.GetProgram();
  const auto raise = [&](Event event, unsigned facing) {
    cell.machine.SignalEvent(program, static_cast<std::size_t>(event), facing);
  };
  cell.machine.Decay();
  raise(Event::heartbeat, TurningFacing(site));
  if (cell.stockpile >= site.rules.birth_cost) raise(Event::can_afford, TurningFacing(site));
  for (unsigned facing = 0; facing < num_facings; ++facing) {
    const std::uint32_t group = site.signals[facing].group;
    if (std::exchange(cell.seen[facing], group) != group) raise(Event::neighbor_changed, facing);
    raise(group == 0 ? Event::beside_empty : site.IsKin(facing) ? Event::beside_kin : Event::beside_stranger, facing);
  }
}

/// Runs the cell's program for an update. The cell may die in it.
inline void RunProgram(Site& site) {
  Cell& cell = site.place.cell;
  if (cell.machine.NumCores() == 0) return;
  RefreshState(site);
  CellHost host(site);
  cell.machine.Run(site.GetProgram(), site.rules.budget, host);
  if (!host.IsDying()) return;
  if (const std::int32_t heir = cell.state[Sensor::heir]; heir >= 0) {
    site.TryTransfer(static_cast<unsigned>(heir), cell.stockpile);
  }
  site.End(Death::apoptosis);
}

/// Publishes the state for the neighbours.
inline void Show(Site& site) {
  const Cell& cell = site.place.cell;
  site.layers.kinship[site.node] = cell.Signal();
  if (!site.node.IsDue(site.layers.view)) return;
  if (cell.IsAlive()) RefreshState(site);
  site.layers.environment[site.node] = cell.state;
}

/// One update of a place.
inline void Step(Site& site) {
  const auto neighbors = site.node.In<num_facings>();
  for (unsigned facing = 0; facing < num_facings; ++facing) site.signals[facing] = site.layers.kinship[neighbors[facing]];
  Cell& cell = site.place.cell;
  ReceiveTransfers(site);
  if (site.node.IsDue(site.layers.mail)) ReceiveBirths(site);
  if (cell.IsAlive()) {
    if (++cell.age > site.rules.max_age) site.End(Death::old_age);
  }
  if (cell.IsAlive()) {
    cell.group.Update(site.place.id, site.signals);
    GainResource(site);
  }
  if (site.node.IsDue(site.layers.mail)) ReceivePackets(site);
  if (cell.IsAlive()) {
    if (site.age % event_period == 0) RaiseEvents(site);
    RunProgram(site);
  }
  if (cell.IsAlive()) {
    if (site.node.IsDue(site.layers.mail)) SendBirths(site);
    if (site.node.IsDue(site.layers.mail)) SendPackets(site);
  }
  Show(site);
}

}  // namespace digital_evolution
