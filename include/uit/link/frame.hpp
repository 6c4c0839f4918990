#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include <uit/config.hpp>
#include <uit/support/assert.hpp>

namespace uit {

/// The purpose of a frame.
enum class FrameKind : std::uint16_t {
  data,    ///< messages of an exchange
  credit,  ///< acknowledges frames, carries nothing
  close    ///< the sender's last frame, except for acknowledgements
};

/// The first bytes of every frame that a link carries. All ranks of a job have the same byte order, so it is sent without
/// conversion.
struct FrameHeader {
  std::uint32_t entry = 0;           ///< number of the receiving box at the receiver
  FrameKind kind = FrameKind::data;  ///< data frames go to a box, all others to the connection
  std::uint16_t last = 0;            ///< 1: this frame ends `update` for the sender's exchange
  std::uint32_t acknowledged = 0;    ///< frames received from the addressee so far, modulo 2^32
  std::uint32_t num_bytes = 0;       ///< bytes of payload after the header
  std::uint64_t update = 0;          ///< the sender's update when the frame departed
  std::uint64_t base = 0;            ///< a count; its meaning depends on the exchange
};
static_assert(sizeof(FrameHeader) == 32);

/// Stores a value only if it differs. Buffers are reused, so it mostly does not. A store may have to wait behind other
/// stores for a cache line of another core; a load need not.
template <std::equality_comparable V>
UIT_INLINE void StoreIfNew(V& to, std::type_identity_t<V> value) {
  if (to != value) to = value;
}

/// A header and a payload in one buffer.
///
/// Frames move by swap, so that buffers circulate and a steady state allocates nothing: after `a = std::move(b)`, b holds
/// the buffer that a had. Frames of different sizes move by Take.
class Frame {
 public:
  Frame() = default;
  /// A frame with room for `payload_bytes` bytes of payload.
  explicit Frame(std::size_t payload_bytes) { Reserve(payload_bytes); }
  /// Takes the buffer; `other` then has none.
  Frame(Frame&& other) noexcept { Swap(other); }
  /// Swaps the buffers, so that `other` holds a spare one.
  Frame& operator=(Frame&& other) noexcept {
    Swap(other);
    return *this;
  }

  /// Makes room for a payload. If the buffer has to grow, its content is lost. A new buffer has a cleared header.
  UIT_INLINE void Reserve(std::size_t payload_bytes) {
    if (payload_bytes >= room_) [[unlikely]]
      Allocate(payload_bytes);
  }
  /// The same, but the content is kept.
  UIT_INLINE void Grow(std::size_t payload_bytes) {
    if (payload_bytes > Capacity()) [[unlikely]] Reallocate(payload_bytes);
  }

  /// Returns the number of payload bytes that fit.
  std::size_t Capacity() const { return room_ != 0 ? room_ - 1 : 0; }
  /// Whether the frame has a buffer. Header and payload may be accessed only then.
  bool HasBuffer() const { return storage_ != nullptr; }

  /// The first bytes of the buffer. Only if HasBuffer.
  FrameHeader& Header() { return *reinterpret_cast<FrameHeader*>(storage_.get()); }
  /// The first bytes of the buffer. Only if HasBuffer.
  const FrameHeader& Header() const { return *reinterpret_cast<const FrameHeader*>(storage_.get()); }
  /// Capacity() bytes after the header. Only if HasBuffer.
  std::byte* Payload() { return storage_.get() + sizeof(FrameHeader); }
  /// Capacity() bytes after the header. Only if HasBuffer.
  const std::byte* Payload() const { return storage_.get() + sizeof(FrameHeader); }

  /// Returns the bytes to send: header and payload.
  std::span<const std::byte> Bytes() const { return {storage_.get(), sizeof(FrameHeader) + Header().num_bytes}; }
  /// Returns the whole buffer, to receive into.
  std::span<std::byte> Room() { return {storage_.get(), sizeof(FrameHeader) + Capacity()}; }

  /// Swaps buffers and capacities; no byte is copied.
  void Swap(Frame& other) noexcept {
    std::swap(storage_, other.storage_);
    std::swap(room_, other.room_);
  }
  /// Takes the content of `other`; `other` is then a spare buffer with the same capacity as before. The content must fit.
  /// Buffers of equal capacity are swapped. Otherwise the bytes are copied, so that large buffers do not spread: if one
  /// large box and a thousand small ones swapped buffers, the small ones would in time hold a thousand large buffers.
  void Take(Frame& other) {
    if (room_ == other.room_) {
      Swap(other);
    } else {
      UIT_ASSERT(other.Header().num_bytes <= Capacity(), "a frame fits the buffer that takes it");
      std::memcpy(storage_.get(), other.storage_.get(), other.Bytes().size());
    }
  }

 private:
  UIT_NOINLINE void Allocate(std::size_t payload_bytes) {
    storage_ = std::make_unique_for_overwrite<std::byte[]>(sizeof(FrameHeader) + payload_bytes);
    room_ = payload_bytes + 1;
    Header() = FrameHeader{};
  }
  UIT_NOINLINE void Reallocate(std::size_t payload_bytes) {
    Frame larger(payload_bytes);
    if (HasBuffer()) std::memcpy(larger.storage_.get(), storage_.get(), Bytes().size());
    Swap(larger);
  }

  std::unique_ptr<std::byte[]> storage_;
  std::size_t room_ = 0;  // payload bytes that fit, plus 1; 0: no buffer
};

/// A frame whose payload is not in a buffer of its own, but for example in shared memory. `Byte` is std::byte or const std::byte.
template <typename Byte>
struct PlacedFrame {
  FrameHeader header{};     ///< a copy of the frame's header, or what will become it
  Byte* payload = nullptr;  ///< as many bytes as the header says

  FrameHeader& Header() { return header; }              ///< as in a Frame
  const FrameHeader& Header() const { return header; }  ///< as in a Frame
  Byte* Payload() const { return payload; }             ///< as in a Frame
};
using FrameView = PlacedFrame<const std::byte>;  ///< to be read
using FrameDraft = PlacedFrame<std::byte>;       ///< to be written

}  // namespace uit
