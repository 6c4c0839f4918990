#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <netuit/graph/random_stream.hpp>

#include "demos/digital_evolution/machine/machine.hpp"
#include "demos/digital_evolution/machine/mutation.hpp"
#include "demos/digital_evolution/machine/program.hpp"
#include "demos/digital_evolution/world/events.hpp"
#include "demos/digital_evolution/world/resource.hpp"
#include "demos/digital_evolution/world/wave.hpp"

namespace digital_evolution {

/// How resource in addition to the inflow enters the world.
enum class Harvest {
  wave,  ///< with waves through kin groups, which reward groups of a size
  even   ///< the same to every cell, whatever it does
};

/// The laws of a world. The same on every process.
struct Rules {
  Resource inflow = ToResource(0.018);        ///< to each cell in an update
  Harvest harvest = Harvest::wave;            ///< how the additional resource is distributed
  Resource wave_harvest = ToResource(0.4);    ///< to each cell that a wave reaches
  Resource even_harvest = ToResource(0.008);  ///< to each cell in an update, with Harvest::even
  WaveRule wave{};                            ///< how waves run
  std::uint32_t decay_shift = 10;             ///< a stockpile loses this part of itself in an update: 1/2^shift
  Resource birth_cost = one_resource;         ///< of an offspring, beside its endowment
  std::uint32_t max_age = 4'096;              ///< in updates; then a cell dies
  std::uint32_t kin_span = 512;               ///< updates of a cell in which its kin group ages as by a birth
  std::int32_t fertile_kin_age = 9;           ///< of a kin group in which births within it are possible
  std::int32_t harvest_kin_age = 11;          ///< of a kin group that waves run through
  unsigned budget = 16;                       ///< instructions of a cell in an update
  MutationRates mutation{};                   ///< of births
  /// How tags match, and which instructions do nothing.
  MachineOptions machine{.metric = Metric::hamming,
                         .match_threshold = default_match_threshold,
                         .knocked_out = {},
                         .event_tags = event_tags};
  /// The program of every cell, for a neutral control; null: each cell runs its own genome.
  std::shared_ptr<const Program> common_program{};
};

/// A 64-bit hash of the rules; the same on every platform.
inline std::uint64_t HashOf(const Rules& rules) {
  std::uint64_t hash = 0;
  const auto add = [&hash](auto... numbers) {
    ((hash = netuit::MixBits(hash ^ static_cast<std::uint64_t>(numbers)) + 1), ...);
  };
  const auto add_rates = [&add](auto... rates) { add(std::bit_cast<std::uint64_t>(rates)...); };
  // Names every field: a new rule that is missing here does not compile.
  const auto& [inflow, harvest, wave_harvest, even_harvest, wave, decay_shift, birth_cost, max_age, kin_span, fertile_kin_age,
               harvest_kin_age, budget, mutation, machine, common_program] = rules;
  const auto& [radius, span, refractory, start] = wave;
  const auto& [birth, operation, argument, tag_bit, insertion, deletion, duplication, module_deletion] = mutation;
  const auto& [metric, match_threshold, knocked_out, tags] = machine;
  add(inflow, harvest, wave_harvest, even_harvest, radius, span, refractory, start, decay_shift, birth_cost, max_age, kin_span,
      fertile_kin_age, harvest_kin_age, budget, metric, match_threshold);
  add_rates(birth, operation, argument, tag_bit, insertion, deletion, duplication, module_deletion);
  for (std::size_t number = 0; number < num_classes; ++number)
    add(knocked_out.Contains(static_cast<InstructionClass>(number)) ? 1 : 0);
  for (const Tag tag : tags) add(tag);
  add(common_program ? common_program->Hash() : 0);
  return hash;
}

}  // namespace digital_evolution
