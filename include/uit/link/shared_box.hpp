#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include <uit/config.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/shared_mailbox.hpp>
#include <uit/link/shared_ring.hpp>

namespace uit {

/// The putting end of a box of frames in shared memory: copies each frame there. One thread at a time.
///
/// Where all frames are read, one whose header says what the last one's did goes without it, as a marked record: a
/// message of a few bytes takes up little more than itself.
template <typename Writer>
class SharedOutbox {
 public:
  /// Of memory that has been created, and that the peer cannot have changed yet.
  explicit SharedOutbox(std::byte* memory) : SharedOutbox(Writer(memory)) {}
  /// Writes by `writer`.
  explicit SharedOutbox(const Writer& writer) : writer_(writer) {}

  /// Copies the frame if there is room; it is then a spare buffer. Throws, once, if the peer has stored in the memory what
  /// cannot be.
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
  /// The memory is not touched any more.
  void Detach() { is_detached_ = true; }

 private:
  Writer writer_;
  FrameHeader last_{};
  bool is_detached_ = false;
};

/// The stepping end: copies each frame into a buffer of its own. One thread at a time.
///
/// Where a writer may write over what is being read, the copy goes to a second buffer, and the two are exchanged once it is
/// known to be whole: so a step that fails leaves the frame before as it was.
///
/// A peer may store anything in the memory. A frame is given only if it is as long as what has arrived and no longer than
/// agreed on. What is none is an error, once; after it nothing more is read.
template <typename Reader>
class SharedInbox {
 public:
  /// Of memory that has been created, and that the peer cannot have changed yet, for frames of up to `payload_bytes`.
  SharedInbox(std::byte* memory, std::size_t payload_bytes) : SharedInbox(Reader(memory), payload_bytes) {}
  /// Of what `reader` reads, frames of up to `payload_bytes`.
  SharedInbox(const Reader& reader, std::size_t payload_bytes)
      : reader_(reader),
        payload_bytes_(payload_bytes),
        frame_(payload_bytes),
        spare_(Reader::keeps_order ? Frame{} : Frame{payload_bytes}) {}

  /// Goes on to the next frame: 1, or 0 if there is none; then Get is as before. So it is if this throws, for what is no
  /// frame.
  UIT_INLINE std::size_t TryStep(std::size_t) {
    if (is_detached_) return 0;
    if (!TryRead()) return 0;
    ++num_received_;
    return 1;
  }
  /// The frame last stepped to; its buffer may be swapped out.
  Frame& Get() { return frame_; }
  /// Frames stepped to.
  std::uint64_t NumReceived() const { return num_received_; }
  /// The memory is not touched any more.
  void Detach() { is_detached_ = true; }

 private:
  UIT_INLINE bool TryRead()
    requires Reader::keeps_order
  {
    const ByteView arrived = reader_.Front();
    if (arrived.data() == nullptr) {
      if (!arrived.empty()) [[unlikely]]
        Refuse("a peer has sent a record of " + std::to_string(arrived.size()) + " bytes, which ends beyond its ring");
      return false;
    }
    const ByteView payload = reader_.IsMarked() ? arrived : TakeHeader(arrived);
    if (payload.size() > payload_bytes_) [[unlikely]]
      RefuseLarge(payload.size());
    frame_.Reserve(payload_bytes_);
    frame_.Header() = last_;
    frame_.Header().num_bytes = static_cast<std::uint32_t>(payload.size());
    CopyBytes(frame_.Payload(), payload.data(), payload.size());
    reader_.Pop(arrived);
    return true;
  }
  /// The payload behind a header, of which a copy is what counts from here on.
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
  UIT_INLINE bool TryRead() {
    spare_.Reserve(payload_bytes_);
    const auto num_bytes = reader_.TryRead(spare_.Room().first(sizeof(FrameHeader) + payload_bytes_));
    if (!num_bytes) return false;
    if (*num_bytes - sizeof(FrameHeader) > payload_bytes_) [[unlikely]]
      RefuseSize(*num_bytes);
    if (*num_bytes - sizeof(FrameHeader) != spare_.Header().num_bytes) [[unlikely]]
      RefuseClaim(*num_bytes, spare_.Header().num_bytes);
    frame_.Swap(spare_);
    return true;
  }

  [[noreturn]] UIT_NOINLINE void RefuseSize(std::size_t num_bytes) {
    if (num_bytes < sizeof(FrameHeader)) RefuseShort(num_bytes);
    RefuseLarge(num_bytes - sizeof(FrameHeader));
  }
  [[noreturn]] UIT_NOINLINE void RefuseLarge(std::size_t num_bytes) {
    Refuse("a peer has sent a frame of " + std::to_string(num_bytes) + " bytes, which is larger than the " +
           std::to_string(payload_bytes_) + " that its exchange agreed on");
  }
  [[noreturn]] UIT_NOINLINE void RefuseShort(std::size_t num_bytes) {
    Refuse("a peer has sent " + std::to_string(num_bytes) + " bytes, which is too short for a frame");
  }
  [[noreturn]] UIT_NOINLINE void RefuseClaim(std::size_t num_bytes, std::size_t claimed) {
    Refuse("a peer has sent a frame of " + std::to_string(num_bytes - sizeof(FrameHeader)) + " bytes that claims " +
           std::to_string(claimed));
  }
  [[noreturn]] UIT_NOINLINE void Refuse(const std::string& words) {
    Detach();
    throw Error(words);
  }

  Reader reader_;
  std::size_t payload_bytes_;
  Frame frame_;
  Frame spare_;         // where a frame is copied that may turn out to be torn
  FrameHeader last_{};  // the last that came
  std::uint64_t num_received_ = 0;
  bool is_detached_ = false;
};

}  // namespace uit
