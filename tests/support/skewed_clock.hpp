#pragma once

#include <chrono>

namespace uit::testing {

/// Shifts every clock of this process against the machine's from now on, as if the process ran on another host. A program
/// that uses it links skewed_clock.cpp.
void SkewClocks(std::chrono::nanoseconds shift);

}  // namespace uit::testing
