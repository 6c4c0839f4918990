#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/link.hpp>
#include <uit/link/shared_ring.hpp>

namespace uit {

/// A link between two processes of one host, over one ring in each direction in shared memory.
///
/// A frame is copied once into the ring and once out of it. Neither side waits or makes a system call.
class SharedMemoryLink {
 public:
  /// Upper limit of a ring's size, as far as the number of frames determines it: a larger ring would not stay in a core's
  /// cache.
  static constexpr std::size_t max_ring_bytes = std::size_t{256} << 10U;

  /// Returns the bytes of memory for one direction of a link with these options.
  static std::size_t RingBytes(const LinkOptions& options) {
    return shared_ring::BytesFor(sizeof(FrameHeader) + options.payload_bytes, options.num_receives, max_ring_bytes);
  }

  /// A link over two rings that have been created, in memory that outlives the link. Throws if a ring does not fit its
  /// memory.
  SharedMemoryLink(MutableByteView outgoing, MutableByteView incoming, const LinkOptions& options)
      : out_(outgoing), in_(incoming), payload_bytes_(options.payload_bytes) {}

  /// Whether a frame of the largest size would be taken now.
  bool HasRoom() { return out_.HasRoom(sizeof(FrameHeader) + payload_bytes_); }
  /// Copies the frame to the peer if there is room; `frame` is then a spare buffer. Throws for a frame larger than the
  /// link was opened for.
  bool TrySend(Frame& frame) {
    if (frame.Header().num_bytes > payload_bytes_)
      throw Error("a frame of " + std::to_string(frame.Header().num_bytes) + " bytes is too large for its link of " +
                  std::to_string(payload_bytes_));
    if (!HasRoom()) return false;
    out_.Write(frame.Bytes());
    return true;
  }
  /// Copies the next frame out if it has arrived. If it is malformed, moves past it and throws. If its end cannot be
  /// found, throws once, and nothing more arrives.
  bool TryReceive(Frame& frame) {
    if (is_broken_) [[unlikely]] return false;
    const ByteView arrived = in_.Front();
    if (arrived.data() == nullptr) {
      if (arrived.empty()) return false;
      is_broken_ = true;
      throw Error("a peer has sent a record of " + std::to_string(arrived.size()) + " bytes, which ends beyond its ring");
    }
    if (arrived.size() - sizeof(FrameHeader) > payload_bytes_) [[unlikely]] {
      in_.Pop(arrived);
      throw Error("a peer has sent " + std::to_string(arrived.size()) + " bytes, which is not a frame of its link of " +
                  std::to_string(payload_bytes_));
    }
    FrameHeader header;
    std::memcpy(&header, arrived.data(), sizeof header);
    const ByteView payload = arrived.subspan(sizeof header);
    if (header.num_bytes != payload.size()) [[unlikely]] {
      in_.Pop(arrived);
      throw Error("a peer has sent a frame of " + std::to_string(payload.size()) + " bytes that claims " +
                  std::to_string(header.num_bytes));
    }
    frame.Reserve(payload_bytes_);
    frame.Header() = header;
    CopyBytes(frame.Payload(), payload.data(), payload.size());
    in_.Pop(arrived);
    return true;
  }
  /// Returns true once the peer has taken every frame sent. Frames that the peer sends are ignored from then on.
  bool TryClose() {
    is_closed_ = is_closed_ || out_.IsEmpty();
    return is_closed_;
  }
  /// Counts the memory as one buffer, if the peer may still use it: the world then keeps it.
  std::size_t Abandon() { return std::exchange(is_closed_, true) ? 0 : 1; }

 private:
  shared_ring::Writer out_;
  shared_ring::Reader in_;
  std::size_t payload_bytes_;
  bool is_closed_ = false;
  bool is_broken_ = false;  // the end of the next record cannot be found
};
static_assert(Link<SharedMemoryLink>);

}  // namespace uit
