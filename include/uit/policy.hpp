#pragma once

#include <compare>

#include <uit/config.hpp>

namespace uit {

/// What happens to a put if the buffer is full.
enum class Backlog {
  drop,  ///< The put fails and is counted.
  grow   ///< The buffer grows, up to a cap in bytes; after that the put fails and is counted.
};

/// What happens to unread messages when newer ones arrive.
enum class Retain {
  every,      ///< All wait, in order.
  latest,     ///< Only the newest waits. It replaces the previous one, which is counted as preempted.
  /// The sum of all messages waits, and a step takes the whole sum, so a conserved quantity loses nothing. If a step finds
  /// nothing, it sets `Get` to `T{}`, so nothing counts twice. A put fails only if the sum would overflow. See Foldable.
  accumulate
};

/// Which messages share a frame between processes.
enum class Consolidate {
  none,       ///< None: a frame for each message. In a mesh, as the other two, whichever suits.
  pooled,     ///< All channels between two workers, a put each: a frame leaves after each has put, or on flush. Fixed sizes only.
  aggregated  ///< The same, with any number of puts each: a frame leaves on flush, when full, or when old.
};

/// The guarantees of a conduit. It holds only choices that change the code; sizes are run-time options.
///
///     constexpr uit::Policy pooled{.retain = uit::Retain::latest, .consolidate = uit::Consolidate::pooled};
///     uit::Conduit<double, pooled> conduit{uit::Thread{}};
struct Policy {
  /// For a full buffer.
  Backlog backlog = Backlog::drop;
  /// For newer messages that arrive.
  Retain retain = Retain::every;
  /// For frames between processes.
  Consolidate consolidate = Consolidate::none;

  /// Compares field by field.
  friend constexpr auto operator<=>(const Policy&, const Policy&) = default;
};

/// Every message waits until a step, in order.
inline constexpr Policy every{.retain = Retain::every};
/// Only the newest message waits.
inline constexpr Policy latest{.retain = Retain::latest};
/// The sum of all messages waits, so a conserved quantity loses nothing.
inline constexpr Policy summed{.retain = Retain::accumulate};

}  // namespace uit
