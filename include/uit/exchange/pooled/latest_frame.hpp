#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <uit/config.hpp>
#include <uit/exchange/refuse_frame.hpp>
#include <uit/link/frame.hpp>

namespace uit {

/// How the frames of an exchange under Retain::latest are laid out: a slot per channel with its newest message,
/// and how many messages the channel had accepted by then.
///
/// Each frame holds every channel, whether it has spoken since or not, so a frame may replace any older one
/// without a channel's newest message being lost; and what was replaced follows from the counts. While all
/// channels have the same count, it stands once, in the header.
struct LatestFrame {
  std::size_t num_channels = 1;  ///< ends that share the frame
  std::size_t slot_bytes = 0;    ///< encoded size of a message

  /// Payload of the smallest frame: the slots, and no counts.
  std::size_t SlotsBytes() const { return num_channels * slot_bytes; }
  /// Payload of the largest frame.
  std::size_t MaxBytes() const { return SlotsBytes() + num_channels * sizeof(std::uint64_t); }

  /// Where a channel's encoded message stands; it means something once Count is not 0.
  const std::byte* Slot(const Frame& frame, std::size_t channel) const {
    return frame.Payload() + channel * slot_bytes;
  }
  /// Whether all channels have the count in the header.
  bool IsUniform(const Frame& frame) const { return frame.Header().num_bytes == SlotsBytes(); }
  /// Messages that the channel had accepted, from the beginning, when the frame departed.
  std::uint64_t Count(const Frame& frame, std::size_t channel) const {
    if (IsUniform(frame)) return frame.Header().base;
    std::uint64_t count = 0;
    std::memcpy(&count, frame.Payload() + SlotsBytes() + channel * sizeof count, sizeof count);
    return count;
  }
  /// Throws for a frame that is not as long as those of the exchange.
  UIT_INLINE void Check(const Frame& frame) const {
    if (IsUniform(frame) || frame.Header().num_bytes == MaxBytes()) [[likely]]
      return;
    RefuseFrame(frame);
  }
  /// Ends a frame whose slots are written: counts[channel], or `uniform` if counts is null.
  void Seal(Frame& frame, const std::uint64_t* counts, std::uint64_t uniform) const {
    frame.Header().base = uniform;
    frame.Header().num_bytes = static_cast<std::uint32_t>(SlotsBytes());
    if (counts == nullptr) return;
    std::memcpy(frame.Payload() + SlotsBytes(), counts, num_channels * sizeof(std::uint64_t));
    frame.Header().num_bytes = static_cast<std::uint32_t>(MaxBytes());
  }
};

}  // namespace uit
