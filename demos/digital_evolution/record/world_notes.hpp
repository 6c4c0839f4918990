#pragma once

#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <map>
#include <netuit/file/graph_options.hpp>
#include <string>
#include <system_error>
#include <type_traits>

#include <uit/support/error.hpp>

#include "demos/digital_evolution/world/counters.hpp"
#include "demos/digital_evolution/world/resource.hpp"

namespace digital_evolution {

/// The facts of a world that its checkpoints have as notes, beside the cells and messages in the mesh.
struct WorldNotes {
  std::uint64_t side = 0;   ///< of the torus: rows
  std::uint64_t width = 0;  ///< of the torus: columns
  std::uint64_t seed = 0;   ///< of the run
  std::uint64_t rules = 0;  ///< that it has lived under, see HashOf
  Ledger ledger{};          ///< of the whole world
  Counters counters{};      ///< of the whole world
};

namespace detail {
/// Of cells' states in checkpoints. Raise it when a number in them gets another meaning.
inline constexpr const char* world_version = "4";
/// The largest number of a ledger or counter in a checkpoint, so that sums do not overflow.
inline constexpr std::uint64_t largest_sum = std::uint64_t{1} << 59U;

/// A type that consists of numbers of 64 bits.
template <typename T>
concept ManyNumbers = std::has_unique_object_representations_v<T> && sizeof(T) % sizeof(std::uint64_t) == 0;

template <ManyNumbers T>
using NumbersOf = std::array<std::uint64_t, sizeof(T) / sizeof(std::uint64_t)>;

template <ManyNumbers T>
std::string ToText(const T& value) {
  std::string text;
  for (const std::uint64_t number : std::bit_cast<NumbersOf<T>>(value)) {
    if (!text.empty()) text += ' ';
    text += std::to_string(number);
  }
  return text;
}
/// Returns false unless the text has as many numbers as the value, and none above `most`.
template <ManyNumbers T>
bool TryParse(const std::string& text, T& value, std::uint64_t most = ~std::uint64_t{0}) {
  NumbersOf<T> numbers{};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::uint64_t& number : numbers) {
    if (&number != numbers.data() && (at == end || *at++ != ' ')) return false;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc{} || number > most) return false;
    at = next;
  }
  value = std::bit_cast<T>(numbers);
  return at == end;
}
}  // namespace detail

/// Returns them as a checkpoint has them.
inline std::map<std::string, std::string> ToText(const WorldNotes& notes) {
  return {{"digital_evolution", detail::world_version},
          {"side", detail::ToText(notes.side)},
          {"width", detail::ToText(notes.width)},
          {"seed", detail::ToText(notes.seed)},
          {"rules", detail::ToText(notes.rules)},
          {"ledger", detail::ToText(notes.ledger)},
          {"counters", detail::ToText(notes.counters)}};
}

/// Reads them from a checkpoint; messages call it `name`. Throws uit::InputError if it is of another program or version, or
/// damaged.
inline WorldNotes ParseWorldNotes(const std::map<std::string, std::string>& texts, const std::string& name) {
  const auto version = texts.find("digital_evolution");
  if (version == texts.end()) throw uit::InputError(name + ": is not a checkpoint of digital_evolution");
  if (version->second != detail::world_version) throw uit::InputError(name + ": is of another version of digital_evolution");
  WorldNotes notes;
  const auto try_parse = [&](const char* key, auto& value, std::uint64_t most) {
    const auto text = texts.find(key);
    return text != texts.end() && detail::TryParse(text->second, value, most);
  };
  constexpr std::uint64_t any = ~std::uint64_t{0};
  const bool is_whole = try_parse("side", notes.side, netuit::GraphOptions{}.max_nodes) &&
                        try_parse("width", notes.width, netuit::GraphOptions{}.max_nodes) && try_parse("seed", notes.seed, any) &&
                        try_parse("rules", notes.rules, any) && try_parse("ledger", notes.ledger, detail::largest_sum) &&
                        try_parse("counters", notes.counters, detail::largest_sum);
  if (!is_whole || notes.side < 3 || notes.width < 3 || notes.side * notes.width > netuit::GraphOptions{}.max_nodes)
    throw uit::InputError(name + ": is damaged");
  return notes;
}

}  // namespace digital_evolution
