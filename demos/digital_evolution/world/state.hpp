#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "demos/digital_evolution/machine/instruction.hpp"

namespace digital_evolution {

/// The sensors of a cell, for itself and, some updates late, for its neighbours: the words of State by name. Names that end in
/// _0 have a word per facing. Amounts of resource are in 1/1024.
enum class Sensor : std::uint8_t {
  alive,
  stockpile,
  age,
  generation,
  kin_low,
  kin_high,
  kin_generation,
  kin_size,
  genome_length,
  genome_hash,
  wave,
  since_harvest,
  harvested,
  received,
  given,
  births_kin,
  births_new,
  has_displaced,
  is_expired,
  can_afford,
  num_kin,
  num_alive,
  num_cores,
  packets_received,
  packets_sent,
  endowment,
  heir,
  chance,
  parent,
  relation_0,
  relation_1,
  relation_2,
  relation_3,
  paused_0,
  paused_1,
  paused_2,
  paused_3,
  admits_0,
  admits_1,
  admits_2,
  admits_3,
  kin_0,
  kin_1,
  kin_2,
  kin_3,
  clock,
  shown_0,
  shown_1,
  shown_2,
  shown_3,
  shown_4,
  shown_5,
  shown_6,
  shown_7
};

/// A sensor's name in genomes, and its meaning.
struct SensorEntry {
  std::string_view name;     ///< as in the text of genomes
  std::string_view meaning;  ///< in one line
};

/// By Sensor.
inline constexpr std::array<SensorEntry, num_sensors> sensor_table{{
    {"alive", "1: there is a cell; 0: the place is empty"},
    {"stockpile", "resource held, in 1/1024"},
    {"age", "updates since birth"},
    {"generation", "births from the founder to the cell"},
    {"kin_low", "lower half of the kin group's number"},
    {"kin_high", "upper half of the kin group's number"},
    {"kin_generation", "age of the kin group: births since it was founded, and one per span of updates"},
    {"kin_size", "estimated number of cells in the kin group"},
    {"genome_length", "instructions of the genome"},
    {"genome_hash", "32 bits that tell genomes apart"},
    {"wave", "hops from where the wave that passes now has begun, from 1; 0: none passes"},
    {"since_harvest", "updates since the last wave was harvested, or since birth"},
    {"harvested", "resource harvested from waves, in 1/1024"},
    {"received", "resource received from neighbours, in 1/1024"},
    {"given", "resource given to neighbours, in 1/1024"},
    {"births_kin", "offspring sent out that stayed in the kin group"},
    {"births_new", "offspring sent out that founded a kin group"},
    {"has_displaced", "1: the cell took the place of another"},
    {"is_expired", "1: the kin group is too old for further births within it"},
    {"can_afford", "1: the stockpile is enough for a birth"},
    {"num_kin", "neighbours of the same kin group"},
    {"num_alive", "neighbours that are not empty places"},
    {"num_cores", "virtual cores that are running"},
    {"packets_received", "packets that have started a core"},
    {"packets_sent", "packets that have left"},
    {"endowment", "share of the stockpile that offspring get, in 1/256"},
    {"heir", "facing of the neighbour that inherits; -1: none"},
    {"chance", "31 random bits, drawn at birth"},
    {"parent", "facing that the cell was born from; -1: a founder"},
    {"relation_0", "last birth to or from facing 0: 1 that of the cell, 2 offspring of its kin, 3 other offspring"},
    {"relation_1", "the same at facing 1"},
    {"relation_2", "the same at facing 2"},
    {"relation_3", "the same at facing 3"},
    {"paused_0", "updates for which no offspring are sent to facing 0"},
    {"paused_1", "the same at facing 1"},
    {"paused_2", "the same at facing 2"},
    {"paused_3", "the same at facing 3"},
    {"admits_0", "1: packets of strangers at facing 0 start cores"},
    {"admits_1", "the same at facing 1"},
    {"admits_2", "the same at facing 2"},
    {"admits_3", "the same at facing 3"},
    {"kin_0", "1: the neighbour at facing 0 is of the same kin group"},
    {"kin_1", "the same at facing 1"},
    {"kin_2", "the same at facing 2"},
    {"kin_3", "the same at facing 3"},
    {"clock", "updates of the world"},
    {"shown_0", "what the program shows in word 0"},
    {"shown_1", "the same in word 1"},
    {"shown_2", "the same in word 2"},
    {"shown_3", "the same in word 3"},
    {"shown_4", "the same in word 4"},
    {"shown_5", "the same in word 5"},
    {"shown_6", "the same in word 6"},
    {"shown_7", "the same in word 7"},
}};

/// The words of a cell that its neighbours may sense.
struct State {
  std::array<std::int32_t, num_sensors> words{};  ///< by Sensor

  /// A word by name.
  constexpr std::int32_t& operator[](Sensor sensor) { return words[static_cast<std::size_t>(sensor)]; }
  /// A word by name.
  constexpr std::int32_t operator[](Sensor sensor) const { return words[static_cast<std::size_t>(sensor)]; }
  /// The word of a facing, of sensors that come by facing.
  constexpr std::int32_t& At(Sensor first, unsigned facing) { return words[static_cast<std::size_t>(first) + facing]; }
  /// The word of a facing, of sensors that come by facing.
  constexpr std::int32_t At(Sensor first, unsigned facing) const { return words[static_cast<std::size_t>(first) + facing]; }
};
static_assert(sizeof(State) == 216);
static_assert(static_cast<std::size_t>(Sensor::shown_0) + num_shown_words == num_sensors);

}  // namespace digital_evolution
