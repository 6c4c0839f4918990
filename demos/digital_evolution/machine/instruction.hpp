#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "demos/digital_evolution/machine/tag.hpp"

namespace digital_evolution {

inline constexpr unsigned num_registers = 8;
inline constexpr unsigned num_facings = 4;      ///< neighbours that a core can face
inline constexpr unsigned num_sensors = 54;     ///< words of a cell's state
inline constexpr unsigned num_shown_words = 8;  ///< words that a program can show to neighbours

/// The operation of an instruction. The order is that of `instruction_set`.
enum class Operation : std::uint8_t {
  nop, set, copy, add, sub, mul, div, mod, bit_and, bit_or, bit_xor, bit_not, inc, dec, random, less, equal,
  module, label, jump_if, jump_unless, jump, call, fork, return_call, stop, face, turn,
  promote, repress, unregulate,
  sense_self, sense_neighbor, my_facing, show,
  is_kin,
  share_some, share_half,
  send, broadcast, admit, refuse,
  spawn_kin, spawn_new, endow, pause_spawn,
  mark_heir, die,
};

/// The class of an operation. A class can be knocked out as a whole.
enum class InstructionClass : std::uint8_t {
  arithmetic, control, regulation, sensing, kinship, sharing, messaging, reproduction, apoptosis,
};

/// The names of the classes, in order.
inline constexpr std::array<std::string_view, 9> class_names{
    "arithmetic", "control", "regulation", "sensing", "kinship", "sharing", "messaging", "reproduction", "apoptosis"};
inline constexpr std::size_t num_classes = class_names.size();

/// The meaning of an argument byte. Every byte is valid: it is taken modulo the number of choices.
enum class Operand : std::uint8_t {
  none,
  register_index,  ///< r0 … r7
  sensor,          ///< a word of a state
  shown_word,      ///< 0 … 7
  number_low,      ///< the low byte of a signed number of 16 bits; the high one is the next argument
  number_high,
};

/// The number of values of an operand.
constexpr unsigned NumChoices(Operand operand) {
  switch (operand) {
    case Operand::register_index: return num_registers;
    case Operand::sensor: return num_sensors;
    case Operand::shown_word: return num_shown_words;
    case Operand::none:
    case Operand::number_low:
    case Operand::number_high: break;
  }
  return 256;
}

/// A line of the instruction set.
struct InstructionMeaning {
  Operation operation;
  std::string_view name;
  InstructionClass instruction_class;
  std::array<Operand, 3> operands;
  bool has_tag;
  std::string_view meaning;  ///< a, b and c are the registers in the order written
};

namespace detail {
constexpr auto MakeInstructionSet() {
  using enum Operation;
  using enum InstructionClass;
  constexpr auto none = Operand::none;
  constexpr auto reg = Operand::register_index;
  constexpr std::array<Operand, 3> no_operands{none, none, none};
  constexpr std::array<Operand, 3> one{reg, none, none};
  constexpr std::array<Operand, 3> two{reg, reg, none};
  constexpr std::array<Operand, 3> three{reg, reg, reg};
  constexpr std::array<Operand, 3> number{reg, Operand::number_low, Operand::number_high};
  constexpr std::array<Operand, 3> sensor{reg, Operand::sensor, none};
  constexpr std::array<Operand, 3> shown{reg, Operand::shown_word, none};
  return std::to_array<InstructionMeaning>({
      {nop, "nop", arithmetic, no_operands, false, "does nothing"},
      {set, "set", arithmetic, number, false, "a = the number, -32768 to 32767"},
      {copy, "copy", arithmetic, two, false, "a = b"},
      {add, "add", arithmetic, three, false, "a = b + c"},
      {sub, "sub", arithmetic, three, false, "a = b - c"},
      {mul, "mul", arithmetic, three, false, "a = b * c"},
      {div, "div", arithmetic, three, false, "a = b / c toward 0, 0 if c is 0"},
      {mod, "mod", arithmetic, three, false, "a = remainder of b / c, 0 if c is 0"},
      {bit_and, "and", arithmetic, three, false, "a = b and c, bit by bit"},
      {bit_or, "or", arithmetic, three, false, "a = b or c, bit by bit"},
      {bit_xor, "xor", arithmetic, three, false, "a = b xor c, bit by bit"},
      {bit_not, "not", arithmetic, two, false, "a = not b, bit by bit"},
      {inc, "inc", arithmetic, one, false, "a = a + 1"},
      {dec, "dec", arithmetic, one, false, "a = a - 1"},
      {Operation::random, "random", arithmetic, one, false, "a = 32 random bits"},
      {less, "less", arithmetic, three, false, "a = 1 if b < c, else 0"},
      {equal, "equal", arithmetic, three, false, "a = 1 if b = c, else 0"},
      {module, "module", control, no_operands, true, "begins the module of this tag"},
      {label, "label", control, no_operands, true, "where jumps with a tag like this go"},
      {jump_if, "jump_if", control, one, true, "jumps to the best label of this module if a is not 0"},
      {jump_unless, "jump_unless", control, one, true, "jumps to the best label of this module if a is 0"},
      {jump, "jump", control, no_operands, true, "jumps to the best label of this module"},
      {call, "call", control, no_operands, true, "runs the best module, then goes on; at most 4 deep"},
      {fork, "fork", control, no_operands, true, "starts a core at the best module, with a copy of the registers"},
      {return_call, "return", control, no_operands, false, "goes back to the call, or ends the core"},
      {stop, "stop", control, no_operands, false, "ends the core"},
      {face, "face", control, one, false, "faces neighbour a mod 4"},
      {turn, "turn", control, no_operands, false, "faces the next neighbour"},
      {promote, "promote", regulation, one, true, "raises the best module's regulator by 1 + a mod 8"},
      {repress, "repress", regulation, one, true, "lowers the best module's regulator by 1 + a mod 8"},
      {unregulate, "unregulate", regulation, no_operands, true, "sets the best module's regulator to 0"},
      {sense_self, "sense_self", sensing, sensor, false, "a = a word of the cell's own state"},
      {sense_neighbor, "sense_neighbor", sensing, sensor, false, "a = a word of the faced neighbour's state"},
      {my_facing, "my_facing", sensing, one, false, "a = the number of the faced neighbour, 0 to 3"},
      {show, "show", sensing, shown, false, "shows a to the neighbours, in one of 8 words"},
      {is_kin, "is_kin", kinship, one, false, "a = 1 if the faced neighbour is of the same kin group, else 0"},
      {share_some, "share_some", sharing, no_operands, false, "gives 5 % of the stockpile to the faced neighbour"},
      {share_half, "share_half", sharing, no_operands, false, "gives half of the stockpile to the faced neighbour"},
      {send, "send", messaging, no_operands, true, "sends this tag and r0 to r2 to the faced neighbour"},
      {broadcast, "broadcast", messaging, no_operands, true, "sends this tag and r0 to r2 to all neighbours"},
      {admit, "admit", messaging, no_operands, false, "lets packets of strangers at the faced place start cores"},
      {refuse, "refuse", messaging, no_operands, false, "keeps packets of strangers at the faced place out"},
      {spawn_kin, "spawn_kin", reproduction, no_operands, false, "asks for a birth into the faced place, of one's kin"},
      {spawn_new, "spawn_new", reproduction, no_operands, false, "asks for a birth there that founds a kin group"},
      {endow, "endow", reproduction, one, false, "later births get a/256 of the stockpile, a within 0 to 255"},
      {pause_spawn, "pause_spawn", reproduction, one, false, "no births into the faced place for a mod 256 updates"},
      {mark_heir, "mark_heir", apoptosis, no_operands, false, "the faced neighbour inherits the stockpile on die"},
      {die, "die", apoptosis, no_operands, false, "ends the cell"},
  });
}
}  // namespace detail

/// All operations, by number. Text, decoding, mutation and `--instructions` use this table. To add an operation, add a line
/// here, a name in Operation and a case in Machine::RunSlice.
inline constexpr auto instruction_set = detail::MakeInstructionSet();
inline constexpr std::size_t num_operations = instruction_set.size();

static_assert([] {
  for (std::size_t k = 0; k < num_operations; ++k) {
    if (static_cast<std::size_t>(instruction_set[k].operation) != k) return false;
  }
  return static_cast<std::size_t>(Operation::die) + 1 == num_operations;
}());

/// The line of an operation.
constexpr const InstructionMeaning& MeaningOf(Operation operation) {
  return instruction_set[static_cast<std::size_t>(operation)];
}

/// The operation with this name in a genome's text; none if it is unknown.
constexpr std::optional<Operation> FindOperation(std::string_view name) {
  for (const InstructionMeaning& meaning : instruction_set) {
    if (meaning.name == name) return meaning.operation;
  }
  return std::nullopt;
}

/// The class with this name; none if it is unknown.
constexpr std::optional<InstructionClass> FindClass(std::string_view name) {
  for (std::size_t k = 0; k < num_classes; ++k) {
    if (class_names[k] == name) return static_cast<InstructionClass>(k);
  }
  return std::nullopt;
}

/// One instruction of a genome: 12 bytes, as they travel and as they mutate.
struct Instruction {
  Operation operation = Operation::nop;
  std::array<std::uint8_t, 3> arguments{};
  std::array<std::uint32_t, 2> tag_words{};  ///< low word first

  /// The tag. Every instruction has one, even if its operation does not use it.
  constexpr Tag GetTag() const { return std::uint64_t{tag_words[1]} << 32U | tag_words[0]; }
  /// Replaces the tag.
  constexpr void SetTag(Tag tag) {
    tag_words = {static_cast<std::uint32_t>(tag), static_cast<std::uint32_t>(tag >> 32U)};
  }

  friend constexpr bool operator==(const Instruction&, const Instruction&) = default;
};

/// The number of a `set`: arguments 1 and 2, low byte first.
constexpr std::int16_t NumberOf(const Instruction& instruction) {
  return static_cast<std::int16_t>(static_cast<std::uint16_t>(instruction.arguments[1] | instruction.arguments[2] << 8U));
}

static_assert(sizeof(Instruction) == 12 && alignof(Instruction) == 4);
static_assert(std::has_unique_object_representations_v<Instruction>);

}  // namespace digital_evolution
