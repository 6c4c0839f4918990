#pragma once

#include <chrono>
#include <concepts>
#include <thread>
#include <type_traits>

#include <uit/support/clock.hpp>
#include <uit/support/simulation.hpp>

namespace uit {

/// Tells the core that this is a spinning wait.
inline void Pause() noexcept(!is_simulated) {
#if UIT_SIMULATED
  simulation::Pass(simulation::pause_time);
#elif defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();  // <immintrin.h> would be a quarter of what a user compiles
#elif defined(__aarch64__) || defined(__arm__)
  asm volatile("yield" ::: "memory");
#endif
}

/// Lets other threads have the core, if any want it.
inline void Yield() {
#if UIT_SIMULATED
  simulation::Pass(simulation::yield_time);
#else
  std::this_thread::yield();
#endif
}

/// Sleeps for `span` and what the system adds to it.
inline void SleepFor(std::chrono::microseconds span) {
#if UIT_SIMULATED
  simulation::Pass(span + simulation::timer_slack);
#else
  std::this_thread::sleep_for(span);
#endif
}

/// One try's rest in a wait: first a pause, then a yield, then sleeps of up to 50 µs.
///
/// So a wait is short where the other side runs, and costs little where it does not, as with more
/// workers than cores.
class Backoff {
 public:
  /// So many pauses, then so many yields, then sleeps.
  constexpr explicit Backoff(int num_spins = 16, int num_yields = 256)
      : num_spins_{num_spins}, num_patient_{num_spins + num_yields} {}

  /// Rests once, a little longer than the last time.
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

  /// Starts over with pauses, because something has happened.
  void Reset() {
    num_rests_ = 0;
    sleep_ = first_sleep;
  }

  /// False while rests are mere pauses, when reading a clock would dominate.
  [[nodiscard]] bool IsPatient() const { return num_rests_ >= num_spins_; }

  /// No rest is longer, but for what the system adds.
  static constexpr std::chrono::microseconds longest_sleep{50};

 private:
  static constexpr std::chrono::microseconds first_sleep{1};

  int num_spins_;
  int num_patient_;  // pauses and yields
  int num_rests_ = 0;
  std::chrono::microseconds sleep_{first_sleep};
};

/// What WaitUntil does between tries if it is told nothing else.
struct NoIdle {
  /// Nothing.
  void operator()() const {}
};

/// Waits until `ready()` is true, and returns true; false once `deadline` has passed.
///
/// The one wait of the library. Between tries it calls `idle()`, which polls the wire so that
/// what is waited for can arrive; an `idle` that returns true has found something to do, and the
/// wait is eager again. `ready()` is tried at least once, and once more after the deadline.
/// `backoff` says how eager it is.
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
    // A clock is read on every patient try, and on each 16th eager one.
    if (deadline != never && (backoff.IsPatient() || ++num_tries % 16 == 1) && Now() >= deadline)
      return ready();
    backoff.Rest();
  }
  return true;
}

}  // namespace uit
