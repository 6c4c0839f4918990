#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>

#include <netuit/graph/random_stream.hpp>

#include "demos/digital_evolution/machine/genome_text.hpp"
#include "demos/digital_evolution/machine/machine.hpp"

namespace digital_evolution {

/// Returns 32 random bits a call.
class TestRandom {
 public:
  explicit TestRandom(std::uint64_t seed) : stream_{seed} {}
  std::uint32_t operator()() { return static_cast<std::uint32_t>(stream_.Next() >> 32U); }
  std::uint32_t Below(std::uint32_t bound) { return stream_.Below(bound); }

 private:
  netuit::RandomStream stream_;
};

/// Records the actions of a program as text: `show 3 -7`, `endow 2 255`, `send 1 0123456789abcdef 1 2 3`.
class RecordingCell {
 public:
  std::int32_t SenseSelf(unsigned sensor) const { return static_cast<std::int32_t>(100 + sensor); }
  std::int32_t SenseNeighbor(unsigned facing, unsigned sensor) const {
    return static_cast<std::int32_t>(1000 * facing + sensor);
  }
  bool IsKin(unsigned facing) const { return facing == 2; }
  void Show(unsigned word, std::int32_t value) { Note("show " + std::to_string(word) + " " + std::to_string(value)); }
  void Act(Action action, unsigned facing, std::int32_t argument) {
    constexpr std::array<std::string_view, 10> names{"share_some",  "share_half", "spawn_kin", "spawn_new", "endow",
                                                     "pause_spawn", "admit",      "refuse",    "mark_heir", "die"};
    Note(std::string{names.at(static_cast<std::size_t>(action))} + " " + std::to_string(facing) + " " +
         std::to_string(argument));
  }
  void Send(unsigned facing, Tag tag, const PacketData& data) {
    Note("send " + std::to_string(facing) + " " + detail::Hexadecimal(tag) + " " + std::to_string(data[0]) + " " +
         std::to_string(data[1]) + " " + std::to_string(data[2]));
  }
  std::uint32_t Random() { return random_bits; }
  InstructionUse& Use() { return use; }

  std::string trace;  ///< all actions, separated by "; "
  std::uint32_t random_bits = 0x80000001U;
  InstructionUse use{};

 private:
  void Note(const std::string& what) { trace += (trace.empty() ? "" : "; ") + what; }
};

inline Genome Parse(const std::string& text, const Names& names = {}) {
  std::istringstream stream{text};
  return ParseGenome(stream, "test", names);
}

/// Returns instructions with random bytes. Their tags lie near a few values, so that many match.
inline Genome RandomGenome(std::uint64_t seed, std::size_t length) {
  TestRandom random{seed};
  Genome genome(length);
  for (Instruction& instruction : genome) {
    instruction.operation = static_cast<Operation>(random.Below(num_operations));
    if (random.Below(8) == 0) instruction.operation = Operation::module;
    if (random.Below(8) == 0) instruction.operation = Operation::label;
    for (std::uint8_t& argument : instruction.arguments) argument = static_cast<std::uint8_t>(random.Below(256));
    Tag tag = netuit::MixBits(random.Below(6));
    for (std::uint32_t flips = random.Below(24); flips > 0; --flips) tag ^= Tag{1} << random.Below(64);
    instruction.SetTag(tag);
  }
  return genome;
}

}  // namespace digital_evolution
