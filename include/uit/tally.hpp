#pragma once

#include <cstdint>

#include <uit/config.hpp>

namespace uit {

/// The fate of an inlet's puts. `attempted` = accepted + `dropped`. Muted puts are counted apart.
struct PutTally {
  std::uint64_t attempted = 0;  ///< Puts while the inlet was not muted.
  std::uint64_t dropped = 0;    ///< Attempted, and refused because the buffer was full.
  std::uint64_t muted = 0;      ///< Puts while the inlet was muted.
  std::uint64_t preempted = 0;  ///< Accepted, and replaced by a newer one before a step saw it.

  /// Puts that the duct accepted.
  [[nodiscard]] constexpr std::uint64_t Accepted() const { return attempted - dropped; }

  /// Adds field by field.
  constexpr PutTally& operator+=(const PutTally& other) {
    attempted += other.attempted;
    dropped += other.dropped;
    muted += other.muted;
    preempted += other.preempted;
    return *this;
  }
  /// The sum, field by field.
  friend constexpr PutTally operator+(PutTally a, const PutTally& b) { return a += b; }
  /// Equal in every field.
  friend bool operator==(const PutTally&, const PutTally&) = default;
};

/// The fate of the messages that reached an outlet.
struct GetTally {
  std::uint64_t stepped = 0;  ///< Steps: messages that became the current one.
  std::uint64_t skipped = 0;  ///< Passed over for a later message.
  std::uint64_t folded = 0;   ///< Added to another message, and stepped to together with it.
  std::uint64_t unread = 0;   ///< Not read when the conduit was joined again or closed; for a sum, all its messages.

  /// Adds field by field.
  constexpr GetTally& operator+=(const GetTally& other) {
    stepped += other.stepped;
    skipped += other.skipped;
    folded += other.folded;
    unread += other.unread;
    return *this;
  }
  /// The sum, field by field.
  friend constexpr GetTally operator+(GetTally a, const GetTally& b) { return a += b; }
  /// Equal in every field.
  friend bool operator==(const GetTally&, const GetTally&) = default;
};

/// Both ends of one conduit, or the sum over many conduits: add any number of PutTally and GetTally. If a process dies,
/// its counts are lost. Then, for its conduits and for sums that include them, only the equation of PutTally still holds.
struct Tally {
  PutTally put{};  ///< The fate of the puts.
  GetTally get{};  ///< The fate of the messages that arrived.

  /// Messages accepted and not yet accounted for. Zero once everything has arrived.
  [[nodiscard]] constexpr std::int64_t InFlight() const {
    return static_cast<std::int64_t>(put.Accepted() - get.stepped - get.skipped - put.preempted -
                                     get.folded - get.unread);
  }

  /// True if no message is in flight and no message was counted that was never put.
  [[nodiscard]] constexpr bool Balanced() const {
    return put.dropped <= put.attempted && InFlight() == 0;
  }

  /// Adds the puts of an inlet.
  constexpr Tally& operator+=(const PutTally& other) { return put += other, *this; }
  /// Adds what reached an outlet.
  constexpr Tally& operator+=(const GetTally& other) { return get += other, *this; }
  /// Adds field by field.
  constexpr Tally& operator+=(const Tally& other) {
    put += other.put;
    get += other.get;
    return *this;
  }
  /// The sum, field by field.
  friend constexpr Tally operator+(Tally a, const Tally& b) { return a += b; }
  /// Equal in every field.
  friend bool operator==(const Tally&, const Tally&) = default;
};

}  // namespace uit
