#pragma once

#include <cstddef>
#include <cstdint>

#include <netuit/graph/random_stream.hpp>
#include <uit/support/bytes.hpp>

namespace netuit {

/// Returns a digest of the value of an item, such as a node. The digests of all items are added, modulo 2^64, so that the sum does
/// not depend on which process has which item.
inline std::uint64_t DigestOfValue(std::uint64_t item, uit::ByteView value) {
  std::uint64_t digest = MixBits(item + 1) + value.size();
  while (value.size() >= sizeof(std::uint64_t)) {
    digest = MixBits(digest ^ uit::LoadBytes<std::uint64_t>(value)) + value.size();
    value = value.subspan(sizeof(std::uint64_t));
  }
  for (const std::byte byte : value) digest = MixBits(digest ^ static_cast<std::uint64_t>(byte));
  return digest;
}

}  // namespace netuit
