#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <uit/exchange/refuse_frame.hpp>
#include <uit/link/frame.hpp>

namespace uit {

/// Adds the encoded message at `from` to the one at `into`. False, with nothing changed, if the sum would overflow.
using FoldFunction = bool (*)(std::byte* into, const std::byte* from);

/// How the frames of an exchange under Retain::accumulate are laid out: a slot per channel with the sum of what it put
/// since the last frame, and how many messages that stands for; 0: the slot means nothing. While all channels have the
/// same count, it stands once, in the header.
struct AccumulateFrame {
  std::size_t num_channels = 1;  ///< ends that share the frame
  std::size_t slot_bytes = 0;    ///< encoded size of a message

  /// Payload of a frame without counts.
  std::size_t SlotsBytes() const { return num_channels * slot_bytes; }
  /// Payload of the largest frame.
  std::size_t MaxBytes() const { return SlotsBytes() + num_channels * sizeof(std::uint64_t); }

  /// Where a channel's encoded sum stands, if its Count is not 0.
  const std::byte* Slot(const Frame& frame, std::size_t channel) const {
    return frame.Payload() + channel * slot_bytes;
  }
  /// How many messages a channel's slot stands for.
  std::uint64_t Count(const Frame& frame, std::size_t channel) const {
    if (frame.Header().num_bytes != MaxBytes()) return frame.Header().base;
    std::uint64_t count = 0;
    std::memcpy(&count, frame.Payload() + SlotsBytes() + channel * sizeof count, sizeof count);
    return count;
  }
  /// Throws for a frame that is not as long as those of the exchange.
  void Check(const Frame& frame) const {
    const std::size_t num_bytes = frame.Header().num_bytes;
    if (num_bytes != 0 && num_bytes != SlotsBytes() && num_bytes != MaxBytes()) RefuseFrame(frame);
  }
  /// Writes all of a frame's payload. The frame has room for MaxBytes.
  void Write(Frame& frame, const std::byte* sums, const std::uint64_t* counts) const {
    bool is_uniform = true;
    for (std::size_t channel = 1; channel < num_channels; ++channel) is_uniform &= counts[channel] == counts[0];
    frame.Header().base = is_uniform ? counts[0] : 0;
    frame.Header().num_bytes = static_cast<std::uint32_t>(is_uniform ? SlotsBytes() : MaxBytes());
    if (is_uniform && counts[0] == 0) {
      frame.Header().num_bytes = 0;  // nobody put
      return;
    }
    std::memcpy(frame.Payload(), sums, SlotsBytes());
    if (!is_uniform) std::memcpy(frame.Payload() + SlotsBytes(), counts, num_channels * sizeof(std::uint64_t));
  }
};

/// How a report is laid out: frames pulled in the header's base; then a bit per channel whose sum could not take in more,
/// in whole 64-bit words; then, at the end of a bulk synchronous update, how many messages wait at each channel's
/// outlet, and their sums. A report replaces any older one.
struct AccumulateReport {
  std::size_t num_channels = 1;  ///< as in the frames reported on
  std::size_t slot_bytes = 0;    ///< as in the frames reported on

  /// Bytes of the bits, and payload of a report without sums.
  std::size_t BitsBytes() const { return (num_channels + 63) / 64 * sizeof(std::uint64_t); }
  /// Bytes of the counts.
  std::size_t CountsBytes() const { return num_channels * sizeof(std::uint64_t); }
  /// Payload of a report with sums.
  std::size_t MaxBytes() const { return BitsBytes() + CountsBytes() + num_channels * slot_bytes; }

  /// Whether the report says what waits.
  bool HasSums(const Frame& report) const { return report.Header().num_bytes == MaxBytes(); }
  /// Where the counts begin in a payload.
  std::byte* Counts(std::byte* payload) const { return payload + BitsBytes(); }
  /// The same, to read.
  const std::byte* Counts(const std::byte* payload) const { return payload + BitsBytes(); }
  /// Where the sums begin in a payload.
  std::byte* Sums(std::byte* payload) const { return Counts(payload) + CountsBytes(); }
  /// The same, to read.
  const std::byte* Sums(const std::byte* payload) const { return Counts(payload) + CountsBytes(); }

  /// Whether a channel's sum could not take in more.
  static bool IsBlocked(const Frame& report, std::size_t channel) {
    return (report.Payload()[channel / 8] & Bit(channel)) != std::byte{0};
  }
  /// Says that a channel's sum could not take in more.
  static void SetBlocked(std::byte* payload, std::size_t channel) { payload[channel / 8] |= Bit(channel); }

 private:
  static std::byte Bit(std::size_t channel) { return std::byte{1} << (channel % 8); }
};

}  // namespace uit
