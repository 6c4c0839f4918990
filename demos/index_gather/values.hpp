#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "demos/common/places.hpp"

namespace index_gather {

/// The value of a word: different for each, and never 0.
inline std::uint64_t ValueOf(const demo::Place& place) { return (std::uint64_t{place.owner} + 1) << 32U | place.word; }

/// What is wrong with the values of some places; empty if nothing is. Clears them.
inline std::string FindFault(std::span<const demo::Place> places, std::span<std::uint64_t> values) {
  std::size_t num_wrong = 0;
  for (std::size_t i = 0; i < places.size(); ++i) num_wrong += values[i] != ValueOf(places[i]) ? 1 : 0;
  std::ranges::fill(values, 0);
  return num_wrong == 0 ? "" : std::to_string(num_wrong) + " values are wrong";
}

/// Returns the part of the table of a member: 2^log2_words values.
inline std::vector<std::uint64_t> MakeTable(std::size_t member, unsigned log2_words) {
  std::vector<std::uint64_t> table(std::size_t{1} << log2_words);
  for (std::size_t i = 0; i < table.size(); ++i)
    table[i] = ValueOf({static_cast<std::uint32_t>(member), static_cast<std::uint32_t>(i)});
  return table;
}

}  // namespace index_gather
