#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <netuit/file/table.hpp>
#include <span>
#include <uit/link/world.hpp>
#include <vector>

#include "demos/digital_evolution/machine/genome_text.hpp"
#include "demos/digital_evolution/machine/instruction.hpp"
#include "demos/digital_evolution/machine/machine.hpp"
#include "demos/digital_evolution/record/gathered.hpp"
#include "demos/digital_evolution/world/counters.hpp"
#include "demos/digital_evolution/world/world.hpp"

namespace digital_evolution {

/// Collective, between runs. The kin groups of the whole world, the largest first: its number, its true number of cells, and the
/// mean of its cells' estimates. Only rank 0 gets rows.
inline netuit::Table KinGroupTable(const World& cells, const uit::World& world) {
  struct Group {
    std::uint64_t kin = 0;
    std::uint64_t num_cells = 0;
    std::uint64_t sum_estimate = 0;
  };
  const auto merge = [](std::span<const Group> parts) {
    std::map<std::uint64_t, Group> by_kin;
    for (const Group& part : parts) {
      Group& group = by_kin[part.kin];
      group.kin = part.kin;
      group.num_cells += part.num_cells;
      group.sum_estimate += part.sum_estimate;
    }
    std::vector<Group> groups;
    for (const auto& [kin, group] : by_kin) groups.push_back(group);
    return groups;
  };
  std::vector<Group> members;
  for (const Place& place : cells.Places()) {
    if (place.cell.IsAlive()) members.push_back({place.cell.group.kin, 1, place.cell.group.size});
  }
  std::vector<Group> groups = merge(Gathered(world, std::span<const Group>(merge(members))));
  std::ranges::sort(groups, [](const Group& one, const Group& other) {
    return one.num_cells != other.num_cells ? one.num_cells > other.num_cells : one.kin < other.kin;
  });
  netuit::Table table{{"kin_group", "cells", "mean_estimate"}};
  for (const Group& group : groups) {
    table.Row().Add(detail::Hexadecimal(group.kin)).Add(group.num_cells);
    table.Add(static_cast<double>(group.sum_estimate) / static_cast<double>(group.num_cells));
  }
  return table;
}

/// Collective, between runs. The instructions that the world has executed since it began: a row per operation, in the order of
/// the instruction set. Each process has `num_threads` threads. Rank 0 gets the sums; elsewhere they are 0.
inline netuit::Table InstructionUseTable(const World& cells, std::uint32_t num_threads, const uit::World& world) {
  Counters mine;
  for (std::uint32_t thread = 0; thread < num_threads; ++thread) mine += cells.GetCounters(thread);
  const InstructionUse use = SumOnRoot(world, mine).use;
  netuit::Table table{{"instruction", "class", "executed"}};
  for (const InstructionMeaning& line : instruction_set) {
    table.Row().Add(line.name).Add(class_names[static_cast<std::size_t>(line.instruction_class)]);
    table.Add(use[static_cast<std::size_t>(line.operation)]);
  }
  return table;
}

}  // namespace digital_evolution
