#pragma once

#include <concepts>

#include <uit/duct/duct.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/pause.hpp>

namespace uit::detail {

/// Waits until `try_step()` has stepped in the duct, until the deadline, or until the other side has closed: what was put before then
/// has arrived. Waits by `wait`. Returns whether it has stepped.
template <typename D, std::predicate F, Waiter Wait = PlainWaiter>
bool StepUntil(D& duct, Deadline deadline, F&& try_step, Wait&& wait = Wait{}) {
  bool has_stepped = false;
  wait([&] { return IsClosed(duct) || (has_stepped = try_step()); }, deadline, [&] { return uit::Poll(duct); });
  return has_stepped || try_step();
}

}  // namespace uit::detail
