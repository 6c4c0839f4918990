#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <uit/config.hpp>
#include <uit/exchange/refuse_frame.hpp>
#include <uit/link/frame.hpp>

namespace uit {

/// How the frames of an exchange under Retain::every are laid out: a slot per channel, and, if some channels spoke and
/// others did not, a bit per channel for who did. The header's base counts the messages.
struct EveryFrame {
  std::size_t num_channels = 1;  ///< ends that share the frame
  std::size_t slot_bytes = 0;    ///< encoded size of a message

  /// Payload of a round, a frame for which all channels spoke; in others, where the bits begin.
  std::size_t SlotsBytes() const { return num_channels * slot_bytes; }
  /// Payload of the largest frame; the bits are whole 64-bit words.
  std::size_t MaxBytes() const { return SlotsBytes() + (num_channels + 63) / 64 * sizeof(std::uint64_t); }

  /// Whether all channels spoke.
  bool IsRound(const Frame& frame) const { return frame.Header().base == num_channels; }
  /// Throws for a frame that is not as long as those of the exchange for which as many channels spoke.
  UIT_INLINE void Check(const Frame& frame) const {
    const std::uint64_t num_spoken = frame.Header().base;
    const bool is_partial = num_spoken < num_channels && num_spoken != 0;
    const std::size_t num_bytes = num_spoken == 0 ? 0 : is_partial ? MaxBytes() : SlotsBytes();
    if (num_spoken > num_channels || frame.Header().num_bytes != num_bytes) [[unlikely]]
      RefuseFrame(frame);
  }
  /// Whether the channel's slot holds a message; of a frame that is no round, and not empty.
  bool HasSpoken(const Frame& frame, std::size_t channel) const {
    return (frame.Payload()[SlotsBytes() + channel / 8] & Bit(channel)) != std::byte{0};
  }
  /// Where a channel's encoded message stands, if it has spoken.
  const std::byte* Slot(const Frame& frame, std::size_t channel) const {
    return frame.Payload() + channel * slot_bytes;
  }
  /// Ends a frame whose slots are written, and in which `has_spoken(channel)` tells for whom if not for all. The frame
  /// has room for MaxBytes.
  template <std::predicate<std::size_t> F>
  void Seal(Frame& frame, std::size_t num_spoken, F&& has_spoken) const {
    StoreIfNew(frame.Header().base, num_spoken);
    StoreIfNew(frame.Header().num_bytes, static_cast<std::uint32_t>(num_spoken == 0 ? 0 : SlotsBytes()));
    if (num_spoken == 0 || num_spoken == num_channels) return;
    frame.Header().num_bytes = static_cast<std::uint32_t>(MaxBytes());
    std::byte* const bits = frame.Payload() + SlotsBytes();
    std::memset(bits, 0, MaxBytes() - SlotsBytes());
    for (std::size_t channel = 0; channel < num_channels; ++channel) {
      if (has_spoken(channel)) bits[channel / 8] |= Bit(channel);
    }
  }

 private:
  static std::byte Bit(std::size_t channel) { return std::byte{1} << (channel % 8); }
};

/// How a report is laid out: frames pulled in the header's base, then messages stepped past, per channel. All are
/// cumulative, so a report replaces any older one.
struct ReportFrame {
  std::size_t num_channels = 1;  ///< as in the frames reported on

  /// Payload of every report.
  std::size_t MaxBytes() const { return num_channels * sizeof(std::uint64_t); }
  /// Messages of the channel stepped past since the exchange began.
  static std::uint64_t NumStepped(const Frame& frame, std::size_t channel) {
    std::uint64_t count = 0;
    std::memcpy(&count, frame.Payload() + channel * sizeof count, sizeof count);
    return count;
  }
};

}  // namespace uit
