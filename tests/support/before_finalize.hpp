#pragma once

#include <csignal>
#include <functional>

namespace uit::testing {

/// Called by a program of MPI tests just before it finalises MPI, on all ranks.
inline std::function<void()> before_finalize = [] {};

/// Returns not 0 if the watch of MPI (tests/support/pmpi) has found an error. The watch prints the error before MPI is
/// finalised.
inline volatile std::sig_atomic_t has_watch_reported = 0;

}  // namespace uit::testing
