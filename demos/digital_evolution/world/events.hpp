#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "demos/digital_evolution/machine/tag.hpp"

namespace digital_evolution {

/// The events of programs: an event starts a core at the module that matches its tag best.
enum class Event : std::uint8_t {
  born,
  heartbeat,
  can_afford,
  beside_kin,
  beside_stranger,
  beside_empty,
  neighbor_changed,
  wave
};

/// An event's name and when it happens.
struct EventEntry {
  std::string_view name;     ///< as in the text of genomes, after @
  std::string_view meaning;  ///< in one line
};

/// By Event.
inline constexpr std::array<EventEntry, 8> event_table{{
    {"born", "once, at birth; faces the parent"},
    {"heartbeat", "every 8 updates; faces one neighbour after the other"},
    {"can_afford", "every 8 updates while the stockpile is enough for a birth; faces one neighbour after the other"},
    {"beside_kin", "every 8 updates for each neighbour of the same kin group; faces it"},
    {"beside_stranger", "every 8 updates for each neighbour of another kin group; faces it"},
    {"beside_empty", "every 8 updates for each empty place nearby; faces it"},
    {"neighbor_changed", "when another kin group, or none, is seen at a neighbour's place; faces it"},
    {"wave", "when a wave has brought resource; faces one neighbour after the other"},
}};

/// Updates from one round of events to the next.
inline constexpr std::uint64_t event_period = 8;

/// A common multiple of the periods of events and of all layers, in updates.
inline constexpr std::uint64_t world_period = 16;

namespace detail {
constexpr auto TagEvents() {
  std::array<Tag, event_table.size()> tags{};
  for (std::size_t event = 0; event < tags.size(); ++event) tags[event] = TagOf(event_table[event].name);
  return tags;
}
}  // namespace detail

/// The events' tags, by Event.
inline constexpr auto event_tags = detail::TagEvents();

}  // namespace digital_evolution
