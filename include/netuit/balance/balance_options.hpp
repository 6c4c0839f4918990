#pragma once

#include <chrono>
#include <cstdint>

#include <uit/support/error.hpp>

namespace netuit {

/// When nodes move to other workers. A window is a part of a run over which loads are measured. At its end, all workers meet. How
/// often nodes move is limited, but not how many: usually few, and possibly most if PlaceNear has to use METIS.
struct BalanceOptions {
  /// Nodes move only if the most loaded worker has more than this times the mean load; at least 1.
  double threshold = 1.2;
  std::chrono::nanoseconds window = std::chrono::seconds(1);  ///< length of a window; 0: does not matter
  std::uint64_t window_updates = 0;                           ///< updates in a window; 0: does not matter
  /// Number of windows over which loads are averaged. Nodes move only if that would have helped in each of them. So a load that
  /// swings faster than this moves nothing; at least 1.
  std::uint32_t patience = 2;
  /// Windows after a move in which no other follows. If most nodes of a move go back where they were before the one before, the
  /// next wait is twice as long as the last. So a load that swings slowly moves nodes less and less often.
  std::uint32_t cool_down = 4;
  /// One in so many updates is measured, with a look at the clock after each node. The first of each window always is. The update
  /// after it tells what these looks take. A prime number keeps out of step with what the program does regularly; at least 2.
  std::uint32_t measured_every = 101;
};

/// Throws uit::InputError if an option is invalid.
inline void CheckOptions(const BalanceOptions& options) {
  if (!(options.threshold >= 1)) throw uit::InputError("BalanceOptions::threshold must be at least 1");
  if (options.window.count() < 0) throw uit::InputError("BalanceOptions::window must not be negative");
  if (options.window.count() == 0 && options.window_updates == 0)
    throw uit::InputError("a window needs a length; see BalanceOptions::window and window_updates");
  if (options.patience == 0) throw uit::InputError("BalanceOptions::patience must be at least 1");
  if (options.measured_every < 2) throw uit::InputError("BalanceOptions::measured_every must be at least 2");
}

}  // namespace netuit
