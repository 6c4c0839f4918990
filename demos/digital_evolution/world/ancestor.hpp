#pragma once

#include <sstream>
#include <string_view>

#include "demos/digital_evolution/machine/genome_text.hpp"
#include "demos/digital_evolution/world/names.hpp"

namespace digital_evolution {

/// The default genome of founders, as text: 100 instructions, as in the founding paper. It survives, but leaves room for
/// evolution: it saves for long before a birth, sends offspring to any place, even to its own kin's, and ignores its neighbours.
inline constexpr std::string_view ancestor_text = R"(
module @can_afford
  sense_self r0 stockpile
  set r1 2048
  less r2 r0 r1
  jump_if r2 @wait
  sense_self r3 is_expired
  jump_if r3 @found
  spawn_kin
  stop
  label @found
  spawn_new
  stop
  label @wait
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop

module @born
  set r0 64
  endow r0
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop

module @beside_stranger
  my_facing r0
  show r0 0
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop

module @beside_kin
  sense_neighbor r0 stockpile
  show r0 1
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
  nop
)";

/// The default genome of founders.
inline Genome AncestorGenome() {
  std::istringstream text{std::string{ancestor_text}};
  return ParseGenome(text, "ancestor", world_names);
}

}  // namespace digital_evolution
