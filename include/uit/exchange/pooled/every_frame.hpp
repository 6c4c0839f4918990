#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <uit/config.hpp>
#include <uit/exchange/refuse_frame.hpp>
#include <uit/link/frame.hpp>

namespace uit {

/// Layout of the frames of an exchange under Retain::every. A frame has one slot per channel. If only some channels
/// contributed a message, one bit per channel follows that tells which. The header's base counts the messages. Each `F` is a Frame or
/// a FrameView.
struct EveryFrame {
  std::size_t num_channels = 1;  ///< channels that share the frame
  std::size_t slot_bytes = 0;    ///< encoded size of a message

  /// Payload of a full round, that is, a frame to which all channels contributed. In a partial frame, the bits begin
  /// here.
  std::size_t SlotsBytes() const { return num_channels * slot_bytes; }
  /// Payload of the largest frame; the bits are whole 64-bit words.
  std::size_t MaxBytes() const { return SlotsBytes() + (num_channels + 63) / 64 * sizeof(std::uint64_t); }

  /// Whether all channels contributed to the frame.
  template <typename F>
  bool IsRound(const F& frame) const { return frame.Header().base == num_channels; }
  /// Throws if the frame's length does not match its number of messages.
  template <typename F>
  UIT_INLINE void Check(const F& frame) const {
    const std::uint64_t num_contributors = frame.Header().base;
    const bool is_partial = num_contributors < num_channels && num_contributors != 0;
    const std::size_t num_bytes = num_contributors == 0 ? 0 : is_partial ? MaxBytes() : SlotsBytes();
    if (num_contributors > num_channels || frame.Header().num_bytes != num_bytes) [[unlikely]]
      RefuseFrame(frame.Header());
  }
  /// Whether the channel contributed a message. Call it only for a partial frame: neither empty nor a full round.
  template <typename F>
  bool HasContributed(const F& frame, std::size_t channel) const {
    return (frame.Payload()[SlotsBytes() + channel / 8] & Bit(channel)) != std::byte{0};
  }
  /// Returns the encoded message of a channel, if it contributed one.
  const std::byte* Slot(const Frame& frame, std::size_t channel) const {
    return frame.Payload() + channel * slot_bytes;
  }
  /// Completes a frame whose slots are written. If only some channels contributed, `has_contributed(channel)` tells
  /// which. The frame must have room for MaxBytes.
  template <std::predicate<std::size_t> F>
  void Seal(Frame& frame, std::size_t num_contributors, F&& has_contributed) const {
    StoreIfNew(frame.Header().base, num_contributors);
    StoreIfNew(frame.Header().num_bytes, static_cast<std::uint32_t>(num_contributors == 0 ? 0 : SlotsBytes()));
    if (num_contributors == 0 || num_contributors == num_channels) return;
    frame.Header().num_bytes = static_cast<std::uint32_t>(MaxBytes());
    std::byte* const bits = frame.Payload() + SlotsBytes();
    std::memset(bits, 0, MaxBytes() - SlotsBytes());
    for (std::size_t channel = 0; channel < num_channels; ++channel) {
      if (has_contributed(channel)) bits[channel / 8] |= Bit(channel);
    }
  }

 private:
  static std::byte Bit(std::size_t channel) { return std::byte{1} << (channel % 8); }
};

/// Layout of a report. The header's base counts the frames pulled. The payload holds, per channel, the number of messages
/// stepped past. All numbers are cumulative, so a report replaces all older ones.
struct ReportFrame {
  std::size_t num_channels = 1;  ///< as in the frames reported on

  /// Payload of every report.
  std::size_t MaxBytes() const { return num_channels * sizeof(std::uint64_t); }
  /// Returns the number of messages of the channel stepped past since the exchange began.
  static std::uint64_t NumStepped(const Frame& frame, std::size_t channel) {
    std::uint64_t count = 0;
    std::memcpy(&count, frame.Payload() + channel * sizeof count, sizeof count);
    return count;
  }
};

}  // namespace uit
