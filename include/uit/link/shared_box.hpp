#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <uit/config.hpp>
#include <uit/support/bytes.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/shared_mailbox.hpp>
#include <uit/link/shared_ring.hpp>

namespace uit {

namespace detail {

/// Throws: a frame is larger than the `max_bytes` that its exchange agreed on.
[[noreturn]] void RefuseLargeFrame(std::size_t num_bytes, std::size_t max_bytes);
/// Throws: a record is too short for a frame.
[[noreturn]] void RefuseShortFrame(std::size_t num_bytes);
/// Throws: the frame in a record of `num_bytes` bytes claims to have `claimed`.
[[noreturn]] void RefuseClaimedBytes(std::size_t num_bytes, std::size_t claimed);
/// Throws: a record ends beyond its ring, or is in no slot of its mailbox.
[[noreturn]] void RefuseRecordEnd(std::size_t num_bytes);

}  // namespace detail

/// The putting end of a box in shared memory: copies each frame there. One thread at a time.
///
/// If the reader reads all frames, a frame whose header equals the last one's is sent without its header, as a marked
/// record. So a message of a few bytes takes little more memory than itself.
template <typename Writer>
class SharedOutbox {
 public:
  /// Writes through `writer`.
  explicit SharedOutbox(const Writer& writer) : writer_(writer) {}

  /// Copies the frame if there is room; it is then a spare buffer. Returns false if there is none. Throws once if the
  /// peer has stored an impossible value in the memory.
  UIT_INLINE bool TryPut(Frame&& frame) {
    const ByteView bytes = frame.Bytes();
    if (is_detached_ || !writer_.HasRoom(bytes.size())) return false;
    if constexpr (Writer::keeps_order) {
      const FrameHeader& header = frame.Header();
      if (header.base == last_.base && header.update == last_.update && header.last == last_.last) {
        writer_.Write(bytes.subspan(sizeof(FrameHeader)), true);
        return true;
      }
      last_ = header;
    }
    writer_.Write(bytes);
    return true;
  }
  /// Returns where to write a payload of up to `payload_bytes`, so that it need not be copied here, or null if there is no room.
  /// Throws as TryPut does. Nothing is sent until Publish. After a TryPut the memory must no longer be written.
  UIT_INLINE std::byte* TryLend(std::size_t payload_bytes) {
    num_lent_ = sizeof(FrameHeader) + payload_bytes;
    if (is_detached_ || !writer_.HasRoom(num_lent_)) return nullptr;
    return writer_.Reserve(num_lent_) + sizeof(FrameHeader);
  }
  /// Sends the payload written to the result of the last TryLend. Its size is in `header`. Nothing was put meanwhile.
  UIT_INLINE void Publish(const FrameHeader& header) {
    if (is_detached_) return;
    last_ = header;
    std::memcpy(writer_.Reserve(num_lent_), &header, sizeof header);
    writer_.Commit(sizeof header + header.num_bytes, num_lent_);
  }
  /// Stops all use of the memory.
  void Detach() { is_detached_ = true; }

 private:
  Writer writer_;
  FrameHeader last_{};
  std::size_t num_lent_ = 0;  // bytes of the record in which TryLend gave room
  bool is_detached_ = false;
};

/// The stepping end: copies each frame into a buffer of its own, or shows it where it lies. One thread at a time.
///
/// A peer may store anything in the memory. A frame is returned only if its length matches the bytes that arrived and
/// does not exceed the agreed maximum. An invalid frame throws once; after it nothing more is read.
template <typename Reader>
class SharedInbox {
 public:
  /// Reads through `reader`, with payloads of up to `payload_bytes`. Lends payloads of at least `lend_from`, see Lent.
  SharedInbox(const Reader& reader, std::size_t payload_bytes, std::size_t lend_from = ~std::size_t{0})
      : reader_(reader), payload_bytes_(payload_bytes), lend_from_(lend_from), frame_(payload_bytes) {}

  /// Moves to the next frame and returns 1, or returns 0 if there is none. Throws if it is invalid. If it returns 0 or
  /// throws, Get is unchanged.
  UIT_INLINE std::size_t TryStep(std::size_t) {
    if (is_detached_) return 0;
    if (!TryRead()) return 0;
    ++num_received_;
    return 1;
  }
  /// Returns the frame last stepped to; the caller may swap its buffer out. If its payload is lent, the frame is only a header.
  Frame& Get() { return frame_; }
  /// Returns the payload of the frame last stepped to, if it is read in shared memory instead of being copied; else an empty
  /// view. It stays valid until the next TryStep that succeeds or throws, or Detach. The peer may change its bytes at any time.
  ByteView Lent() const { return lent_; }
  /// Returns the number of frames stepped to.
  std::uint64_t NumReceived() const { return num_received_; }
  /// Stops all use of the memory.
  void Detach() { is_detached_ = true; }

 private:
  UIT_INLINE bool TryRead() {
    const ByteView arrived = reader_.Front();
    if (arrived.data() == nullptr) {
      if (!arrived.empty()) [[unlikely]]
        RefuseEnd(arrived.size());
      return false;
    }
    const ByteView payload = reader_.IsMarked() ? arrived : TakeHeader(arrived);
    if (payload.size() > payload_bytes_) [[unlikely]]
      RefuseLarge(payload.size());
    const bool is_lent = payload.size() >= lend_from_;
    frame_.Reserve(is_lent ? 0 : payload_bytes_);
    frame_.Header() = last_;
    frame_.Header().num_bytes = static_cast<std::uint32_t>(payload.size());
    if (is_lent) {
      Lend(arrived, payload);
      return true;
    }
    lent_ = {};
    CopyBytes(frame_.Payload(), payload.data(), payload.size());
    reader_.Pop(arrived);
    return true;
  }
  UIT_INLINE void Lend(ByteView arrived, ByteView payload) {
    reader_.GiveBack();  // the record lent before
    lent_ = payload;
    reader_.Pass(arrived);
  }
  /// Returns the payload after the header. Copies the header, and uses only the copy from then on.
  UIT_INLINE ByteView TakeHeader(ByteView arrived) {
    FrameHeader header;
    if (arrived.size() < sizeof header) [[unlikely]]
      RefuseShort(arrived.size());
    std::memcpy(&header, arrived.data(), sizeof header);
    if (header.num_bytes != arrived.size() - sizeof header) [[unlikely]]
      RefuseClaim(arrived.size(), header.num_bytes);
    last_ = header;
    return arrived.subspan(sizeof header);
  }

  // The errors are composed outside of the template, which most programs instantiate for both readers.
  [[noreturn]] UIT_NOINLINE void RefuseLarge(std::size_t num_bytes) {
    Detach();
    detail::RefuseLargeFrame(num_bytes, payload_bytes_);
  }
  [[noreturn]] UIT_NOINLINE void RefuseShort(std::size_t num_bytes) {
    Detach();
    detail::RefuseShortFrame(num_bytes);
  }
  [[noreturn]] UIT_NOINLINE void RefuseClaim(std::size_t num_bytes, std::size_t claimed) {
    Detach();
    detail::RefuseClaimedBytes(num_bytes, claimed);
  }
  [[noreturn]] UIT_NOINLINE void RefuseEnd(std::size_t num_bytes) {
    Detach();
    detail::RefuseRecordEnd(num_bytes);
  }

  Reader reader_;
  std::size_t payload_bytes_;
  std::size_t lend_from_;
  ByteView lent_{};
  Frame frame_;
  FrameHeader last_{};  // the header received last
  std::uint64_t num_received_ = 0;
  bool is_detached_ = false;
};

}  // namespace uit

#if !UIT_COMPILED
#include <uit/link/shared_box.ipp>
#endif
