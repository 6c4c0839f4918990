#pragma once

#include <cstdint>

namespace digital_evolution {

/// How waves run through kin groups.
struct WaveRule {
  std::uint32_t radius = 6;       ///< hops that a wave lasts, that of the cell where it begins included
  std::uint32_t span = 2;         ///< updates for which a cell passes a wave on: more than one, as a signal may be missed
  std::uint32_t refractory = 16;  ///< updates from one wave through a cell to the next: longer than a wave's way and back
  std::uint32_t start = 1 << 23;  ///< chance to begin one in an update, in 1/2^32
};

/// The wave at one cell.
struct Wave {
  std::uint8_t hop = 0;         ///< where it stands, from 1; 0: none passes
  std::uint8_t span = 0;        ///< updates during which it is still passed on
  std::uint16_t refractory = 0; ///< updates until the next

  /// Advances by an update; `heard` is the hop of kin that a wave passes, 0 for none. The cell may also begin a wave. Returns
  /// whether a wave has arrived, so that the cell can harvest.
  bool Update(const WaveRule& rule, std::uint8_t heard, bool begins) {
    if (span != 0 && --span == 0) hop = 0;
    if (refractory != 0 && --refractory != 0) return false;
    const bool is_reached = heard != 0 && heard < rule.radius;
    if (!begins && !is_reached) return false;
    hop = static_cast<std::uint8_t>(begins ? 1 : heard + 1);
    span = static_cast<std::uint8_t>(rule.span);
    refractory = static_cast<std::uint16_t>(rule.refractory);
    return true;
  }
};
static_assert(sizeof(Wave) == 4);

}  // namespace digital_evolution
