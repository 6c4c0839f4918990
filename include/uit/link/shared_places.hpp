#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/peer_request.hpp>
#include <uit/link/shared_memory_link.hpp>
#include <uit/link/shared_ring.hpp>
#include <uit/link/world.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>

namespace uit::detail {

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
inline SharedPlaces LayOut(const PeerRequest& request, std::uint64_t& num_bytes) {
  SharedPlaces places;
  if (request.link) places.link = std::exchange(num_bytes, num_bytes + SharedMemoryLink::RingBytes(*request.link));
  for (const auto& [number, box] : request.boxes) {
    const bool is_asked = box.box->MayBeLarge() && box.payload_bytes >= min_asked_payload;
    const std::size_t max_bytes = is_asked ? max_lent_box_bytes : max_shared_box_bytes;
    if (box.box->SharedFrameBytes(box.payload_bytes) > max_bytes) continue;
    places.boxes.push_back({number, std::exchange(num_bytes, num_bytes + box.box->SharedBytes(box.payload_bytes))});
  }
  return places;
}
/// Initialises the memory that has been laid out.
inline void CreateShared(const PeerRequest& request, const SharedPlaces& places, MutableByteView mine) {
  if (request.link) shared_ring::Create(mine.subspan(places.link, SharedMemoryLink::RingBytes(*request.link)));
  for (const auto& [number, offset] : places.boxes) {
    const BoxRequest& box = request.boxes.at(static_cast<std::uint32_t>(number));
    box.box->CreateShared(mine.subspan(offset, box.box->SharedBytes(box.payload_bytes)), box.payload_bytes);
  }
}

}  // namespace uit::detail
