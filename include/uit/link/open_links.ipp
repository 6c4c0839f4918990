#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <uit/config.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/link.hpp>
#include <uit/link/open_links.hpp>
#include <uit/link/shared_memory_link.hpp>
#include <uit/link/shared_places.hpp>
#include <uit/link/world.hpp>
#include <uit/support/bytes.hpp>

namespace uit {

UIT_DEFINE void OpenLinks(const World& world, int stream, const PeerRequests& requests, bool shares_memory,
                          FunctionRef<void(std::size_t, std::optional<AnyLink>, SharedBoxes)> take) {
  HostMemory memory;
  std::map<std::size_t, detail::SharedPlaces> near;
  BytesByRank told;
  if (shares_memory) {
    std::uint64_t num_bytes = 0;
    for (const std::size_t rank : world.HostRanks()) {
      if (requests.contains(rank)) near.emplace(rank, detail::LayOut(requests.at(rank), num_bytes));
    }
    memory = world.ShareMemory(num_bytes);
    if (memory.empty()) near.clear();  // the same for all processes of the host
    for (const auto& [peer, places] : near) {
      detail::CreateShared(requests.at(peer), places, memory.at(world.Rank()));
      told[peer] = places.Pack();
    }
    told = world.ExchangeSparsely(std::move(told));
  }
  for (const auto& [peer, request] : requests) {
    if (!near.contains(peer)) {
      std::optional<AnyLink> link;
      if (request.link) link = world.OpenLink(peer, stream, *request.link);
      take(peer, std::move(link), SharedBoxes{});
      continue;
    }
    const auto there = detail::SharedPlaces::Unpack(told.at(peer));
    const detail::SharedPlaces& here = near.at(peer);
    const MutableByteView theirs = memory.at(peer);
    const MutableByteView mine = memory.at(world.Rank());
    std::optional<AnyLink> link;
    if (request.link)
      link = AnyLink(std::make_unique<SharedMemoryLink>(detail::PartOf(theirs, there.link),
                                                        detail::PartOf(mine, here.link), *request.link));
    SharedBoxes boxes{.is_near = true};
    for (const auto& [number, offset] : there.boxes)
      boxes.outgoing.emplace(static_cast<std::uint32_t>(number), detail::PartOf(theirs, offset));
    for (const auto& [number, offset] : here.boxes)
      boxes.incoming.emplace(static_cast<std::uint32_t>(number), detail::PartOf(mine, offset));
    take(peer, std::move(link), std::move(boxes));
  }
}

}  // namespace uit
