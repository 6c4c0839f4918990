#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "demos/digital_evolution/machine/genome.hpp"
#include "demos/digital_evolution/world/resource.hpp"

namespace digital_evolution {

/// The properties that offspring gets from its parent, besides the genome.
struct Birth {
  std::uint64_t kin = 0;             ///< number of its kin group
  std::uint64_t taxon = 0;           ///< of its parent
  Resource endowment = 0;            ///< that it begins with
  std::uint32_t generation = 0;      ///< births from the founder
  std::int32_t kin_generation = 0;   ///< age of the kin group
  std::uint32_t kin_size = 1;        ///< the parent's estimate; 1 if the group is new
  std::uint8_t kin_epoch = 0;        ///< of the kin group
  std::uint8_t founder = 0;          ///< which genome of the beginning it descends from

  /// Field by field.
  friend bool operator==(const Birth&, const Birth&) = default;
};

/// The number of words of a birth message before those of the genome.
inline constexpr std::size_t num_birth_words = 9;
/// Words of an instruction.
inline constexpr std::size_t num_instruction_words = sizeof(Instruction) / sizeof(std::uint32_t);

/// Writes a birth and its genome, three words an instruction.
inline void EncodeBirth(const Birth& birth, std::span<const Instruction> genome, std::vector<std::uint32_t>& words) {
  const auto low = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  const auto high = [](std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32U); };
  words.clear();
  words.reserve(num_birth_words + genome.size() * num_instruction_words);
  words = {low(birth.kin),
           high(birth.kin),
           low(birth.taxon),
           high(birth.taxon),
           static_cast<std::uint32_t>(birth.endowment),
           birth.generation,
           static_cast<std::uint32_t>(birth.kin_generation),
           birth.kin_size,
           static_cast<std::uint32_t>(birth.kin_epoch | birth.founder << 8U)};
  words.resize(num_birth_words + genome.size() * num_instruction_words);
  std::memcpy(words.data() + num_birth_words, genome.data(), genome.size_bytes());
}

/// Reads a message of EncodeBirth. Returns nothing if it is incomplete or its genome is not valid.
inline std::optional<Birth> DecodeBirth(std::span<const std::uint32_t> words, Genome& genome) {
  if (words.size() < num_birth_words || (words.size() - num_birth_words) % num_instruction_words != 0) return {};
  const std::size_t length = (words.size() - num_birth_words) / num_instruction_words;
  if (length < min_genome_length || length > max_genome_length) return {};
  const auto wide = [&](std::size_t at) { return words[at] | std::uint64_t{words[at + 1]} << 32U; };
  genome.resize(length);
  std::memcpy(static_cast<void*>(genome.data()), words.data() + num_birth_words, length * sizeof(Instruction));
  if (!IsValid(genome)) return {};
  return Birth{.kin = wide(0),
               .taxon = wide(2),
               .endowment = static_cast<Resource>(words[4]),
               .generation = words[5],
               .kin_generation = static_cast<std::int32_t>(words[6]),
               .kin_size = words[7],
               .kin_epoch = static_cast<std::uint8_t>(words[8]),
               .founder = static_cast<std::uint8_t>(words[8] >> 8U)};
}

/// The endowment in a message of EncodeBirth. Requires at least `num_birth_words` words.
inline Resource EndowmentOf(std::span<const std::uint32_t> words) { return static_cast<Resource>(words[4]); }

/// The parent's taxon in such a message.
inline std::uint64_t TaxonOf(std::span<const std::uint32_t> words) { return words[2] | std::uint64_t{words[3]} << 32U; }

}  // namespace digital_evolution
