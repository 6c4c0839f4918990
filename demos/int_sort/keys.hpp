#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace int_sort {

/// A key to sort by.
using Key = std::uint32_t;

/// A size of the benchmark IS of NAS, with what it publishes of its first sort.
struct Class {
  char name = 'S';
  unsigned log2_keys = 16;
  unsigned log2_most = 11;  ///< keys are below this power of two
  std::array<std::uint64_t, 5> positions{};
  std::array<std::uint64_t, 5> ranks{};  ///< how many keys are less than those at the positions
};

/// Returns the class with this name. Throws uit::InputError.
const Class& ClassOf(const std::string& name);

/// A range of positions, of a member.
struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};
/// The share of a member: about as many of `count` as others have.
inline Range ShareOf(std::uint64_t count, std::size_t member, std::size_t num_members) {
  return {count * member / num_members, count * (member + 1) / num_members};
}

/// Returns the keys at these positions: the mean of four random numbers each, of the generator of the NAS benchmarks. Two keys are
/// different, as IS has it before the first sort.
std::vector<Key> MakeKeys(const Class& size, Range range);

/// What a permutation keeps: the number of keys and a sum of their mixed bits.
struct Mix {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  friend bool operator==(const Mix&, const Mix&) = default;
};
/// The mix of some keys.
Mix MixOf(std::span<const Key> keys);
/// The mix of two sets of keys.
inline Mix Sum(const Mix& a, const Mix& b) { return {a.count + b.count, a.sum + b.sum}; }

}  // namespace int_sort
