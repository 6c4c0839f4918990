#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string_view>

#include <uit/config.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/pause.hpp>

namespace bench {

/// The distance of the two cores of a sample.
enum class Proximity { one_core, hyperthread, near, far, unclear };

[[nodiscard]] inline std::string_view Name(Proximity proximity) {
  switch (proximity) {
    case Proximity::one_core: return "ONE";
    case Proximity::hyperthread: return "HT";
    case Proximity::near: return "NEAR";
    case Proximity::far: return "FAR";
    default: return "unclear";
  }
}

/// By the round trip over two lines, in ns. Hyperthreads have been seen at 50, cores that share
/// a cache at 105 to 200, others at 255 to 700. A value between these means that a thread moved.
[[nodiscard]] inline Proximity Classify(double round_trip) {
  if (round_trip < 80) return Proximity::hyperthread;
  if (round_trip < 220) return Proximity::near;
  if (round_trip < 240) return Proximity::unclear;
  return Proximity::far;
}

/// Two cache lines over which two cores pass a number back and forth. Works in memory shared by processes.
class PingPong {
 public:
  static constexpr std::uint32_t num_trips = 300;

  /// ns per round trip, of the side that serves; the other side calls Return meanwhile.
  double Serve() {
    const std::uint32_t first = there_.value.load(std::memory_order_relaxed);
    Trip(first + 1);  // the other side is ready
    const uit::TimePoint start = uit::Now();
    for (std::uint32_t i = 2; i < num_trips + 2; ++i) Trip(first + i);
    return std::chrono::duration<double, std::nano>(uit::Now() - start).count() / num_trips;
  }

  void Return() {
    const std::uint32_t first = back_.value.load(std::memory_order_relaxed);
    for (std::uint32_t i = 1; i < num_trips + 2; ++i) {
      Await(there_, first + i);
      back_.value.store(first + i, std::memory_order_release);
    }
  }

 private:
  struct alignas(2 * uit::cache_line) Line {
    std::atomic<std::uint32_t> value{0};
  };
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

  static void Await(const Line& line, std::uint32_t value) {
    while (line.value.load(std::memory_order_acquire) != value) uit::Pause();
  }

  void Trip(std::uint32_t number) {
    there_.value.store(number, std::memory_order_release);
    Await(back_, number);
  }

  Line there_;
  Line back_;
};

/// ns per step of a chain of dependent multiplications: the speed of one core.
[[nodiscard]] inline double CoreStep() {
  constexpr int num_steps = 20'000;
  std::uint64_t value = 1;
  const uit::TimePoint start = uit::Now();
  for (int i = 0; i < num_steps; ++i) {
    value *= 0x9e3779b97f4a7c15U;
    asm volatile("" : "+r"(value));
  }
  return std::chrono::duration<double, std::nano>(uit::Now() - start).count() / num_steps;
}

}  // namespace bench
