#pragma once

#include <csignal>
#include <functional>

namespace uit::testing {

/// What a program of MPI tests does last before it finalises MPI; on all ranks.
inline std::function<void()> before_finalize = [] {};

/// Not 0 once the watch of MPI (tests/support/pmpi) has found fault, which it says before MPI itself is finalised.
inline volatile std::sig_atomic_t has_watch_reported = 0;

}  // namespace uit::testing
