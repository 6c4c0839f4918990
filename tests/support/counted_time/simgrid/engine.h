#pragma once

#include <atomic>
#include <cmath>
#include <cstdint>

/// In the place of SimGrid's headers, for tests that are compiled with UIT_SIMULATED=1: a clock on which time passes only while
/// the library rests, and counts of its rests. So what a wait does is the same on a machine however busy.
namespace uit::testing::counted_time {

inline std::atomic<std::int64_t> now_in_ns{0};
inline std::atomic<std::uint64_t> num_rests{0};     // pauses, yields and sleeps
inline std::atomic<std::uint64_t> num_readings{0};  // of the clock

}  // namespace uit::testing::counted_time

inline double simgrid_get_clock() {
  ++uit::testing::counted_time::num_readings;
  return static_cast<double>(uit::testing::counted_time::now_in_ns.load()) * 1e-9;
}
inline void sg_actor_sleep_for(double seconds) {
  ++uit::testing::counted_time::num_rests;
  uit::testing::counted_time::now_in_ns += std::llround(seconds * 1e9);
}
inline void sg_actor_execute(double flops) { sg_actor_sleep_for(flops * 1e-9); }
inline const char* sg_host_self_get_name() { return "here"; }
