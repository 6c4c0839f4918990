#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <netuit/file/line_cursor.hpp>
#include <netuit/file/line_reader.hpp>

#include "demos/digital_evolution/machine/genome.hpp"

namespace digital_evolution {

/// A world's names of sensors and events. Sensors without a name are `s0`, `s1`, …
struct Names {
  std::span<const std::string_view> sensors{};  ///< by index
  std::span<const std::string_view> events{};   ///< an event's tag is TagOf its name
};

namespace detail {

inline std::string Hexadecimal(Tag tag) {
  std::string digits(16, '0');
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, tag >>= 4U) *digit = "0123456789abcdef"[tag & 15U];
  return digits;
}

/// `@name` if it is an event's tag.
inline std::string TagText(Tag tag, const Names& names) {
  const auto event = std::ranges::find(names.events, tag, TagOf);
  return event == names.events.end() ? Hexadecimal(tag) : "@" + std::string{*event};
}

inline std::string SensorText(unsigned sensor, const Names& names) {
  return sensor < names.sensors.size() ? std::string{names.sensors[sensor]} : "s" + std::to_string(sensor);
}

/// The value of a byte as an operand.
constexpr unsigned ValueOf(Operand operand, std::uint8_t byte) { return byte % NumChoices(operand); }

/// The instruction that its text means without the part after ';'.
constexpr Instruction Plain(const Instruction& instruction) {
  const InstructionMeaning& meaning = MeaningOf(instruction.operation);
  Instruction plain{.operation = instruction.operation, .arguments = {}, .tag_words = {}};
  for (std::size_t k = 0; k < plain.arguments.size(); ++k) {
    if (meaning.operands[k] == Operand::none) continue;
    plain.arguments[k] = static_cast<std::uint8_t>(ValueOf(meaning.operands[k], instruction.arguments[k]));
  }
  if (meaning.has_tag) plain.tag_words = instruction.tag_words;
  return plain;
}

}  // namespace detail

/// An instruction as text, without its meaning: `set r3 -12`, `send 0123456789abcdef`, `add r0 r1 r2 ; 8 1 2`. After the ';' are
/// the three argument bytes, and the tag if the operation uses none, if the words before do not determine them. They have no
/// effect, but after a mutation they may.
inline std::string ToText(const Instruction& instruction, const Names& names = {}) {
  const InstructionMeaning& meaning = MeaningOf(instruction.operation);
  std::string text{meaning.name};
  for (std::size_t k = 0; k < instruction.arguments.size(); ++k) {
    const unsigned value = detail::ValueOf(meaning.operands[k], instruction.arguments[k]);
    switch (meaning.operands[k]) {
      case Operand::none:
      case Operand::number_high: break;
      case Operand::register_index: text += " r" + std::to_string(value); break;
      case Operand::sensor: text += " " + detail::SensorText(value, names); break;
      case Operand::shown_word: text += " " + std::to_string(value); break;
      case Operand::number_low: text += " " + std::to_string(NumberOf(instruction)); break;
    }
  }
  if (meaning.has_tag) text += " " + detail::TagText(instruction.GetTag(), names);
  if (const Instruction plain = detail::Plain(instruction); plain != instruction) {
    text += " ;";
    for (const unsigned byte : instruction.arguments) text += " " + std::to_string(byte);
    if (plain.tag_words != instruction.tag_words) text += " " + detail::Hexadecimal(instruction.GetTag());
  }
  return text;
}

namespace detail {

/// The meaning of an instruction; for a changed tag, the event that it still matches.
inline std::string Comment(const Instruction& instruction, const Names& names) {
  const InstructionMeaning& meaning = MeaningOf(instruction.operation);
  std::string comment{meaning.meaning};
  if (!meaning.has_tag || names.events.empty()) return comment;
  const auto similarity = [&](std::string_view event) { return HammingSimilarity(TagOf(event), instruction.GetTag()); };
  const std::string_view closest = *std::ranges::max_element(names.events, {}, similarity);
  const unsigned num_equal = similarity(closest);
  if (num_equal == max_similarity || num_equal < default_match_threshold) return comment;
  return comment + " (" + std::to_string(num_equal) + " of 64 bits as @" + std::string{closest} + ")";
}

}  // namespace detail

/// A genome as readable text: one instruction per line with its meaning, and modules separated. ParseGenome restores it byte by
/// byte.
inline std::string ToText(const Genome& genome, const Names& names = {}) {
  constexpr std::size_t meaning_column = 40;
  std::string text;
  for (const Instruction& instruction : genome) {
    const bool is_anchor = instruction.operation == Operation::module;
    if (is_anchor && !text.empty()) text += '\n';
    std::string line = (is_anchor ? "" : "  ") + ToText(instruction, names);
    line.resize(std::max(meaning_column, line.size() + 1), ' ');
    text += line + "# " + detail::Comment(instruction, names) + '\n';
  }
  return text;
}

namespace detail {

/// Reads the words of one line.
class InstructionParser {
 public:
  InstructionParser(netuit::LineCursor& cursor, const Names& names) : cursor_{cursor}, names_{names} {}

  Instruction Parse() {
    const std::string_view name = cursor_.TakeWord();
    const std::optional<Operation> operation = FindOperation(name);
    if (!operation) cursor_.Fail(netuit::Quoted(name) + " is not an instruction; --instructions lists them");
    const InstructionMeaning& meaning = MeaningOf(*operation);
    Instruction instruction{.operation = *operation, .arguments = {}, .tag_words = {}};
    for (std::size_t k = 0; k < meaning.operands.size(); ++k) TakeOperand(meaning, k, instruction);
    if (meaning.has_tag) instruction.SetTag(ParseTag(Take(meaning, "a tag")));
    if (cursor_.Peek() == ';') TakeHidden(meaning, instruction);
    if (!cursor_.IsAtEnd()) {
      cursor_.Fail(netuit::Quoted(cursor_.TakeWord()) + " is more than " + std::string{meaning.name} + " takes");
    }
    return instruction;
  }

 private:
  std::string_view Take(const InstructionMeaning& meaning, std::string_view what) {
    if (cursor_.Peek() == '\0' || cursor_.Peek() == ';') {
      cursor_.Fail(std::string{meaning.name} + " lacks " + std::string{what});
    }
    return cursor_.TakeWord();
  }

  void TakeOperand(const InstructionMeaning& meaning, std::size_t k, Instruction& instruction) {
    std::uint8_t& argument = instruction.arguments[k];
    switch (meaning.operands[k]) {
      case Operand::none:
      case Operand::number_high: return;
      case Operand::register_index: {
        const std::string_view word = Take(meaning, "a register");
        const auto index = word.starts_with('r') ? Number(word.substr(1), 0, num_registers - 1) : std::nullopt;
        if (!index) cursor_.Fail(netuit::Quoted(word) + " is not a register, r0 to r7");
        argument = static_cast<std::uint8_t>(*index);
        return;
      }
      case Operand::sensor: argument = ParseSensor(Take(meaning, "a sensor")); return;
      case Operand::shown_word: {
        const std::string_view word = Take(meaning, "a word to show");
        const auto index = Number(word, 0, num_shown_words - 1);
        if (!index) cursor_.Fail(netuit::Quoted(word) + " is not a word that can be shown, 0 to 7");
        argument = static_cast<std::uint8_t>(*index);
        return;
      }
      case Operand::number_low: {
        const std::string_view word = Take(meaning, "a number");
        const auto number = Number(word, -32768, 32767);
        if (!number) cursor_.Fail(netuit::Quoted(word) + " is not a whole number from -32768 to 32767");
        const auto bits = static_cast<std::uint32_t>(*number);
        argument = static_cast<std::uint8_t>(bits & 255U);
        instruction.arguments[k + 1] = static_cast<std::uint8_t>(bits >> 8U & 255U);
        return;
      }
    }
  }

  std::uint8_t ParseSensor(std::string_view word) const {
    const auto named = std::ranges::find(names_.sensors, word);
    if (named != names_.sensors.end()) return static_cast<std::uint8_t>(named - names_.sensors.begin());
    const auto index = word.starts_with('s') ? Number(word.substr(1), 0, num_sensors - 1) : std::nullopt;
    if (!index) cursor_.Fail(netuit::Quoted(word) + " is not a sensor; --sensors lists them");
    return static_cast<std::uint8_t>(*index);
  }

  Tag ParseTag(std::string_view word) const {
    if (word.size() > 1 && word.starts_with('@')) return TagOf(word.substr(1));
    Tag tag = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), tag, 16);
    if (word.size() != 16 || word.starts_with('-') || error != std::errc{} || end != word.data() + word.size()) {
      cursor_.Fail(netuit::Quoted(word) + " is not a tag: 16 hexadecimal digits, or @ and a name");
    }
    return tag;
  }

  /// Reads the part after ';'.
  void TakeHidden(const InstructionMeaning& meaning, Instruction& instruction) {
    const Instruction plain = instruction;
    cursor_.TryTake(';');
    for (std::uint8_t& argument : instruction.arguments) {
      const std::string_view word = Take(meaning, "three bytes after ';'");
      const auto byte = Number(word, 0, 255);
      if (!byte) cursor_.Fail(netuit::Quoted(word) + " is not a byte, 0 to 255");
      argument = static_cast<std::uint8_t>(*byte);
    }
    if (!meaning.has_tag && !cursor_.IsAtEnd()) instruction.SetTag(ParseTag(cursor_.TakeWord()));
    if (Plain(instruction) != plain) cursor_.Fail("the bytes after ';' mean other operands than those before");
  }

  static std::optional<int> Number(std::string_view word, int least, int largest) {
    int number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc{} || end != word.data() + word.size() || number < least || number > largest) return std::nullopt;
    return number;
  }

  netuit::LineCursor& cursor_;
  const Names& names_;
};

}  // namespace detail

/// Reads a genome that ToText or a person wrote:
///
///     module @heartbeat            # begins at an event's tag
///       sense_self r0 stockpile
///       set r1 1000
///       less r2 r1 r0
///       jump_unless r2 @poor       # any name can be a tag
///       spawn_kin
///       label @poor
///
/// Empty lines and comments after '#' are skipped. Throws uit::InputError "file_name:line: reason".
inline Genome ParseGenome(std::istream& stream, std::string file_name, const Names& names = {}) {
  netuit::LineReader reader{stream, std::move(file_name), 4096};
  Genome genome;
  while (const auto line = reader.Next()) {
    netuit::LineCursor cursor{reader, *line};
    if (cursor.IsAtEnd()) continue;
    if (genome.size() == max_genome_length) {
      cursor.Fail("more than " + std::to_string(max_genome_length) + " instructions");
    }
    genome.push_back(detail::InstructionParser{cursor, names}.Parse());
  }
  if (genome.empty()) reader.Fail("the genome has no instruction");
  return genome;
}

}  // namespace digital_evolution
