#pragma once

#include <array>
#include <concepts>
#include <cstdint>

#include "demos/digital_evolution/machine/instruction.hpp"

namespace digital_evolution {

/// A request of a program to its cell; some concern the faced neighbour.
enum class Action : std::uint8_t {
  share_some,
  share_half,
  spawn_kin,
  spawn_new,
  endow,        ///< argument: 0 … 255, in 1/256 of the stockpile
  pause_spawn,  ///< argument: 0 … 255 updates
  admit,
  refuse,
  mark_heir,
  die  ///< all cores end with it
};

/// By operation: its number of executions.
using InstructionUse = std::array<std::uint64_t, num_operations>;

/// The data of a packet, for registers r5 to r7 of the core that it starts.
using PacketData = std::array<std::int32_t, 3>;

/// The environment of a machine: a cell, as its program sees it. Facings are 0 … 3, sensors 0 … 53, shown words 0 … 7.
template <typename H>
concept Host = requires(H& host, unsigned facing, unsigned word, std::int32_t value, Action action, Tag tag,
                        const PacketData& data) {
  { host.SenseSelf(word) } -> std::convertible_to<std::int32_t>;
  { host.SenseNeighbor(facing, word) } -> std::convertible_to<std::int32_t>;
  { host.IsKin(facing) } -> std::convertible_to<bool>;
  host.Show(word, value);
  host.Act(action, facing, value);
  host.Send(facing, tag, data);
  { host.Random() } -> std::same_as<std::uint32_t>;
  { host.Use() } -> std::same_as<InstructionUse&>;
};

}  // namespace digital_evolution
