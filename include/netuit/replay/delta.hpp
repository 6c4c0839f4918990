#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <netuit/replay/record_format.hpp>
#include <uit/support/bytes.hpp>

namespace netuit::replay {

// A delta encodes bytes as the 8-byte words in which they differ from known ones. It repeats: the number of equal words, the
// number of different words, and the different words.

/// Returns the number of words that hold `num_bytes` bytes.
constexpr std::size_t NumWords(std::size_t num_bytes) { return (num_bytes + 7) / 8; }

/// Returns the most bytes that EncodeDelta writes for `num_bytes` bytes.
constexpr std::size_t MaxDeltaBytes(std::size_t num_bytes) { return 10 * NumWords(num_bytes) + 2 * max_number_bytes; }

/// Writes the delta between `known` and the bytes to `to`, and updates `known`. `known` must have NumWords(num_bytes) words,
/// and `to` room for MaxDeltaBytes(num_bytes). Returns the end of the delta.
inline std::byte* EncodeDelta(const std::byte* bytes, std::size_t num_bytes, std::span<std::uint64_t> known, std::byte* to) {
  const auto word = [&](std::size_t i) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes + 8 * i, std::min<std::size_t>(8, num_bytes - 8 * i));
    return value;
  };
  for (std::size_t at = 0; at < known.size();) {
    std::size_t first = at;
    while (first < known.size() && word(first) == known[first]) ++first;
    std::size_t last = first;
    for (; last < known.size(); ++last) {
      const std::uint64_t value = word(last);
      if (value == known[last]) break;
      known[last] = value;
    }
    to = WriteNumber(to, first - at);
    to = WriteNumber(to, last - first);
    std::memcpy(to, known.data() + first, 8 * (last - first));
    to += 8 * (last - first);
    at = last;
  }
  return to;
}

/// Updates `known` by a delta. Returns false if the bytes end early or are not a delta; some words may have changed by then.
[[nodiscard]] inline bool TryDecodeDelta(uit::ByteReader& reader, std::span<std::uint64_t> known) {
  while (!known.empty()) {
    std::uint64_t num_same = 0;
    std::uint64_t num_new = 0;
    uit::ByteView words;
    if (!TryReadNumber(reader, num_same) || num_same > known.size()) return false;
    known = known.subspan(num_same);
    if (!TryReadNumber(reader, num_new) || num_new > known.size() || !reader.TryTake(8 * num_new, words)) return false;
    if (num_same + num_new == 0) return false;
    if (num_new != 0) std::memcpy(known.data(), words.data(), words.size());
    known = known.subspan(num_new);
  }
  return true;
}

}  // namespace netuit::replay
