// The handshake of a peer is accepted or refused with a message. What was accepted packs to the same bytes.
#include <map>
#include <set>

#include <uit/exchange/handshake.hpp>

#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace uit;
using namespace uit::fuzz;

/// Returns the halves that would match the peer's: one outgoing half of ours for each incoming half of the peer's.
std::vector<Announcement> Mirror(const std::vector<Announcement>& theirs) {
  std::vector<Announcement> ours;
  for (const Announcement& half : theirs) {
    if (half.is_incoming == 0) continue;
    ours.push_back(half);
    ours.back().index = static_cast<std::uint32_t>(ours.size());
    ours.back().is_incoming = 0;
  }
  return ours;
}

void Try(const Bytes& bytes) {
  std::vector<Announcement> theirs;
  if (!UnpackGreeting(bytes, theirs).empty()) return;
  Demand(PackGreeting(theirs, LoadBytes<Greeting>(bytes)) == bytes, "a greeting that is understood packs to the same bytes");
  std::set<ExchangeKey> keys;
  bool is_unique = true;
  for (const Announcement& half : theirs) is_unique &= half.is_incoming == 0 || keys.insert(half.spec.key).second;
  std::map<std::uint32_t, std::uint32_t> remote;
  const std::vector<Announcement> mirror = Mirror(theirs);
  Demand(MatchAnnouncements(mirror, theirs, remote).empty() == is_unique, "halves match their mirror if no two have one key");
  if (is_unique) Demand(remote.size() == mirror.size(), "each half has its number");
  // halves that were made for others match, or the error names them
  std::map<std::uint32_t, std::uint32_t> unused;
  std::vector<Announcement> other = mirror;
  for (Announcement& half : other) half.spec.depth ^= 1U;
  const bool matches = MatchAnnouncements(other, theirs, unused).empty();
  Demand(matches == other.empty(), "halves of another depth do not match");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView view = uit::fuzz::InputBytes(data, size);
  Bytes bytes(view.begin(), view.end());
  Try(bytes);
  if (bytes.size() < sizeof(Greeting)) return 0;
  StoreBytes(Greeting{}, bytes);  // as if the beginning were valid
  Try(bytes);
  return 0;
}
