#pragma once

#include <exception>

#include <uit/support/error.hpp>

namespace netuit {

/// What a program ends with when `failure` has been thrown: 2 for input that cannot be, 3 for a process that was lost, 5
/// for output that cannot be written, 1 for all else.
inline int ExitCodeOf(const std::exception_ptr& failure) noexcept {
  switch (uit::KindOf(failure)) {
    case uit::ErrorKind::input: return 2;
    case uit::ErrorKind::peer_lost: return 3;
    case uit::ErrorKind::output: return 5;
    case uit::ErrorKind::other: break;
  }
  return 1;
}

}  // namespace netuit
