#pragma once

#include <cstdint>

#include <uit/tally.hpp>

namespace netuit {

/// A worker's counts of its exchange with one other worker in one layer: of its inlets to that peer and its outlets from it.
/// All are numbers of messages, summed over channels, unless stated otherwise.
struct ExchangeCounts {
  std::uint64_t channels_out = 0;  ///< inlets to the peer; for a published field, nodes with a recipient there
  std::uint64_t channels_in = 0;   ///< outlets from the peer; for a published field, nodes there with a recipient here
  std::uint64_t attempted = 0;     ///< puts
  std::uint64_t dropped = 0;       ///< puts that were refused
  std::uint64_t preempted = 0;     ///< accepted here, but replaced by a newer message before leaving
  std::uint64_t stepped = 0;       ///< arrived and became the current message
  std::uint64_t skipped = 0;       ///< arrived or in flight, but jumped over by a step to a newer message
  std::uint64_t folded = 0;        ///< arrived and were added to another message
  std::uint64_t unread = 0;        ///< arrived, but not read when a run ended
  std::uint64_t pulls = 0;         ///< checks for messages: one per channel and update
  std::uint64_t laden = 0;         ///< pulls that found a message
  std::uint64_t touches = 0;       ///< see uit::FrameTrace; counted per exchange

  /// Returns the number of messages whose outcome is known here.
  constexpr std::uint64_t Received() const { return stepped + skipped + folded; }
  /// Adds an inlet's counts.
  constexpr ExchangeCounts& operator+=(const uit::PutTally& put) {
    attempted += put.attempted;
    dropped += put.dropped;
    preempted += put.preempted;
    return *this;
  }
  /// Adds an outlet's counts.
  constexpr ExchangeCounts& operator+=(const uit::GetTally& get) {
    stepped += get.stepped;
    skipped += get.skipped;
    folded += get.folded;
    unread += get.unread;
    return *this;
  }
  /// Adds field by field, including the numbers of channels.
  constexpr ExchangeCounts& operator+=(const ExchangeCounts& other) {
    channels_out += other.channels_out;
    channels_in += other.channels_in;
    attempted += other.attempted;
    dropped += other.dropped;
    preempted += other.preempted;
    stepped += other.stepped;
    skipped += other.skipped;
    folded += other.folded;
    unread += other.unread;
    pulls += other.pulls;
    laden += other.laden;
    touches += other.touches;
    return *this;
  }
  /// Returns the increase since `before`. The numbers of channels stay as they are.
  constexpr ExchangeCounts Since(const ExchangeCounts& before) const {
    return {.channels_out = channels_out,
            .channels_in = channels_in,
            .attempted = attempted - before.attempted,
            .dropped = dropped - before.dropped,
            .preempted = preempted - before.preempted,
            .stepped = stepped - before.stepped,
            .skipped = skipped - before.skipped,
            .folded = folded - before.folded,
            .unread = unread - before.unread,
            .pulls = pulls - before.pulls,
            .laden = laden - before.laden,
            .touches = touches - before.touches};
  }
  /// Compares field by field.
  friend bool operator==(const ExchangeCounts&, const ExchangeCounts&) = default;
};

}  // namespace netuit
