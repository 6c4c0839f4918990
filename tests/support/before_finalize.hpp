#pragma once

#include <functional>

namespace uit::testing {

/// What a program of MPI tests does last before it finalises MPI; on all ranks.
inline std::function<void()> before_finalize = [] {};

}  // namespace uit::testing
