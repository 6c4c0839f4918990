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
#include <uit/exchange/handshake.hpp>
#include <uit/link/world.hpp>

namespace uit {

UIT_DEFINE Bytes PackGreeting(const std::vector<Announcement>& announcements, const Greeting& greeting) {
  const auto head = std::as_bytes(std::span(&greeting, 1));
  const auto rest = std::as_bytes(std::span(announcements));
  Bytes bytes(head.size() + rest.size());
  std::ranges::copy(rest, std::ranges::copy(head, bytes.begin()).out);
  return bytes;
}

UIT_DEFINE std::string UnpackGreeting(const Bytes& bytes, std::vector<Announcement>& announcements) {
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

UIT_DEFINE std::string MatchAnnouncements(const std::vector<Announcement>& ours, const std::vector<Announcement>& theirs,
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
