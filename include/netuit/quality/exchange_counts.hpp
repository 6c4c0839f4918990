#pragma once

#include <cstdint>

#include <uit/tally.hpp>

namespace netuit {

/// What a worker has counted of its exchange with one other worker in one layer: its inlets to there, and its outlets from
/// there. Numbers of messages, summed over channels, unless said otherwise.
struct ExchangeCounts {
  std::uint64_t channels_out = 0;  ///< inlets to there; of a multicast layer, nodes heard there
  std::uint64_t channels_in = 0;   ///< outlets from there; of a multicast layer, nodes heard here
  std::uint64_t attempted = 0;     ///< puts
  std::uint64_t dropped = 0;       ///< of those, refused
  std::uint64_t preempted = 0;     ///< put here, accepted, and replaced by a newer one before it left
  std::uint64_t stepped = 0;       ///< arrived here and became the current one
  std::uint64_t skipped = 0;       ///< arrived here or were on their way, and a newer one was stepped to
  std::uint64_t folded = 0;        ///< arrived here and were added to another
  std::uint64_t unread = 0;        ///< arrived here and were left when a run ended
  std::uint64_t pulls = 0;         ///< looks for messages: one per channel and update
  std::uint64_t laden = 0;         ///< of those, pulls that found any
  std::uint64_t touches = 0;       ///< see uit::FrameTrace; of the exchange

  /// Messages that have come to an end here.
  constexpr std::uint64_t Received() const { return stepped + skipped + folded; }
  /// Counts an inlet's.
  constexpr ExchangeCounts& operator+=(const uit::PutTally& put) {
    attempted += put.attempted;
    dropped += put.dropped;
    preempted += put.preempted;
    return *this;
  }
  /// Counts an outlet's.
  constexpr ExchangeCounts& operator+=(const uit::GetTally& get) {
    stepped += get.stepped;
    skipped += get.skipped;
    folded += get.folded;
    unread += get.unread;
    return *this;
  }
  /// Field by field, channels too.
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
  /// What has been added since `before`; channels are as they are.
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
  /// Field by field.
  friend bool operator==(const ExchangeCounts&, const ExchangeCounts&) = default;
};

}  // namespace netuit
