#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <netuit/graph/random_stream.hpp>

namespace digital_evolution {

/// The name of a module, a label or a signal. A call or signal finds the module with the most similar tag.
using Tag = std::uint64_t;

/// The similarity of equal tags; no similarity is larger.
inline constexpr unsigned max_similarity = 64;

/// By default a match has at least 42 of 64 equal bits: 1 % of the pairs of random tags do.
inline constexpr unsigned default_match_threshold = 42;

/// A measure of the similarity of two tags.
enum class Metric : std::uint8_t {
  hamming,  ///< the number of equal bits
  streak    ///< the longest runs of equal and of unequal bits
};

/// The number of equal bits, 0 … 64. Random tags: 32 ± 4.
constexpr unsigned HammingSimilarity(Tag a, Tag b) { return max_similarity - static_cast<unsigned>(std::popcount(a ^ b)); }

/// The length of the longest run of ones.
constexpr unsigned LongestRun(std::uint64_t bits) {
  unsigned length = 0;
  for (; bits != 0; bits &= bits << 1U) ++length;
  return length;
}

/// The streak metric of Downing (2015), Intelligence Emerging, rounded to 0 … 64. With s the longest run of equal bits
/// and d that of unequal ones, and P(k) = (64 - k + 1) / 2^k the expected number of runs of k in random bits, it is
/// 64 P(d) / (P(s) + P(d)). Random tags: 32, but with a wide spread; 1 % are above 63.
constexpr unsigned StreakSimilarity(Tag a, Tag b) {
  const unsigned equal = LongestRun(~(a ^ b));
  const unsigned unequal = LongestRun(a ^ b);
  constexpr unsigned max_shift = 40;  // beyond, the ratio rounds to 0 or 64 anyway
  const std::uint64_t p_unequal = std::uint64_t{max_similarity - unequal + 1}
                                  << std::min(equal > unequal ? equal - unequal : 0U, max_shift);
  const std::uint64_t p_equal = std::uint64_t{max_similarity - equal + 1}
                                << std::min(unequal > equal ? unequal - equal : 0U, max_shift);
  const std::uint64_t sum = p_equal + p_unequal;
  return static_cast<unsigned>((max_similarity * p_unequal + sum / 2) / sum);
}

/// The similarity of two tags by a metric, 0 … 64.
constexpr unsigned Similarity(Metric metric, Tag a, Tag b) {
  return metric == Metric::hamming ? HammingSimilarity(a, b) : StreakSimilarity(a, b);
}

/// The tag that `@name` stands for in a genome's text: FNV-1a of the name (Fowler, Noll, Vo), mixed.
constexpr Tag TagOf(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return netuit::MixBits(hash);
}

/// The tags of events, from their names.
template <std::size_t n>
constexpr std::array<Tag, n> TagsOf(const std::array<std::string_view, n>& names) {
  std::array<Tag, n> tags{};
  std::ranges::transform(names, tags.begin(), TagOf);
  return tags;
}

}  // namespace digital_evolution
