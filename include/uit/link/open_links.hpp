#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/link.hpp>
#include <uit/link/shared_memory_link.hpp>
#include <uit/link/world.hpp>

namespace uit {

/// A request for a box that receives frames from a peer, if possible in shared memory.
struct BoxWish {
  std::shared_ptr<FrameBox> box{};  ///< its kind and depth determine how much memory it needs
  std::size_t payload_bytes = 0;    ///< payload of its largest frame
};
/// What a process requests for one peer.
struct PeerWish {
  std::optional<LinkOptions> link{};         ///< options of a new link; the peer requests the same
  std::map<std::uint32_t, BoxWish> boxes{};  ///< by this process's numbers
};
/// Requests by peer.
using PeerWishes = std::map<std::size_t, PeerWish>;

/// Memory shared with a peer, for boxes that do not use the link.
struct SharedBoxes {
  bool is_near = false;  ///< whether the peer shares memory at all
  // Each box is at the beginning of its span; the span may be longer than the box.
  std::map<std::uint32_t, MutableByteView> outgoing{};  ///< by the peer's numbers
  std::map<std::uint32_t, MutableByteView> incoming{};  ///< by this process's
};

/// Largest frame memory of one shared box, in bytes, in addition to its head. The frames of a larger box use the link to
/// the peer. A ring for 8 frames of 64 KiB, the default, takes exactly this much.
inline constexpr std::size_t max_shared_box_bytes = std::size_t{1} << 20U;

namespace detail {

/// Offsets of the memory that a peer writes to, from the start of the part of the process that reads.
struct SharedPlaces {
  /// A box, by its reader's number.
  struct Box {
    std::uint64_t number;
    std::uint64_t offset;
  };
  std::uint64_t link = 0;    ///< offset of the link's ring, if a link is requested
  std::vector<Box> boxes{};  ///< boxes that have memory of their own

  Bytes Pack() const {
    Bytes bytes(sizeof link + boxes.size() * sizeof(Box));
    std::memcpy(bytes.data(), &link, sizeof link);
    if (!boxes.empty()) std::memcpy(bytes.data() + sizeof link, boxes.data(), boxes.size() * sizeof(Box));
    return bytes;
  }
  /// Throws if the bytes were not made by Pack.
  static SharedPlaces Unpack(const Bytes& bytes) {
    SharedPlaces places;
    if (bytes.size() < sizeof places.link || (bytes.size() - sizeof places.link) % sizeof(Box) != 0)
      throw Error("a peer has sent a malformed description of its memory");
    std::memcpy(&places.link, bytes.data(), sizeof places.link);
    places.boxes.resize((bytes.size() - sizeof places.link) / sizeof(Box));
    if (!places.boxes.empty())
      std::memcpy(places.boxes.data(), bytes.data() + sizeof places.link, places.boxes.size() * sizeof(Box));
    return places;
  }
};

/// Returns the memory from `offset` on. Throws if the offset is outside the memory or not aligned to a cache line.
inline MutableByteView PartOf(MutableByteView memory, std::uint64_t offset) {
  if (offset > memory.size() || offset % cache_line != 0)
    throw Error("a peer has named offset " + std::to_string(offset) + " in memory of " + std::to_string(memory.size()) +
                " bytes");
  return memory.subspan(offset);
}
/// Lays out the memory that a peer writes to, starting at `num_bytes`. Advances `num_bytes` past it.
inline SharedPlaces LayOut(const PeerWish& wish, std::uint64_t& num_bytes) {
  SharedPlaces places;
  if (wish.link) places.link = std::exchange(num_bytes, num_bytes + SharedMemoryLink::RingBytes(*wish.link));
  for (const auto& [number, box] : wish.boxes) {
    if (box.box->SharedFrameBytes(box.payload_bytes) > max_shared_box_bytes) continue;
    places.boxes.push_back({number, std::exchange(num_bytes, num_bytes + box.box->SharedBytes(box.payload_bytes))});
  }
  return places;
}
/// Initialises the memory that has been laid out.
inline void CreateShared(const PeerWish& wish, const SharedPlaces& places, MutableByteView mine) {
  if (wish.link) shared_ring::Create(mine.subspan(places.link, SharedMemoryLink::RingBytes(*wish.link)));
  for (const auto& [number, offset] : places.boxes) {
    const BoxWish& box = wish.boxes.at(static_cast<std::uint32_t>(number));
    box.box->CreateShared(mine.subspan(offset, box.box->SharedBytes(box.payload_bytes)), box.payload_bytes);
  }
}

}  // namespace detail

/// Opens the links and shared boxes requested for each peer, and passes them to `take(peer, link, boxes)`.
///
/// If the world shares memory with the peer, and `shares_memory` is true on every process, the link uses that memory and
/// boxes get memory of their own. Otherwise the link comes from the world, and there are no shared boxes. Collective,
/// also for a process without requests. Nothing may be sent before all processes have returned. Throws the world's
/// exceptions, then only on this process.
template <std::invocable<std::size_t, std::optional<AnyLink>, SharedBoxes> Take>
void OpenLinks(const World& world, int stream, const PeerWishes& wishes, bool shares_memory, Take&& take) {
  HostMemory memory;
  std::map<std::size_t, detail::SharedPlaces> near;
  std::vector<Bytes> told(world.Size());
  if (shares_memory) {
    std::uint64_t num_bytes = 0;
    for (const std::size_t rank : world.HostRanks()) {
      if (wishes.contains(rank)) near.emplace(rank, detail::LayOut(wishes.at(rank), num_bytes));
    }
    memory = world.ShareMemory(num_bytes);
    if (memory.empty()) near.clear();  // the same for all processes of the host
    for (const auto& [peer, places] : near) {
      detail::CreateShared(wishes.at(peer), places, memory.at(world.Rank()));
      told[peer] = places.Pack();
    }
    told = world.AllToAll(std::move(told));
  }
  for (const auto& [peer, wish] : wishes) {
    if (!near.contains(peer)) {
      std::optional<AnyLink> link;
      if (wish.link) link = world.OpenLink(peer, stream, *wish.link);
      take(peer, std::move(link), SharedBoxes{});
      continue;
    }
    const auto there = detail::SharedPlaces::Unpack(told.at(peer));
    const detail::SharedPlaces& here = near.at(peer);
    const MutableByteView theirs = memory.at(peer);
    const MutableByteView mine = memory.at(world.Rank());
    std::optional<AnyLink> link;
    if (wish.link)
      link = AnyLink(std::make_unique<SharedMemoryLink>(detail::PartOf(theirs, there.link),
                                                        detail::PartOf(mine, here.link), *wish.link));
    SharedBoxes boxes{.is_near = true};
    for (const auto& [number, offset] : there.boxes)
      boxes.outgoing.emplace(static_cast<std::uint32_t>(number), detail::PartOf(theirs, offset));
    for (const auto& [number, offset] : here.boxes)
      boxes.incoming.emplace(static_cast<std::uint32_t>(number), detail::PartOf(mine, offset));
    take(peer, std::move(link), std::move(boxes));
  }
}

}  // namespace uit
