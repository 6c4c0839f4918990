#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <uit/support/peer_watch.hpp>
#include <uit/support/process_hooks.hpp>
#include <uit/support/sync.hpp>

namespace uit {

/// What all that talks to the peers of this process has in common: one lock, because MPI wants to be called by one
/// thread at a time; who is known to have ended; whether something had to be left unfinished; and what went wrong where
/// nobody could be told.
///
/// `Sync` brings the atomics: std::atomic, or those of a model that explores every schedule.
template <Synchronization Sync>
class BasicProcessState {
 public:
  /// Of a program that brings `hooks`.
  explicit BasicProcessState(ProcessHooks hooks = {}) : hooks_(std::move(hooks)) {}
  /// What the program around the library has brought. Any thread.
  const ProcessHooks& Hooks() const { return hooks_; }

  /// Runs `f` while holding the lock; false if somebody else has it. Never waits. Any thread.
  template <std::invocable F>
  bool Exclusively(F&& f) {
    // The acquire pairs with the release of whoever held the lock before. Looking first spares the line.
    if (is_held_.load(std::memory_order_relaxed) || is_held_.exchange(true, std::memory_order_acquire)) return false;
    struct Unlock {
      Atomic<bool>& flag;
      ~Unlock() { flag.store(false, std::memory_order_release); }  // pairs with the acquire above
    } unlock{is_held_};
    try {
      std::forward<F>(f)();
    } catch (...) {
      has_thrown_.store(true, std::memory_order_relaxed);
      throw;
    }
    return true;
  }
  /// Whether anything has been thrown there, as when MPI fails: then something may be pending that never ends. Any thread.
  bool HasThrown() const { return has_thrown_.load(std::memory_order_relaxed); }

  /// Watches these from now on, instead of nobody. Before anybody else looks.
  void WatchOver(const std::vector<ProcessIdentity>& peers) { watch_ = std::make_unique<PeerWatch>(peers, hooks_.give_up); }
  /// Who of this computer has ended. Any thread.
  PeerWatch& Watch() const { return *watch_; }

  /// Messages that MPI may have to hold for this process at once: the sum of what all that opens links has claimed for them.
  /// Any thread.
  std::size_t NumRequests() const { return num_requests_.load(std::memory_order_relaxed); }
  /// Claims so many, instead of `before` that were claimed for the same links. Any thread.
  void ClaimRequests(std::size_t before, std::size_t now) { num_requests_.fetch_add(now - before, std::memory_order_relaxed); }

  /// A peer did not answer, so something is pending that never ends, and there may be no collective any more.
  void Break() { is_broken_.store(true, std::memory_order_relaxed); }
  /// Whether anything ever broke. Any thread.
  bool IsBroken() const { return is_broken_.load(std::memory_order_relaxed); }

  /// This process could not do its part of a collective, in which others may wait for ever: it begins none any more, and
  /// ends the job if they do not end. Any thread.
  void Fail(const std::string& why) {
    Note(why);
    has_failed_.store(true, std::memory_order_relaxed);
    Break();
  }
  /// Whether Fail has been called. Any thread.
  bool HasFailed() const { return has_failed_.load(std::memory_order_relaxed); }

  /// Something went wrong where nobody can be told, as in a destructor. The first words are kept; who ends the program
  /// says them. Any thread.
  void Note(const std::string& why) {
    const std::lock_guard lock{mutex_};
    if (trouble_.empty()) trouble_ = why;
  }
  /// The words that were noted first; empty if there were none. Any thread.
  std::string Trouble() const {
    const std::lock_guard lock{mutex_};
    return trouble_;
  }
  /// The same, unless somebody has called this already: for who says them. Any thread.
  std::string TakeUntold() {
    const std::lock_guard lock{mutex_};
    return std::exchange(is_told_, is_told_ || !trouble_.empty()) ? std::string{} : trouble_;
  }
  /// Somebody has said what is wrong. Any thread.
  void CountAsTold() {
    const std::lock_guard lock{mutex_};
    is_told_ = true;
  }

 private:
  template <typename V>
  using Atomic = typename Sync::template Atomic<V>;

  ProcessHooks hooks_;
  Atomic<bool> is_held_{false};
  Atomic<std::size_t> num_requests_{0};
  Atomic<bool> is_broken_{false};
  Atomic<bool> has_failed_{false};
  Atomic<bool> has_thrown_{false};
  mutable std::mutex mutex_;
  std::string trouble_;
  bool is_told_ = false;
  std::unique_ptr<PeerWatch> watch_ = std::make_unique<PeerWatch>();
};

/// That of a process.
using ProcessState = BasicProcessState<Spsc>;

}  // namespace uit
