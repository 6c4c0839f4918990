#pragma once

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>
#include <uit/link/frame.hpp>

namespace uit {

/// What both halves of an aggregated exchange are built with.
struct AggregatedOptions {
  std::size_t num_channels = 1;         ///< ends that share frames
  std::size_t message_bytes = 0;        ///< encoded size of every message; 0: each has its own
  std::size_t max_message_bytes = 0;    ///< of the largest, if each has its own
  std::size_t payload_bytes = 0;        ///< of the largest frame
  std::size_t depth = 16;               ///< messages per channel that may be accepted and not stepped to
  std::size_t num_frames = 8;           ///< frames that may be under way and not taken in
  std::chrono::nanoseconds max_age{0};  ///< of a frame's first message, before a poll sends it; 0: polls send none
  bool departs_at_once = false;         ///< every put is flushed
};

/// A message of its own size stands behind its length.
using MessageLength = std::uint32_t;

/// Under Retain::every a frame is a row of these, each followed by its messages, in the order of their puts: the
/// messages alone if all have one size, else each behind its length.
struct MessageRun {
  std::uint32_t channel = 0;       ///< whose they are
  std::uint32_t num_messages = 0;  ///< how many follow
};

/// Under Retain::latest a frame is a row of these, each followed by its channel's newest message; of channels that
/// have spoken since they were last in a frame.
struct NewestRecord {
  std::uint64_t num_accepted = 0;  ///< messages of the channel from the beginning, with this one
  std::uint32_t channel = 0;       ///< whose it is
  std::uint32_t num_bytes = 0;     ///< of the message that follows
};

/// Values of FrameHeader::base in an aggregated exchange.
enum class FrameWish : std::uint64_t {
  none,   ///< a report when one is due
  report  ///< a report at once: the sender closes, and has more than there is room for
};

/// What the sender wishes by a frame.
inline FrameWish WishOf(const FrameHeader& header) { return static_cast<FrameWish>(header.base); }

/// Payload of frames for a buffer of about `buffer_bytes` in which `needed_bytes` must fit.
///
/// Messages of a little over 4 KiB cost MPI several times what smaller and larger ones do (measured with Open MPI in
/// one node: its eager limit), so that a buffer between 2 and 8 KiB becomes one of 8 KiB. Throws for more than 1 GiB.
inline std::size_t AggregatedPayloadBytes(std::size_t buffer_bytes, std::size_t needed_bytes) {
  constexpr std::size_t slow_from = 2048;
  constexpr std::size_t slow_until = 8192;
  constexpr std::size_t most = std::size_t{1} << 30;
  const std::size_t wanted = std::max(buffer_bytes, needed_bytes);
  if (wanted > most) throw Error("a buffer of " + std::to_string(wanted) + " bytes is larger than 1 GiB");
  return wanted > slow_from && wanted < slow_until ? slow_until : wanted;
}

/// Bytes in a row: appended at the tail, taken at the head. Room grows to four times what waits at once at most, and
/// then no more. An empty queue may borrow bytes instead. One thread at a time.
class ByteQueue {
 public:
  /// Where the next byte to take stands. Until the next Append.
  const std::byte* Head() const { return head_; }
  /// Takes bytes that are there.
  void Drop(std::size_t num_bytes) { head_ += num_bytes; }
  /// Bytes that wait.
  std::size_t NumBytes() const { return static_cast<std::size_t>(tail_ - head_); }
  /// Copies bytes to the tail; those borrowed too, so that they are needed no more.
  void Append(const std::byte* bytes, std::size_t num_bytes) {
    if (is_borrowing_ || num_bytes > capacity_ - static_cast<std::size_t>(tail_ - storage_.get())) MakeRoom(num_bytes);
    if (num_bytes != 0) std::memcpy(storage_.get() + (tail_ - storage_.get()), bytes, num_bytes);
    tail_ += num_bytes;
  }
  /// Takes from bytes that somebody else keeps, until they are used up or the next Append. Of an empty queue.
  void Borrow(ByteView bytes) {
    head_ = bytes.data();
    tail_ = bytes.data() + bytes.size();
    is_borrowing_ = true;
  }

 private:
  /// Moves what waits to the front; at least as much is free as was moved, so that a byte is moved once on average.
  void MakeRoom(std::size_t num_bytes) {
    const std::size_t num_waiting = NumBytes();
    if (2 * (num_waiting + num_bytes) > capacity_) {
      capacity_ = std::bit_ceil(2 * (num_waiting + num_bytes));
      auto larger = std::make_unique_for_overwrite<std::byte[]>(capacity_);
      if (num_waiting != 0) std::memcpy(larger.get(), head_, num_waiting);
      storage_ = std::move(larger);
    } else if (num_waiting != 0) {
      std::memmove(storage_.get(), head_, num_waiting);
    }
    head_ = storage_.get();
    tail_ = storage_.get() + num_waiting;
    is_borrowing_ = false;
  }

  std::unique_ptr<std::byte[]> storage_;
  std::size_t capacity_ = 0;
  const std::byte* head_ = nullptr;
  const std::byte* tail_ = nullptr;
  bool is_borrowing_ = false;
};

/// The bytes of one message, replaced by those of newer ones; room grows to a power of two.
class ByteSlot {
 public:
  /// Room for a message of that size; what was in the slot is lost if it has to grow.
  std::byte* Resize(std::size_t num_bytes) {
    if (num_bytes > capacity_) {
      capacity_ = std::bit_ceil(num_bytes);
      storage_ = std::make_unique_for_overwrite<std::byte[]>(capacity_);
    }
    num_bytes_ = num_bytes;
    return storage_.get();
  }
  /// The bytes in place.
  ByteView Bytes() const { return {storage_.get(), num_bytes_}; }
  /// Takes what `other` holds. Slots of one capacity are swapped, else the bytes are copied, so that large buffers do
  /// not stray to where small ones do.
  void Take(ByteSlot& other) {
    if (capacity_ == other.capacity_) {
      storage_.swap(other.storage_);
      std::swap(num_bytes_, other.num_bytes_);
    } else if (const ByteView bytes = other.Bytes(); !bytes.empty()) {
      std::memcpy(Resize(bytes.size()), bytes.data(), bytes.size());
    } else {
      num_bytes_ = 0;
    }
  }

 private:
  std::unique_ptr<std::byte[]> storage_;
  std::size_t capacity_ = 0;
  std::size_t num_bytes_ = 0;
};

}  // namespace uit
