#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace uts {

/// The result of SHA-1: 160 bits as big-endian words.
using Digest = std::array<std::uint32_t, 5>;

/// SHA-1 (FIPS 180-4) of a message of `N` big-endian words, at most 13: one block.
template <std::size_t N>
Digest Sha1(const std::array<std::uint32_t, N>& message) {
  static_assert(N <= 13, "the message and its padding must fit into a block");
  std::array<std::uint32_t, 80> w{};
  for (std::size_t i = 0; i < N; ++i) w[i] = message[i];
  w[N] = 0x80000000U;
  w[15] = 32U * N;  // bits of the message
  for (std::size_t i = 16; i < 80; ++i) w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);

  constexpr Digest initial{0x67452301U, 0xEFCDAB89U, 0x98BADCFEU, 0x10325476U, 0xC3D2E1F0U};
  auto [a, b, c, d, e] = initial;
  const auto step = [&](std::uint32_t f, std::uint32_t constant, std::uint32_t word) {
    const std::uint32_t next = std::rotl(a, 5) + f + e + constant + word;
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  };
  for (std::size_t i = 0; i < 20; ++i) step(d ^ (b & (c ^ d)), 0x5A827999U, w[i]);
  for (std::size_t i = 20; i < 40; ++i) step(b ^ c ^ d, 0x6ED9EBA1U, w[i]);
  for (std::size_t i = 40; i < 60; ++i) step((b & c) | (d & (b | c)), 0x8F1BBCDCU, w[i]);
  for (std::size_t i = 60; i < 80; ++i) step(b ^ c ^ d, 0xCA62C1D6U, w[i]);
  return {initial[0] + a, initial[1] + b, initial[2] + c, initial[3] + d, initial[4] + e};
}

}  // namespace uts
