#pragma once

#include <chrono>
#include <concepts>
#include <thread>
#include <type_traits>

#include <uit/support/clock.hpp>
#include <uit/support/simulation.hpp>

namespace uit {

/// Tells the core that the thread is in a spinning wait.
inline void Pause() noexcept(!is_simulated) {
#if UIT_SIMULATED
  simulation::Pass(simulation::pause_time);
#elif defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();  // no <immintrin.h>: a quarter of all that a user compiles would come from it
#elif defined(__aarch64__) || defined(__arm__)
  asm volatile("yield" ::: "memory");
#endif
}

/// Lets other threads have the core, if any need it.
inline void Yield() {
#if UIT_SIMULATED
  simulation::Pass(simulation::yield_time);
#else
  std::this_thread::yield();
#endif
}

/// Sleeps for `span`, plus the time that the system adds.
inline void SleepFor(std::chrono::microseconds span) {
#if UIT_SIMULATED
  simulation::Pass(span + simulation::timer_slack);
#else
  std::this_thread::sleep_for(span);
#endif
}

/// The rest between two tries of a wait: first pauses, then yields, then sleeps of up to 50 µs.
///
/// So a wait is short if the other side is running. It costs little if the other side is not, as with more workers than
/// cores.
class Backoff {
 public:
  /// Uses `num_spins` pauses, then `num_yields` yields, then sleeps.
  constexpr explicit Backoff(int num_spins = 16, int num_yields = 256)
      : num_spins_{num_spins}, num_patient_{num_spins + num_yields} {}

  /// Rests once. Each rest is at least as long as the one before.
  void Rest() {
    if (num_rests_ < num_spins_) {
      Pause();
    } else if (num_rests_ < num_patient_) {
      Yield();
    } else {
      SleepFor(sleep_);
      if (sleep_ < longest_sleep) sleep_ *= 2;
      if (sleep_ > longest_sleep) sleep_ = longest_sleep;
      return;
    }
    ++num_rests_;
  }

  /// Starts again with pauses, because there was progress.
  void Reset() {
    num_rests_ = 0;
    sleep_ = first_sleep;
  }

  /// False while rests are only pauses; then reading a clock would dominate the cost.
  [[nodiscard]] bool IsPatient() const { return num_rests_ >= num_spins_; }

  /// The longest rest, without the time that the system adds.
  static constexpr std::chrono::microseconds longest_sleep{50};

 private:
  static constexpr std::chrono::microseconds first_sleep{1};

  int num_spins_;
  int num_patient_;  // pauses and yields
  int num_rests_ = 0;
  std::chrono::microseconds sleep_{first_sleep};
};

/// The default action of WaitUntil between tries: none.
struct NoIdle {
  /// Does nothing, and so makes no progress.
  bool operator()() const { return false; }
};

/// Waits until `ready()` is true and returns true. Returns false once `deadline` has passed.
///
/// This is the library's only wait loop. Between tries it calls `idle()`, which polls connections so that messages can
/// arrive. If `idle()` returns true, it has made progress, and the wait starts again with short rests. `ready()` is tried
/// at least once, and once more after the deadline. `backoff` sets the rests.
template <std::predicate Ready, std::invocable Idle = NoIdle>
bool WaitUntil(Ready&& ready, Deadline deadline = never, Idle&& idle = Idle{},
               Backoff backoff = Backoff{}) {
  int num_tries = 0;
  while (!ready()) {
    if constexpr (std::is_same_v<std::invoke_result_t<Idle&>, bool>) {
      if (idle()) backoff.Reset();
    } else {
      idle();
    }
    // Reads the clock on every patient try, but only on each 16th of the others.
    if (deadline != never && (backoff.IsPatient() || ++num_tries % 16 == 1) && Now() >= deadline)
      return ready();
    backoff.Rest();
  }
  return true;
}

}  // namespace uit
