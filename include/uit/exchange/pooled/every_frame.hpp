#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <uit/wire/frame.hpp>

namespace uit {

/// How the frames of an exchange under Retain::every are laid out: a bit per channel for who spoke, and a slot per
/// channel. The header's base counts the messages.
struct EveryFrame {
  std::size_t num_channels = 1;  ///< ends that share the frame
  std::size_t slot_bytes = 0;    ///< encoded size of a message

  /// Bytes of the bits, which come first; whole 64-bit words.
  std::size_t BitsBytes() const { return (num_channels + 63) / 64 * sizeof(std::uint64_t); }
  /// Payload of a frame.
  std::size_t MaxBytes() const { return BitsBytes() + num_channels * slot_bytes; }
  /// Where a channel's encoded message goes. The frame has room for MaxBytes.
  std::byte* Slot(Frame& frame, std::size_t channel) const {
    return frame.Payload() + BitsBytes() + channel * slot_bytes;
  }
  /// Where a channel's encoded message stands, if HasSpoken.
  const std::byte* Slot(const Frame& frame, std::size_t channel) const {
    return frame.Payload() + BitsBytes() + channel * slot_bytes;
  }
  /// Whether the channel's slot holds a message.
  static bool HasSpoken(const Frame& frame, std::size_t channel) {
    return (frame.Payload()[channel / 8] & Bit(channel)) != std::byte{0};
  }
  /// Marks the channel's slot as holding a message. Counting it is the caller's.
  static void SetSpoken(Frame& frame, std::size_t channel) { frame.Payload()[channel / 8] |= Bit(channel); }

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
