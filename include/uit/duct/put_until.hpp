#pragma once

#include <utility>

#include <uit/duct/duct.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/pause.hpp>

namespace uit::detail {

/// Puts into a duct. If another thread or process can make room, waits for room until the deadline, by `wait` unless the duct waits
/// itself.
template <typename D, typename M, Waiter Wait = PlainWaiter>
bool PutUntil(D& duct, M&& message, Deadline deadline, Wait&& wait = Wait{}) {
  if constexpr (requires { duct.PutUntil(std::forward<M>(message), deadline); }) {
    return duct.PutUntil(std::forward<M>(message), deadline);
  } else if constexpr (is_in_thread<D>) {
    return duct.TryPut(std::forward<M>(message));
  } else {
    if constexpr (requires { duct.IsInletHeld(); })
      if (duct.IsInletHeld()) return duct.TryPut(std::forward<M>(message));
    bool is_accepted = false;
    wait(
        [&] {
          is_accepted = duct.TryPut(std::forward<M>(message));  // moves only on success
          return is_accepted || IsClosed(duct);
        },
        deadline, [&] { return uit::Poll(duct); });
    return is_accepted;
  }
}

}  // namespace uit::detail
