#pragma once

#include <chrono>

namespace uit::testing {

/// Shifts what every clock of this process shows, from now on, by so much against the machine's: as if it ran on another
/// host. Programs that want it are linked with skewed_clock.cpp.
void SkewClocks(std::chrono::nanoseconds shift);

}  // namespace uit::testing
