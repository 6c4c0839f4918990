#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <uit/support/peer_watch.hpp>

namespace uit {

/// What all that talks to the peers of this process has in common: one lock, because MPI wants to be called by one
/// thread at a time; who is known to have ended; and whether something had to be left unfinished.
class ProcessState {
 public:
  /// Runs `f` while holding the lock; false if somebody else has it. Never waits. Any thread.
  template <std::invocable F>
  bool Exclusively(F&& f) {
    // The acquire pairs with the release of whoever held the lock before. Looking first spares the line.
    if (is_held_.test(std::memory_order_relaxed) || is_held_.test_and_set(std::memory_order_acquire)) return false;
    struct Unlock {
      std::atomic_flag& flag;
      ~Unlock() { flag.clear(std::memory_order_release); }
    } unlock{is_held_};
    std::forward<F>(f)();
    return true;
  }

  /// Watches these from now on, instead of nobody. Before anybody else looks.
  void WatchOver(const std::vector<ProcessIdentity>& peers) { watch_ = std::make_unique<PeerWatch>(peers); }
  /// Who of this computer has ended. Any thread.
  PeerWatch& Watch() const { return *watch_; }

  /// A peer did not answer, so something is pending that never ends, and there may be no collective any more.
  void Break() { is_broken_.store(true, std::memory_order_relaxed); }
  /// Whether anything ever broke. Any thread.
  bool IsBroken() const { return is_broken_.load(std::memory_order_relaxed); }

 private:
  std::atomic_flag is_held_ = ATOMIC_FLAG_INIT;
  std::atomic<bool> is_broken_{false};
  std::unique_ptr<PeerWatch> watch_ = std::make_unique<PeerWatch>();
};

}  // namespace uit
