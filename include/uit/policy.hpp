#pragma once

#include <compare>

namespace uit {

/// What becomes of a put when the buffer is full.
enum class Backlog {
  drop,  ///< The put fails and is counted.
  grow   ///< The buffer grows, up to a cap in bytes; then the put fails and is counted.
};

/// What becomes of messages that have not been stepped to when newer ones arrive.
enum class Retain {
  every,      ///< They wait, in order.
  latest,     ///< Only the newest waits; it replaces the one before, which is counted as preempted.
  /// Their sum waits, and a step takes all of it, so that nothing is lost of what is conserved. A step that finds nothing
  /// makes `Get` `T{}`, so that nothing is counted twice. A put fails only if a sum would overflow. See Foldable.
  accumulate
};

/// Who shares a frame between processes.
enum class Consolidate {
  none,       ///< Nobody: a frame per message.
  pooled,     ///< All channels between two places: a frame departs when each has put, or on flush. Fixed sizes only.
  aggregated  ///< The same, any number of messages from each: a frame departs on flush, when full, or when old.
};

/// What a conduit promises; holds only what changes code. Sizes are run-time options.
///
///     constexpr uit::Policy pooled{.retain = uit::Retain::latest, .consolidate = uit::Consolidate::pooled};
///     uit::Conduit<double, pooled> conduit{uit::Thread{}};
struct Policy {
  /// When the buffer is full.
  Backlog backlog = Backlog::drop;
  /// When newer messages arrive.
  Retain retain = Retain::every;
  /// Between processes.
  Consolidate consolidate = Consolidate::none;

  /// Field by field.
  friend constexpr auto operator<=>(const Policy&, const Policy&) = default;
};

/// Every message waits for its step, in order.
inline constexpr Policy every{.retain = Retain::every};
/// Only the newest message waits.
inline constexpr Policy latest{.retain = Retain::latest};
/// The sum of all messages waits, so that nothing is lost of what is conserved.
inline constexpr Policy summed{.retain = Retain::accumulate};

}  // namespace uit
