#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <uit/config.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>
#include <uit/wire/frame.hpp>
#include <uit/wire/shared_mailbox.hpp>
#include <uit/wire/shared_ring.hpp>

namespace uit {

/// The putting end of a box of frames in shared memory: copies each frame there. One thread at a time.
///
/// Where all frames are read, one whose header says what the last one's did goes without it, as a marked record: a
/// message of a few bytes takes up little more than itself.
template <typename Writer>
class SharedOutbox {
 public:
  /// Of memory that has been created.
  explicit SharedOutbox(std::byte* memory) : writer_(memory) {}

  /// Copies the frame if there is room; it is then a spare buffer.
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
template <typename Reader>
class SharedInbox {
 public:
  /// Of memory that has been created, for frames of up to `payload_bytes`.
  SharedInbox(std::byte* memory, std::size_t payload_bytes)
      : reader_(memory),
        payload_bytes_(payload_bytes),
        frame_(payload_bytes),
        spare_(Reader::keeps_order ? Frame{} : Frame{payload_bytes}) {}

  /// Goes on to the next frame: 1, or 0 if there is none; then Get is as before. Throws for one that is larger than agreed on.
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
    if (arrived.data() == nullptr) return false;
    frame_.Reserve(payload_bytes_);
    const std::size_t head_bytes = reader_.IsMarked() ? sizeof(FrameHeader) : 0;
    const auto room = frame_.Room().subspan(head_bytes);
    CheckSize(arrived.size(), room.size());
    CopyBytes(room.data(), arrived.data(), arrived.size());
    reader_.Pop(arrived);
    if (head_bytes == 0) {
      last_ = frame_.Header();
    } else {
      frame_.Header() = last_;
      frame_.Header().num_bytes = static_cast<std::uint32_t>(arrived.size());
    }
    return true;
  }
  UIT_INLINE bool TryRead() {
    spare_.Reserve(payload_bytes_);
    const auto num_bytes = reader_.TryRead(spare_.Room());
    if (!num_bytes) return false;
    CheckSize(*num_bytes, spare_.Room().size());
    frame_.Swap(spare_);
    return true;
  }
  static void CheckSize(std::size_t num_bytes, std::size_t room) {
    if (num_bytes > room) throw Error("a frame is larger than its exchange agreed on");
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
