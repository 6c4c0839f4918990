#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <uit/config.hpp>
#include <uit/exchange/refuse_frame.hpp>
#include <uit/link/frame.hpp>

namespace uit {

/// Layout of the frames of an exchange under Retain::latest. A frame has one slot per channel with its newest message,
/// and the number of messages that the channel had accepted by then.
///
/// Each frame holds the newest message of every channel, including channels without a new one. So a frame may replace any
/// older one, and no channel's newest message is lost. The counts tell how many messages were replaced. If all channels
/// have the same count, the frame stores it once, in the header. Each `F` is a Frame, a FrameView or a FrameDraft.
struct LatestFrame {
  std::size_t num_channels = 1;  ///< channels that share the frame
  std::size_t slot_bytes = 0;    ///< encoded size of a message
  std::size_t note_bytes = 0;    ///< after the slots, for the exchange's owner to use

  /// Size of all slots.
  std::size_t SlotsBytes() const { return num_channels * slot_bytes; }
  /// Payload of the smallest frame, which has no counts.
  std::size_t MinBytes() const { return SlotsBytes() + note_bytes; }
  /// Payload of the largest frame.
  std::size_t MaxBytes() const { return MinBytes() + num_channels * sizeof(std::uint64_t); }

  /// Returns the encoded message of a channel. It is valid only if Count is not 0.
  template <typename F>
  const std::byte* Slot(const F& frame, std::size_t channel) const {
    return frame.Payload() + channel * slot_bytes;
  }
  /// Returns the address of the owner's note.
  template <typename F>
  auto* Note(F& frame) const {
    return frame.Payload() + SlotsBytes();
  }
  /// Whether all channels have the same count, stored in the header.
  template <typename F>
  bool IsUniform(const F& frame) const {
    return frame.Header().num_bytes == MinBytes();
  }
  /// Returns how many messages the channel had accepted since the exchange began when the frame departed.
  template <typename F>
  std::uint64_t Count(const F& frame, std::size_t channel) const {
    if (IsUniform(frame)) return frame.Header().base;
    std::uint64_t count = 0;
    std::memcpy(&count, frame.Payload() + MinBytes() + channel * sizeof count, sizeof count);
    return count;
  }
  /// Throws if the frame's length is not one that the exchange uses.
  template <typename F>
  UIT_INLINE void Check(const F& frame) const {
    if (IsUniform(frame) || frame.Header().num_bytes == MaxBytes()) [[likely]]
      return;
    RefuseFrame(frame.Header());
  }
  /// Completes a frame whose slots and note are written. Stores counts[channel], or `uniform` for all if counts is null.
  template <typename F>
  void Seal(F& frame, const std::uint64_t* counts, std::uint64_t uniform) const {
    frame.Header().base = uniform;
    frame.Header().num_bytes = static_cast<std::uint32_t>(MinBytes());
    if (counts == nullptr) return;
    std::memcpy(frame.Payload() + MinBytes(), counts, num_channels * sizeof(std::uint64_t));
    frame.Header().num_bytes = static_cast<std::uint32_t>(MaxBytes());
  }
};

}  // namespace uit
