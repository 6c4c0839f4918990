#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <uit/support/bytes.hpp>
#include <uit/wire/link.hpp>
#include <uit/wire/shared_memory_link.hpp>
#include <uit/wire/world.hpp>

namespace uit {

/// What a process asks of its link to a peer; the peer asks the same of its own.
using LinkWishes = std::map<std::size_t, LinkOptions>;  // by peer

namespace detail {

/// Where in this process's part of a node's memory the rings begin into which each peer writes.
inline std::map<std::size_t, std::uint64_t> LayOutRings(const LinkWishes& wishes, std::uint64_t& num_bytes) {
  std::map<std::size_t, std::uint64_t> offsets;
  num_bytes = 0;
  for (const auto& [peer, options] : wishes) {
    offsets[peer] = num_bytes;
    num_bytes += SharedMemoryLink::RingBytes(options);
  }
  return offsets;
}

}  // namespace detail

/// Opens a link to each peer, and gives it to `take(peer, link, is_near)`: through memory where the world shares some with the
/// peer and `shares_memory` says so on every process, else as the world does. Collective, also for a process without
/// wishes; nothing may be sent before all have come back from it. Throws what the world throws, then only on this
/// process.
template <std::invocable<std::size_t, AnyLink, bool> Take>
void OpenLinks(const World& world, int stream, const LinkWishes& wishes, bool shares_memory, Take&& take) {
  NodeMemory memory;
  LinkWishes near;
  std::vector<Bytes> offsets(world.Size());
  std::map<std::size_t, std::uint64_t> my_offsets;
  if (shares_memory) {
    for (const std::size_t rank : world.NodeRanks()) {
      if (wishes.contains(rank)) near.emplace(rank, wishes.at(rank));
    }
    std::uint64_t num_bytes = 0;
    my_offsets = detail::LayOutRings(near, num_bytes);
    memory = world.ShareMemory(num_bytes);
    if (memory.empty()) near.clear();  // for all of the node alike
    for (const auto& [peer, options] : near) {
      const std::uint64_t& offset = my_offsets.at(peer);
      shared_ring::Create(memory.at(world.Rank()).subspan(offset, SharedMemoryLink::RingBytes(options)));
      const ByteView bytes = BytesOf(offset);
      offsets[peer].assign(bytes.begin(), bytes.end());
    }
    offsets = world.AllToAll(std::move(offsets));
  }
  for (const auto& [peer, options] : wishes) {
    if (near.contains(peer)) {
      std::byte* const outgoing = memory.at(peer).data() + LoadBytes<std::uint64_t>(offsets.at(peer));
      std::byte* const incoming = memory.at(world.Rank()).data() + my_offsets.at(peer);
      take(peer, AnyLink(std::make_unique<SharedMemoryLink>(outgoing, incoming, options)), true);
    } else {
      take(peer, world.OpenLink(peer, stream, options), false);
    }
  }
}

}  // namespace uit
