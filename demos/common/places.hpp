#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <Random123/philox.h>

namespace demo {

/// A word of a table that is distributed over members.
struct Place {
  std::uint32_t owner = 0;  ///< the member
  std::uint32_t word = 0;   ///< within its part
};

/// Returns random places for one member, the same for the same arguments. Each of `num_members` owns 2^log2_words words.
inline std::vector<Place> RandomPlaces(std::uint64_t seed, std::size_t member, std::size_t count, std::size_t num_members,
                                       unsigned log2_words) {
  r123::Philox4x32 philox;
  const r123::Philox4x32::key_type key{{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)}};
  std::vector<Place> places(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto words = philox({{static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i >> 32U),
                                static_cast<std::uint32_t>(member), 0}}, key);
    // The upper half of the product is below num_members (Lemire 2019).
    places[i].owner = static_cast<std::uint32_t>((words[0] * std::uint64_t{num_members}) >> 32U);
    places[i].word = words[1] >> (32U - log2_words);
  }
  return places;
}

}  // namespace demo
