#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <netuit/mesh/delayed_slots.hpp>
#include <netuit/mesh/levels.hpp>
#include <uit/config.hpp>

namespace netuit {

class NetworkPart;

/// Lays out slots from `first` on. `levels` are the worker's. The part has its ghosts in place. Writes the slot of each input to
/// `in_slots`, by input of the process.
DelayedSlots LayOutDelayed(const NetworkPart& part, const std::vector<Level>& levels, std::size_t first, std::uint32_t* in_slots);

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/delay_layout.ipp>
#endif
