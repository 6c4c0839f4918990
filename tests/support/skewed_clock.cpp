#include "tests/support/skewed_clock.hpp"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace {
std::atomic<std::int64_t> shift_in_ns{0};
}  // namespace

namespace uit::testing {
void SkewClocks(std::chrono::nanoseconds shift) { shift_in_ns = shift.count(); }
}  // namespace uit::testing

/// Replaces the C library's function, for this program and all libraries that it loads.
extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  constexpr std::int64_t ns_per_s = 1'000'000'000;
  const auto result = static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  if (result != 0 || (clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME)) return result;
  const std::int64_t shifted = time->tv_sec * ns_per_s + time->tv_nsec + shift_in_ns.load(std::memory_order_relaxed);
  time->tv_sec = shifted / ns_per_s;
  time->tv_nsec = shifted % ns_per_s;
  return 0;
}
