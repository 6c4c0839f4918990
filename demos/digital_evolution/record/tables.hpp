#pragma once

#include <netuit/file/table.hpp>

#include "demos/digital_evolution/machine/instruction.hpp"
#include "demos/digital_evolution/world/state.hpp"

namespace digital_evolution {

/// The instruction set: a row per operation.
inline netuit::Table InstructionTable() {
  netuit::Table table{{"instruction", "class", "has_tag", "meaning"}};
  for (const InstructionMeaning& line : instruction_set) {
    table.Row().Add(line.name).Add(class_names[static_cast<std::size_t>(line.instruction_class)]);
    table.Add(line.has_tag).Add(line.meaning);
  }
  return table;
}

/// The words of a cell's state: a row per sensor.
inline netuit::Table SensorTable() {
  netuit::Table table{{"sensor", "meaning"}};
  for (const SensorEntry& line : sensor_table) table.Row().Add(line.name).Add(line.meaning);
  return table;
}

}  // namespace digital_evolution
