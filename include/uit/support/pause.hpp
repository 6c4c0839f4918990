#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <thread>
#include <type_traits>
#include <utility>

#include <uit/support/clock.hpp>
#include <uit/support/core_share.hpp>
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

/// Decides whether a thread spins for long in its waits before it gives its core away. It learns this from its own waits.
///
/// What a thread waits for mostly takes some microseconds. On a core that a busy program of others shares, a thread that yields
/// gets the core back only after that program's time slice, milliseconds later. So spinning is better. But if those it waits
/// for need the same core, spinning keeps it from them, and waits last a time slice. So a thread many of whose waits last that
/// long yields instead. From time to time it tries again to spin, more and more seldom as long as that does not help.
///
/// If others use the thread's core, a thread that has spun for a while sleeps, and looks what has come from time to time. So it
/// keeps its share of the core for when those it waits for run again: the system prefers a thread that has slept to one that has
/// not. Two threads that wait for each other, each beside a busy program, so come to run at the same time.
class SpinHabit {
 public:
  /// `has_core`: whether there are enough cores for all that wait for each other. If not, the thread never spins for long.
  explicit SpinHabit(bool has_core = true) : is_long_(has_core), may_be_long_(has_core) {}

  /// Whether to spin for long.
  [[nodiscard]] bool IsLong() const { return is_long_; }
  /// Notes how long a wait has taken, if it took longer than the first pauses.
  void NoteWait(std::chrono::nanoseconds span) {
    const bool has_slept = std::exchange(has_slept_, false);
    if (is_long_) {
      ++num_waits_;
      if (span >= slice || has_slept) ++num_slices_;
      if (num_slices_ >= slices_to_judge && num_waits_ < waits_per_slice * num_slices_) Stop();
      else if (num_waits_ == waits_to_forget) Begin(least_patience);
    } else if (may_be_long_) {
      yielding_ += span;
      if (yielding_ >= patience_) Begin(patience_);
    }
  }

  /// Whether a thread that has spun for `span`, until `now`, has spun enough in this wait. Then it sleeps. If it does so because others
  /// use its core, the wait counts as one that lasts a time slice: without the sleep it might.
  [[nodiscard]] bool HasSpunEnough(std::chrono::nanoseconds span, TimePoint now) {
    if (span >= longest_spin) return true;
    if (span < longest_spin_if_shared || !core_.IsShared(now)) return false;
    return has_slept_ = true;
  }

  /// How long a thread spins at most: several time slices, because those it waits for may have to wait for a core themselves.
  static constexpr std::chrono::milliseconds longest_spin{20};
  /// The same while others use its core as well.
  static constexpr std::chrono::microseconds longest_spin_if_shared{200};
  /// A wait of at least this length counts as one time slice: a thread that has a core needs less for what others wait for.
  static constexpr std::chrono::microseconds slice{500};
  /// So many waits that last a time slice are enough to judge.
  static constexpr int slices_to_judge = 16;
  /// With fewer waits for each that lasts a time slice, the thread no longer spins.
  static constexpr int waits_per_slice = 4;
  static constexpr std::chrono::milliseconds least_patience{50};  ///< half of the time that waits yield before the first new trial
  static constexpr std::chrono::milliseconds most_patience{3200};  ///< the most time that waits yield before a new trial

 private:
  static constexpr int waits_to_forget = 1024;

  void Begin(std::chrono::milliseconds patience) {
    if (!is_long_) core_.Forget();  // it has yielded
    is_long_ = true;
    num_waits_ = num_slices_ = 0;
    patience_ = patience;
  }
  void Stop() {
    is_long_ = false;
    yielding_ = {};
    patience_ = std::min(2 * patience_, most_patience);
  }

  bool is_long_;
  bool may_be_long_;
  bool has_slept_ = false;  // in the present wait, because others use the core
  int num_waits_ = 0;       // since it began to spin for long
  int num_slices_ = 0;      // of these, those that lasted a time slice
  std::chrono::nanoseconds yielding_{};  // time of all waits since it ended
  std::chrono::milliseconds patience_{least_patience};
  CoreShare core_;
};

/// The rest between two tries of a wait: first pauses, then yields, then sleeps of up to 50 µs.
///
/// So a wait is short if the other side is running. It costs little if the other side is not, as with more workers than
/// cores. A thread with a SpinHabit may spin instead of yielding.
class Backoff {
 public:
  /// Uses `num_spins` pauses, then `num_yields` yields, then sleeps.
  constexpr explicit Backoff(int num_spins = 16, int num_yields = 256)
      : num_spins_{num_spins}, num_patient_{num_spins + num_yields} {}
  /// For the thread that has this habit.
  explicit Backoff(SpinHabit& habit) : Backoff() { habit_ = &habit; }

  /// Rests once.
  void Rest() {
    if (num_rests_ < num_spins_) {
      Pause();
      if (++num_rests_ == num_spins_ && habit_ != nullptr) start_ = Now();
    } else if ((spins_on_ = SpinsOn())) {
      Pause();
    } else if (num_rests_ < num_patient_ && !has_spun_) {
      Yield();
      ++num_rests_;
    } else {
      SleepFor(sleep_);
      if (sleep_ < longest_sleep) sleep_ *= 2;
      if (sleep_ > longest_sleep) sleep_ = longest_sleep;
    }
  }

  /// Starts again with pauses, because there was progress.
  void Reset() {
    num_rests_ = 0;
    num_spun_ = 0;
    spins_on_ = has_spun_ = false;
    sleep_ = first_sleep;
  }
  /// The wait is over; the thread learns from it.
  void Finish() {
    if (habit_ != nullptr && num_rests_ >= num_spins_) habit_->NoteWait(Now() - start_);
  }

  /// False while rests are only pauses; then reading a clock would dominate the cost.
  [[nodiscard]] bool IsPatient() const { return num_rests_ >= num_spins_ && !spins_on_; }
  /// While rests are only pauses, a wait reads the clock at one of so many.
  static constexpr unsigned pauses_per_look = 16;

  /// The longest rest, without the time that the system adds.
  static constexpr std::chrono::microseconds longest_sleep{50};

 private:
  static constexpr std::chrono::microseconds first_sleep{1};

  bool SpinsOn() {
    if (habit_ == nullptr || has_spun_ || !habit_->IsLong()) return false;
    if (num_spun_++ % pauses_per_look != 0) return true;
    const TimePoint now = Now();
    has_spun_ = habit_->HasSpunEnough(now - start_, now);
    return !has_spun_;
  }

  int num_spins_;
  int num_patient_;  // pauses and yields
  int num_rests_ = 0;
  unsigned num_spun_ = 0;  // pauses beyond num_spins_
  bool spins_on_ = false;  // the last rest was one of these
  bool has_spun_ = false;  // for as long as a spin may take
  SpinHabit* habit_ = nullptr;
  TimePoint start_{};      // of the wait, or of its last progress, after the first pauses
  std::chrono::microseconds sleep_{first_sleep};
};

/// The default action of WaitUntil between tries: none.
struct NoIdle {
  /// Does nothing, and so makes no progress.
  bool operator()() const { return false; }
};

/// When a wait gives up: at a time, or so long after it has begun.
class WaitLimit {
 public:
  /// At this time.
  WaitLimit(Deadline end) : end_(end) {}  // NOLINT(google-explicit-constructor): waits take either
  /// So long after the wait first reads the clock, which a short wait never does. Of use where waits are short and many.
  template <std::convertible_to<std::chrono::nanoseconds> Span>
  WaitLimit(Span span) : span_(span), counts_from_look_(true) {}  // NOLINT(google-explicit-constructor)

  /// Whether the wait never gives up.
  [[nodiscard]] bool IsNever() const { return end_ == never && !counts_from_look_; }
  /// Whether the time is counted from when the wait first reads the clock.
  [[nodiscard]] bool CountsFromLook() const { return counts_from_look_; }
  /// Reads the clock, and returns whether the wait is to give up.
  [[nodiscard]] bool HasPassed() {
    const TimePoint now = Now();
    if (counts_from_look_) end_ = Later(now, span_);
    counts_from_look_ = false;
    return now >= end_;
  }

 private:
  Deadline end_ = never;
  std::chrono::nanoseconds span_{};
  bool counts_from_look_ = false;
};

/// Waits until `ready()` is true and returns true. Returns false once `limit` has passed.
///
/// This is the library's only wait loop. Between tries it calls `idle()`, which polls connections so that messages can
/// arrive. If `idle()` returns true, it has made progress, and the wait starts again with short rests. `ready()` is tried
/// at least once, and once more after the limit. `backoff` sets the rests.
template <std::predicate Ready, std::invocable Idle = NoIdle>
bool WaitUntil(Ready&& ready, WaitLimit limit = never, Idle&& idle = Idle{}, Backoff backoff = Backoff{}) {
  unsigned num_tries = limit.CountsFromLook() ? 1 : 0;  // a time is looked at after the first try
  while (!ready()) {
    if constexpr (std::is_same_v<std::invoke_result_t<Idle&>, bool>) {
      if (idle()) backoff.Reset();
    } else {
      idle();
    }
    // Reads the clock on every patient try, but only on each 16th of the others.
    if (!limit.IsNever() && (backoff.IsPatient() || num_tries++ % Backoff::pauses_per_look == 0) && limit.HasPassed()) {
      backoff.Finish();
      return ready();
    }
    backoff.Rest();
  }
  backoff.Finish();
  return true;
}

/// A call that waits as WaitUntil does with the same arguments. It may do other work between tries.
template <typename W>
concept Waiter = requires(W& wait, bool (&ready)(), Deadline deadline) {
  { wait(ready, deadline, ready) } -> std::same_as<bool>;
};

/// Waits by WaitUntil.
struct PlainWaiter {
  /// Waits until `ready()` is true, and returns it.
  template <std::predicate Ready, std::predicate Idle>
  bool operator()(Ready&& ready, Deadline deadline, Idle&& idle) const {
    return WaitUntil(ready, deadline, idle);
  }
};
static_assert(Waiter<PlainWaiter>);

}  // namespace uit
