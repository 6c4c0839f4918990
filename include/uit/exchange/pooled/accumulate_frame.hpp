#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <uit/exchange/refuse_frame.hpp>
#include <uit/link/frame.hpp>

namespace uit {

/// Adds the encoded message at `from` to the one at `into`. Returns false, with nothing changed, if the sum would
/// overflow.
using FoldFunction = bool (*)(std::byte* into, const std::byte* from);

/// Layout of the frames of an exchange under Retain::accumulate.
///
/// A frame has one slot per channel, with the sum of the messages put since the last frame, and the number of these
/// messages. If the number is 0, the slot is not used. If all channels have the same number, the frame stores it once, in
/// the header.
struct AccumulateFrame {
  std::size_t num_channels = 1;  ///< channels that share the frame
  std::size_t slot_bytes = 0;    ///< encoded size of a message

  /// Payload of a frame without counts.
  std::size_t SlotsBytes() const { return num_channels * slot_bytes; }
  /// Payload of the largest frame.
  std::size_t MaxBytes() const { return SlotsBytes() + num_channels * sizeof(std::uint64_t); }

  /// Returns the encoded sum of a channel. It is valid only if Count is not 0.
  const std::byte* Slot(const Frame& frame, std::size_t channel) const {
    return frame.Payload() + channel * slot_bytes;
  }
  /// Returns the number of messages in the sum of a channel.
  std::uint64_t Count(const Frame& frame, std::size_t channel) const {
    if (frame.Header().num_bytes != MaxBytes()) return frame.Header().base;
    std::uint64_t count = 0;
    std::memcpy(&count, frame.Payload() + SlotsBytes() + channel * sizeof count, sizeof count);
    return count;
  }
  /// Throws if the frame's length is not one that the exchange uses.
  void Check(const Frame& frame) const {
    const std::size_t num_bytes = frame.Header().num_bytes;
    if (num_bytes != 0 && num_bytes != SlotsBytes() && num_bytes != MaxBytes()) RefuseFrame(frame.Header());
  }
  /// Writes the whole payload and the header's size and base. The frame must have room for MaxBytes.
  void Write(Frame& frame, const std::byte* sums, const std::uint64_t* counts) const {
    bool is_uniform = true;
    for (std::size_t channel = 1; channel < num_channels; ++channel) is_uniform &= counts[channel] == counts[0];
    frame.Header().base = is_uniform ? counts[0] : 0;
    frame.Header().num_bytes = static_cast<std::uint32_t>(is_uniform ? SlotsBytes() : MaxBytes());
    if (is_uniform && counts[0] == 0) {
      frame.Header().num_bytes = 0;  // no channel has put a message
      return;
    }
    std::memcpy(frame.Payload(), sums, SlotsBytes());
    if (!is_uniform) std::memcpy(frame.Payload() + SlotsBytes(), counts, num_channels * sizeof(std::uint64_t));
  }
};

/// Layout of a report. The header's base counts the frames pulled. The payload begins with one bit per channel, in whole
/// 64-bit words; the bit is set if the channel's sum could not take in more. At the end of a bulk synchronous update, the
/// number of messages that wait at each channel's outlet and their sums follow. A report replaces all older ones.
struct AccumulateReport {
  std::size_t num_channels = 1;  ///< as in the frames reported on
  std::size_t slot_bytes = 0;    ///< as in the frames reported on

  /// Bytes of the bits, and payload of a report without sums.
  std::size_t BitsBytes() const { return (num_channels + 63) / 64 * sizeof(std::uint64_t); }
  /// Bytes of the counts.
  std::size_t CountsBytes() const { return num_channels * sizeof(std::uint64_t); }
  /// Payload of a report with sums.
  std::size_t MaxBytes() const { return BitsBytes() + CountsBytes() + num_channels * slot_bytes; }

  /// Whether the report contains counts and sums.
  bool HasSums(const Frame& report) const { return report.Header().num_bytes == MaxBytes(); }
  /// Returns where the counts begin in a payload.
  std::byte* Counts(std::byte* payload) const { return payload + BitsBytes(); }
  /// The same, to read.
  const std::byte* Counts(const std::byte* payload) const { return payload + BitsBytes(); }
  /// Returns where the sums begin in a payload.
  std::byte* Sums(std::byte* payload) const { return Counts(payload) + CountsBytes(); }
  /// The same, to read.
  const std::byte* Sums(const std::byte* payload) const { return Counts(payload) + CountsBytes(); }

  /// Whether the channel's sum could not take in more.
  static bool IsBlocked(const Frame& report, std::size_t channel) {
    return (report.Payload()[channel / 8] & Bit(channel)) != std::byte{0};
  }
  /// Sets the bit of a channel whose sum could not take in more.
  static void SetBlocked(std::byte* payload, std::size_t channel) { payload[channel / 8] |= Bit(channel); }

 private:
  static std::byte Bit(std::size_t channel) { return std::byte{1} << (channel % 8); }
};

}  // namespace uit
