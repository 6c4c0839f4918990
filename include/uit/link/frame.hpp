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

/// What a frame is for.
enum class FrameKind : std::uint16_t {
  data,    ///< messages of an exchange
  credit,  ///< acknowledges frames, carries nothing
  close    ///< the sender's last frame but acknowledgements
};

/// First bytes of every frame on the wire. Ranks of a job share one byte order, so it travels as it is.
struct FrameHeader {
  std::uint32_t entry = 0;           ///< index of the receiving box at the receiver
  FrameKind kind = FrameKind::data;  ///< data is for a box, all else for the wire
  std::uint16_t last = 0;            ///< 1: the sender's exchange ends `update` with this frame
  std::uint32_t acknowledged = 0;    ///< frames received from the addressee so far, modulo 2^32
  std::uint32_t num_bytes = 0;       ///< bytes of payload behind the header
  std::uint64_t update = 0;          ///< the sender's update when the frame departed
  std::uint64_t base = 0;            ///< the exchange's own: a count
};
static_assert(sizeof(FrameHeader) == 32);

/// Stores a value unless it is there already, as it mostly is where buffers go round: a store may have to wait in line
/// behind others for another core's memory, and a load need not.
template <std::equality_comparable V>
UIT_INLINE void StoreIfNew(V& to, std::type_identity_t<V> value) {
  if (to != value) to = value;
}

/// A header and a payload in one buffer, which moves by swap, so that buffers circulate and a steady
/// state allocates nothing: after `a = std::move(b)`, b holds the buffer that a had.
///
/// Where frames of several sizes meet, they move by Take.
class Frame {
 public:
  Frame() = default;
  /// A frame with room for `payload_bytes`.
  explicit Frame(std::size_t payload_bytes) { Reserve(payload_bytes); }
  /// Takes the buffer; `other` then has none.
  Frame(Frame&& other) noexcept { Swap(other); }
  /// Exchanges the buffers, so that `other` holds a spare one.
  Frame& operator=(Frame&& other) noexcept {
    Swap(other);
    return *this;
  }

  /// Makes room for a payload; what was in the frame is lost if it has to grow. New buffers have a clean header.
  UIT_INLINE void Reserve(std::size_t payload_bytes) {
    if (payload_bytes >= room_) [[unlikely]]
      Allocate(payload_bytes);
  }
  /// The same, but what is in the frame stays.
  UIT_INLINE void Grow(std::size_t payload_bytes) {
    if (payload_bytes > Capacity()) [[unlikely]] Reallocate(payload_bytes);
  }

  /// Bytes of payload that fit.
  std::size_t Capacity() const { return room_ != 0 ? room_ - 1 : 0; }
  /// Whether the frame has a buffer at all; header and payload may be touched only then.
  bool HasBuffer() const { return storage_ != nullptr; }

  /// The first bytes of the buffer. Only if HasBuffer.
  FrameHeader& Header() { return *reinterpret_cast<FrameHeader*>(storage_.get()); }
  /// The first bytes of the buffer. Only if HasBuffer.
  const FrameHeader& Header() const { return *reinterpret_cast<const FrameHeader*>(storage_.get()); }
  /// Capacity() bytes behind the header. Only if HasBuffer.
  std::byte* Payload() { return storage_.get() + sizeof(FrameHeader); }
  /// Capacity() bytes behind the header. Only if HasBuffer.
  const std::byte* Payload() const { return storage_.get() + sizeof(FrameHeader); }

  /// The bytes that travel: header and payload.
  std::span<const std::byte> Bytes() const { return {storage_.get(), sizeof(FrameHeader) + Header().num_bytes}; }
  /// The whole buffer, to receive into.
  std::span<std::byte> Room() { return {storage_.get(), sizeof(FrameHeader) + Capacity()}; }

  /// Exchanges buffers and capacities; no byte is copied.
  void Swap(Frame& other) noexcept {
    std::swap(storage_, other.storage_);
    std::swap(room_, other.room_);
  }
  /// Takes what `other` holds; `other` is then a spare buffer of the same capacity as before. Buffers of one capacity
  /// are swapped. Else the bytes are copied, so that large buffers do not stray to where small ones do: a thousand
  /// small boxes beside one large would come to hold a thousand large ones. There must be room.
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
  std::size_t room_ = 0;  // one more than the bytes of payload that fit; 0: there is no buffer
};

}  // namespace uit
