#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <uit/config.hpp>
#include <uit/exchange/exchange.hpp>
#include <uit/link/world.hpp>

namespace uit {

/// Announces one half of an exchange to the peer that has the other half.
struct Announcement {
  ExchangeSpec spec;              ///< the peer's half must have the same
  std::uint32_t index = 0;        ///< the announcing process's number for its box
  std::uint32_t is_incoming = 0;  ///< 1: the receiving half
};

/// The first bytes that one process sends another before they exchange frames.
struct Greeting {
  /// "conduit" in little-endian bytes. Detects another program and the other byte order.
  std::uint64_t magic = 0x7469'7564'6e6f'63ULL;
  /// The library's version; the peer's must be the same.
  std::uint32_t version = UIT_VERSION_MAJOR * 10000 + UIT_VERSION_MINOR * 100 + UIT_VERSION_PATCH;
  std::uint32_t announcement_bytes = sizeof(Announcement);  ///< size of each announcement that follows
};

/// Packs a greeting and announcements into bytes.
Bytes PackGreeting(const std::vector<Announcement>& announcements, const Greeting& greeting = {});

/// Reads the greeting and announcements that a peer sent. Returns why they are not acceptable, or an empty string.
std::string UnpackGreeting(const Bytes& bytes, std::vector<Announcement>& announcements);

/// Pairs each of our outgoing halves with the peer's incoming half of the same key: remote[i] becomes the peer's number
/// for ours[i]. Returns a description of the first mismatch, or an empty string.
std::string MatchAnnouncements(const std::vector<Announcement>& ours, const std::vector<Announcement>& theirs,
                               std::map<std::uint32_t, std::uint32_t>& remote);

}  // namespace uit

#if !UIT_COMPILED
#include <uit/exchange/handshake.ipp>
#endif
