#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "demos/digital_evolution/machine/genome_text.hpp"
#include "demos/digital_evolution/world/events.hpp"
#include "demos/digital_evolution/world/state.hpp"

namespace digital_evolution {

namespace detail {
template <typename T>
constexpr auto NamesOf(const T& table) {
  std::array<std::string_view, std::tuple_size_v<T>> names{};
  for (std::size_t entry = 0; entry < names.size(); ++entry) names[entry] = table[entry].name;
  return names;
}
inline constexpr auto sensor_names = NamesOf(sensor_table);
inline constexpr auto event_names = NamesOf(event_table);
}  // namespace detail

/// The names of sensors and events in the text of genomes.
inline constexpr Names world_names{.sensors = detail::sensor_names, .events = detail::event_names};

}  // namespace digital_evolution
