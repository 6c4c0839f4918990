#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
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
inline Bytes PackGreeting(const std::vector<Announcement>& announcements, const Greeting& greeting = {}) {
  const auto head = std::as_bytes(std::span(&greeting, 1));
  const auto rest = std::as_bytes(std::span(announcements));
  Bytes bytes(head.size() + rest.size());
  std::ranges::copy(rest, std::ranges::copy(head, bytes.begin()).out);
  return bytes;
}

/// Reads the greeting and announcements that a peer sent. Returns why they are not acceptable, or an empty string.
inline std::string UnpackGreeting(const Bytes& bytes, std::vector<Announcement>& announcements) {
  const Greeting ours;
  Greeting theirs;
  if (bytes.size() < sizeof theirs) return "it does not speak this protocol";
  std::memcpy(&theirs, bytes.data(), sizeof theirs);
  if (theirs.magic != ours.magic) return "it does not speak this protocol";
  if (theirs.version != ours.version || theirs.announcement_bytes != ours.announcement_bytes)
    return "it was built with version " + std::to_string(theirs.version) + " of the library, not " +
           std::to_string(ours.version);
  const std::size_t rest = bytes.size() - sizeof theirs;
  if (rest % sizeof(Announcement) != 0) return "its announcements are cut short";
  announcements.resize(rest / sizeof(Announcement));
  if (rest != 0) std::memcpy(announcements.data(), bytes.data() + sizeof theirs, rest);
  return {};
}

/// Pairs each of our outgoing halves with the peer's incoming half of the same key: remote[i] becomes the peer's number
/// for ours[i]. Returns a description of the first mismatch, or an empty string.
inline std::string MatchAnnouncements(const std::vector<Announcement>& ours, const std::vector<Announcement>& theirs,
                                      std::map<std::uint32_t, std::uint32_t>& remote) {
  std::map<ExchangeKey, const Announcement*> incoming;
  for (const Announcement& half : theirs) {
    if (half.is_incoming != 0 && !incoming.emplace(half.spec.key, &half).second)
      return half.spec.Name() + " has two outlets";
  }
  for (const Announcement& half : ours) {
    if (half.is_incoming != 0) continue;
    const auto found = incoming.find(half.spec.key);
    if (found == incoming.end()) return half.spec.Name() + " has no outlet there, or two inlets here";
    if (std::string words = half.spec.Difference(found->second->spec, "the inlet", "the outlet"); !words.empty())
      return words;
    remote[half.index] = found->second->index;
    incoming.erase(found);
  }
  if (!incoming.empty()) return incoming.begin()->second->spec.Name() + " has an outlet there and no inlet here";
  return {};
}

}  // namespace uit
