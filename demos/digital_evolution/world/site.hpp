#pragma once

#include <array>
#include <cstdint>
#include <netuit/mesh/node.hpp>
#include <netuit/mesh/node_random.hpp>

#include "demos/digital_evolution/world/layers.hpp"
#include "demos/digital_evolution/world/place.hpp"
#include "demos/digital_evolution/world/rules.hpp"

namespace digital_evolution {

/// A place in one of its updates, with everything that the update may access.
struct Site {
  netuit::Node& node;            ///< whose edges lead to the neighbours
  const Layers& layers;          ///< the mesh's layers
  Place& place;                  ///< the data of the node
  WorkerRecord& worker;          ///< of the thread
  const Rules& rules;            ///< of the world
  const Hooks& hooks;            ///< callbacks for births and deaths
  std::uint64_t age = 0;         ///< of the world
  std::uint64_t num_nodes = 0;   ///< of the world
  netuit::NodeRandom random;     ///< of the place in this update
  std::array<KinSignal, num_facings> signals{};  ///< newest of the neighbours

  /// The program of the cell. Requires that it is alive.
  const Program& GetProgram() const { return rules.common_program ? *rules.common_program : *place.program; }
  /// Whether the neighbour is of the cell's kin group.
  bool IsKin(unsigned facing) const { return signals[facing].group == GroupOf(place.cell.group.kin); }

  /// Ends the cell. Its remaining resource is forfeited.
  void End(Death death) {
    if (hooks.on_death) hooks.on_death(place, death, age);
    ++worker.counters.deaths[static_cast<std::size_t>(death)];
    worker.ledger.forfeited += place.cell.stockpile;
    place.cell = Cell{};
    place.program = nullptr;
    place.outbox = Outbox{};
  }
  /// Gives resource to a neighbour, unless the put is refused.
  bool TryTransfer(unsigned facing, Resource amount) {
    if (amount <= 0 || !layers.transfer[node.Out()[facing]].TryPut(amount)) return false;
    Cell& cell = place.cell;
    cell.Pay(amount);
    cell.Note(Sensor::given, amount);
    worker.ledger.transfers_sent += amount;
    const bool is_kin = IsKin(facing);
    ++(is_kin ? worker.counters.transfers_kin : worker.counters.transfers_strangers);
    (is_kin ? worker.counters.transferred_kin : worker.counters.transferred_strangers) += amount;
    return true;
  }
};

}  // namespace digital_evolution
