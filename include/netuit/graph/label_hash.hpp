#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string_view>
#include <vector>

#include <netuit/graph/random_stream.hpp>

namespace netuit::detail {

/// Hashes words and numbers with a random key, so that the author of a file cannot choose labels that collide.
///
/// For any set of labels, a search in an open-addressed table that is at most half full takes constant expected time. A word
/// becomes the value of a polynomial at a secret point; two words of m characters collide with probability m / 2^61. Numbers
/// are hashed by tabulation (Pătraşcu, Thorup 2012).
class LabelHash {
 public:
  LabelHash() : LabelHash(Draw()) {}
  /// With a known key, for tests.
  explicit LabelHash(std::uint64_t key) : table_(num_bytes * 256) {
    RandomStream random{key};
    for (std::uint64_t& entry : table_) entry = random.Next();
    for (std::size_t byte = 0; byte < num_bytes; ++byte) table_[byte << 8U] = 0;
    place_ = random.Next() % (prime - 2) + 2;
  }

  /// The hash of a word: below 2^61.
  std::uint64_t OfWord(std::string_view word) const {
    std::uint64_t sum = word.size() + 1;  // so that words of different lengths give different polynomials
    constexpr std::size_t piece = 7;  // characters, so that a coefficient is below the prime
    for (; word.size() >= piece; word.remove_prefix(piece)) {
      std::uint64_t digits = 0;
      std::memcpy(&digits, word.data(), piece);
      sum = Times(sum, place_) + digits;
    }
    if (!word.empty()) {
      std::uint64_t digits = 0;
      for (const char c : word) digits = digits << 8U | static_cast<unsigned char>(c);
      sum = Times(sum, place_) + digits;
    }
    return Times(sum, place_);
  }
  /// The hash of a number: 64 bits of equal quality.
  std::uint64_t OfNumber(std::uint64_t number) const {
    std::uint64_t hash = 0;
    // A zero byte adds nothing, so the loop ends after the highest non-zero byte.
    for (const std::uint64_t* entries = table_.data(); number != 0; entries += 256, number >>= 8U)
      hash ^= entries[number & 0xFFU];
    return hash;
  }

 private:
  static constexpr std::size_t num_bytes = 8;
  static constexpr std::uint64_t prime = (std::uint64_t{1} << 61U) - 1;

  static std::uint64_t Draw() {
    std::random_device random;
    return std::uint64_t{random()} << 32U | random();
  }

  /// a b modulo the prime, for a, b < 2^62.
  static std::uint64_t Times(std::uint64_t a, std::uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = Wide{a} * b;
    const std::uint64_t sum = (static_cast<std::uint64_t>(product) & prime) + static_cast<std::uint64_t>(product >> 61U);
    const std::uint64_t folded = (sum & prime) + (sum >> 61U);
    return folded >= prime ? folded - prime : folded;
  }

  std::vector<std::uint64_t> table_;  // by byte, then by its value
  std::uint64_t place_ = 0;
};

}  // namespace netuit::detail
