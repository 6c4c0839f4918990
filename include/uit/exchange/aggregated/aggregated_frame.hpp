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

/// Options of both halves of an aggregated exchange.
struct AggregatedOptions {
  std::size_t num_channels = 1;         ///< channels that share frames
  std::size_t message_bytes = 0;        ///< encoded size of every message; 0: sizes vary
  std::size_t max_message_bytes = 0;    ///< size of the largest message, if sizes vary
  std::size_t payload_bytes = 0;        ///< payload of the largest frame
  std::size_t depth = 16;               ///< messages per channel accepted and not stepped to, at most
  std::size_t num_frames = 8;           ///< frames in flight and not yet pulled, at most
  std::chrono::nanoseconds max_age{0};  ///< age of a frame's first message at which a poll sends the frame; 0: polls send none
  bool departs_at_once = false;         ///< whether every put is flushed
  bool lends = false;                   ///< whether large messages are written and read in memory that both sides share
};

/// The smallest message that is written and read in shared memory rather than through a buffer of each process, in bytes.
/// microbenchmarks/uit/exchange/large_message_mpi_benchmark.cpp compares the two.
inline constexpr std::size_t min_lent_bytes = 8192;

/// The length before each message, if sizes vary. Eight bytes, so that the elements of a frame's first message are aligned.
using MessageLength = std::uint64_t;

/// Header of a run of messages. Under Retain::every, a frame is a sequence of these headers, each followed by its
/// messages in the order of their puts. If sizes vary, each message follows its length.
struct MessageRun {
  std::uint32_t channel = 0;       ///< the channel of the messages
  std::uint32_t num_messages = 0;  ///< number of messages that follow
};

/// Header of a newest message. Under Retain::latest, a frame is a sequence of these headers, each followed by its
/// channel's newest message. A frame contains the channels that have put since they were last in a frame.
struct NewestRecord {
  std::uint64_t num_accepted = 0;  ///< messages of the channel accepted so far, including this one
  std::uint32_t channel = 0;       ///< the channel of the message
  std::uint32_t num_bytes = 0;     ///< size of the message that follows
};

/// Values of FrameHeader::base in an aggregated exchange.
enum class FrameRequest : std::uint64_t {
  none,   ///< send a report when one is due
  report  ///< send a report at once: the sender is closing and has more frames than room
};

/// Returns what the sender requests with a frame.
inline FrameRequest RequestOf(const FrameHeader& header) { return static_cast<FrameRequest>(header.base); }

/// The largest payload of a frame.
inline constexpr std::size_t max_payload_bytes = std::size_t{1} << 30U;

/// Returns the payload of frames for a buffer of about `buffer_bytes` in which `needed_bytes` must fit.
///
/// Messages of a little over 4 KiB cost MPI several times as much as smaller and larger ones (measured with Open MPI on
/// one host: its eager limit). So a buffer between 2 and 8 KiB becomes one of 8 KiB. Throws for more than 1 GiB.
inline std::size_t AggregatedPayloadBytes(std::size_t buffer_bytes, std::size_t needed_bytes) {
  constexpr std::size_t slow_from = 2048;
  constexpr std::size_t slow_until = 8192;
  const std::size_t wanted = std::max(buffer_bytes, needed_bytes);
  if (wanted > max_payload_bytes) throw Error("a buffer of " + std::to_string(wanted) + " bytes is larger than 1 GiB");
  return wanted > slow_from && wanted < slow_until ? slow_until : wanted;
}

/// A queue of bytes: Append adds them at the tail, Drop takes them at the head. Its storage grows to at most four times
/// the bytes that wait at once. An empty queue may instead refer to bytes stored elsewhere (Borrow). One thread at a
/// time.
class ByteQueue {
 public:
  /// Returns the next byte to take. Valid until the next Append.
  const std::byte* Head() const { return head_; }
  /// Takes bytes, which must wait.
  void Drop(std::size_t num_bytes) { head_ += num_bytes; }
  /// Returns the number of bytes that wait.
  std::size_t NumBytes() const { return static_cast<std::size_t>(tail_ - head_); }
  /// Returns the bytes that were appended last.
  ByteView Tail(std::size_t num_bytes) const { return {tail_ - num_bytes, num_bytes}; }
  /// Takes bytes back that were appended last.
  void CutTail(std::size_t num_bytes) { tail_ -= num_bytes; }
  /// Copies bytes to the tail. Copies borrowed bytes too, so that their owner may free them.
  void Append(const std::byte* bytes, std::size_t num_bytes) {
    if (is_borrowing_ || num_bytes > capacity_ - static_cast<std::size_t>(tail_ - storage_.get())) MakeRoom(num_bytes);
    if (num_bytes != 0) std::memcpy(storage_.get() + (tail_ - storage_.get()), bytes, num_bytes);
    tail_ += num_bytes;
  }
  /// Refers to bytes stored elsewhere, until they are taken or the next Append. The queue must be empty.
  void Borrow(ByteView bytes) {
    head_ = bytes.data();
    tail_ = bytes.data() + bytes.size();
    is_borrowing_ = true;
  }

 private:
  /// Moves the waiting bytes to the front. Leaves at least as much room as was moved, so that each byte is moved once on
  /// average.
  void MakeRoom(std::size_t num_bytes) {
    const std::size_t num_waiting = NumBytes();
    if (2 * (num_waiting + num_bytes) > capacity_) {
      const std::size_t capacity = std::bit_ceil(2 * (num_waiting + num_bytes));
      auto larger = std::make_unique_for_overwrite<std::byte[]>(capacity);
      if (num_waiting != 0) std::memcpy(larger.get(), head_, num_waiting);
      storage_ = std::move(larger);
      capacity_ = capacity;
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

/// The bytes of one message, replaced by newer ones. Its storage grows to a power of two.
class ByteSlot {
 public:
  /// Makes room for a message of `num_bytes` and returns where to write it. The old bytes are lost if the storage has to
  /// grow.
  std::byte* Resize(std::size_t num_bytes) {
    if (num_bytes > capacity_) {
      const std::size_t capacity = std::bit_ceil(num_bytes);
      storage_ = std::make_unique_for_overwrite<std::byte[]>(capacity);
      capacity_ = capacity;
    }
    num_bytes_ = num_bytes;
    return storage_.get();
  }
  /// Returns the bytes of the message.
  ByteView Bytes() const { return {storage_.get(), num_bytes_}; }
  /// Takes the bytes of `other`. Slots of equal capacity are swapped. Otherwise the bytes are copied, so that a small
  /// slot does not receive a large buffer.
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
