#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "demos/digital_evolution/machine/machine.hpp"
#include "demos/digital_evolution/world/birth.hpp"
#include "demos/digital_evolution/world/kin.hpp"
#include "demos/digital_evolution/world/resource.hpp"
#include "demos/digital_evolution/world/state.hpp"
#include "demos/digital_evolution/world/wave.hpp"

namespace digital_evolution {

/// A birth that a program has requested toward a neighbour, until births are due.
enum class Wish : std::uint8_t { nothing, kin, stranger };

/// A cell, except its program. It has no pointers and no padding, because checkpoints and hashes read its bytes.
struct Cell {
  KinGroup group;                                    ///< whom it is kin to
  std::uint64_t taxon = 0;                           ///< shared by all cells that inherited the same genome unchanged
  State state{};                                     ///< the values that programs can sense
  Machine machine{};                                 ///< runs the cell's program
  std::array<std::uint32_t, num_facings> seen{};     ///< kin groups of the neighbours when events were last raised
  std::array<std::uint32_t, num_facings> paused{};   ///< own updates until which no birth goes there
  std::array<Wish, num_facings> wishes{};            ///< births asked for
  Resource stockpile = 0;                            ///< resource held
  std::uint32_t age = 0;                             ///< updates since birth
  std::uint32_t last_harvest = 0;                    ///< age then
  std::uint32_t generation = 0;                      ///< births from the founder
  std::int32_t kin_generation = 0;                   ///< age of the kin group at birth
  Wave wave{};                                       ///< that passes
  std::uint8_t is_alive = 0;                         ///< 0: the place is empty, and the other fields have no meaning
  std::uint8_t founder = 0;                          ///< number of the founding genome that it descends from
  std::uint16_t genome_length = 0;                   ///< instructions

  /// Returns whether there is a cell.
  bool IsAlive() const { return is_alive != 0; }
  /// The kin group's age: births since it was founded, and one per `span` updates of the cell.
  std::int32_t KinAge(std::uint32_t span) const { return kin_generation + static_cast<std::int32_t>(age / span); }
  /// The values that neighbours see.
  KinSignal Signal() const { return IsAlive() ? group.Signal(wave.hop) : KinSignal{}; }

  /// Adds to the stockpile; returns the excess over a cell's maximum.
  std::int64_t Gain(std::int64_t amount) {
    const std::int64_t held = stockpile + amount;
    stockpile = static_cast<Resource>(held < max_stockpile ? held : max_stockpile);
    return held - stockpile;
  }
  /// Takes from the stockpile. Requires that it is large enough.
  void Pay(Resource amount) {
    stockpile -= amount;
    state[Sensor::stockpile] = stockpile >> sensed_shift;
  }
  /// Adds an amount of resource to a word of the state.
  void Note(Sensor sensor, std::int64_t amount) {
    state[sensor] = static_cast<std::int32_t>(static_cast<std::uint32_t>(state[sensor]) +
                                              static_cast<std::uint32_t>(amount >> sensed_shift));
  }

  /// Amounts of resource are sensed in units of 2^this.
  static constexpr unsigned sensed_shift = 10;
};
static_assert(std::is_trivially_copyable_v<Cell> && std::has_unique_object_representations_v<Cell>);

/// A cell that begins its life, with 31 random bits of its own. `parent`: the facing that it came from, -1 for a founder.
inline Cell MakeCell(const Birth& birth, std::uint64_t genome_hash, std::size_t genome_length, std::int32_t parent,
                     std::uint32_t chance) {
  Cell cell;
  cell.group.kin = birth.kin;
  cell.group.epoch = birth.kin_epoch;
  cell.group.size = birth.kin_size;
  cell.taxon = birth.taxon;
  cell.stockpile = birth.endowment;
  cell.generation = birth.generation;
  cell.kin_generation = birth.kin_generation;
  cell.is_alive = 1;
  cell.founder = birth.founder;
  cell.genome_length = static_cast<std::uint16_t>(genome_length);
  State& state = cell.state;
  state[Sensor::alive] = 1;
  state[Sensor::stockpile] = birth.endowment >> Cell::sensed_shift;
  state[Sensor::generation] = static_cast<std::int32_t>(birth.generation);
  state[Sensor::kin_low] = static_cast<std::int32_t>(birth.kin);
  state[Sensor::kin_high] = static_cast<std::int32_t>(birth.kin >> 32U);
  state[Sensor::kin_generation] = birth.kin_generation;
  state[Sensor::kin_size] = static_cast<std::int32_t>(birth.kin_size);
  state[Sensor::genome_length] = static_cast<std::int32_t>(genome_length);
  state[Sensor::genome_hash] = static_cast<std::int32_t>(genome_hash);
  state[Sensor::heir] = -1;
  state[Sensor::chance] = static_cast<std::int32_t>(chance >> 1U);
  state[Sensor::parent] = parent;
  if (parent >= 0) state.At(Sensor::relation_0, static_cast<unsigned>(parent)) = 1;
  return cell;
}

}  // namespace digital_evolution
