#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <netuit/graph/random_stream.hpp>

#include "demos/digital_evolution/machine/instruction.hpp"

namespace digital_evolution {

/// A genome: 1 … 1000 instructions.
using Genome = std::vector<Instruction>;

inline constexpr std::size_t min_genome_length = 1;
inline constexpr std::size_t max_genome_length = 1000;

/// Whether the length is allowed and each operation exists. Check this for genomes from files.
inline bool IsValid(const Genome& genome) {
  return genome.size() >= min_genome_length && genome.size() <= max_genome_length &&
         std::ranges::all_of(genome, [](const Instruction& instruction) {
           return static_cast<std::size_t>(instruction.operation) < num_operations;
         });
}

/// A 64-bit hash of a genome; the same on every platform.
inline std::uint64_t HashOf(const Genome& genome) {
  std::uint64_t hash = netuit::MixBits(genome.size());
  for (const Instruction& instruction : genome) {
    const auto& [first, second, third] = instruction.arguments;
    const std::uint64_t head = static_cast<std::uint64_t>(instruction.operation) | std::uint64_t{first} << 8U |
                               std::uint64_t{second} << 16U | std::uint64_t{third} << 24U;
    hash = netuit::MixBits(hash + head);
    hash = netuit::MixBits(hash ^ instruction.GetTag());
  }
  return hash;
}

}  // namespace digital_evolution
