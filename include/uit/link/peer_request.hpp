#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include <uit/support/bytes.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/link.hpp>

namespace uit {

/// A request for a box that receives frames from a peer, if possible in shared memory.
struct BoxRequest {
  std::shared_ptr<FrameBox> box{};  ///< its kind and depth determine how much memory it needs
  std::size_t payload_bytes = 0;    ///< payload of its largest frame
};
/// What a process requests for one peer.
struct PeerRequest {
  std::optional<LinkOptions> link{};         ///< options of a new link; the peer requests the same
  std::map<std::uint32_t, BoxRequest> boxes{};  ///< by this process's numbers
};
/// Requests by peer.
using PeerRequests = std::map<std::size_t, PeerRequest>;

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
/// The same for a box whose large frames are written and read in place (see AggregatedOptions::lends), if its payloads may have
/// `min_asked_payload` bytes or more.
inline constexpr std::size_t max_lent_box_bytes = std::size_t{32} << 20U;
/// A program gets such payloads only if it asks for larger messages than those of 64 KiB, the default.
inline constexpr std::size_t min_asked_payload = std::size_t{128} << 10U;

}  // namespace uit
