#pragma once

#include <exception>

#include <uit/support/error.hpp>

namespace netuit {

/// The exit code of a program after the exception `failure`: 2 for invalid input, 3 for a lost process, 5 for output that cannot
/// be written, 1 for any other exception.
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
