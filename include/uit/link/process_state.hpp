#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/support/peer_watch.hpp>
#include <uit/support/process_hooks.hpp>
#include <uit/support/sync.hpp>

namespace uit {

/// State that all communication of this process shares: the lock that serialises MPI calls, because MPI should be called
/// by one thread at a time; the peers known to have ended; whether communication had to be left unfinished; and the first
/// error that could not be thrown to a caller.
///
/// `Sync` selects the atomics: std::atomic, or those of a model that explores every schedule.
template <Synchronization Sync>
class BasicProcessState {
 public:
  /// For a program that provides `hooks`.
  explicit BasicProcessState(ProcessHooks hooks = {});
  ~BasicProcessState();
  /// Returns the hooks that the program has provided. Any thread.
  const ProcessHooks& Hooks() const { return hooks_; }
  /// Shows a warning, unless this process has shown the same words before. Any thread.
  void WarnOnce(const std::string& words);

  /// Runs `f` while holding the lock. Returns false if another thread holds it; then `f` did not run. Never waits. Any
  /// thread.
  template <std::invocable F>
  bool Exclusively(F&& f) {
    // The acquire pairs with the release of the previous holder. The load comes first to avoid taking the cache line.
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
  /// Whether a call under the lock has thrown, for example because MPI failed. Then something may be pending that never
  /// completes. Any thread.
  bool HasThrown() const { return has_thrown_.load(std::memory_order_relaxed); }

  /// Watches these processes from now on. Call it before any other thread uses Watch.
  void WatchOver(const std::vector<ProcessIdentity>& peers);
  /// Returns the watch, which knows the watched processes of this host that have ended. Any thread.
  PeerWatch& Watch() const { return *watch_; }

  /// Returns the number of MPI requests that this process may use at once: the sum of all claims. Any thread.
  std::size_t NumRequests() const { return num_requests_.load(std::memory_order_relaxed); }
  /// Changes a claim of MPI requests from `before` to `now`. Any thread.
  void ClaimRequests(std::size_t before, std::size_t now) { num_requests_.fetch_add(now - before, std::memory_order_relaxed); }

  /// Notes that a peer did not answer. Something is pending that never completes, and collective calls may be impossible.
  void Break() { is_broken_.store(true, std::memory_order_relaxed); }
  /// Whether Break or Fail has been called. Any thread.
  bool IsBroken() const { return is_broken_.load(std::memory_order_relaxed); }

  /// Notes that the remaining processes go on in a world of their own, so that the end of a peer is no failure of this process.
  void Outlive() { has_outlived_.store(true, std::memory_order_relaxed); }
  /// Whether Outlive has been called. Any thread.
  bool HasOutlived() const { return has_outlived_.load(std::memory_order_relaxed); }

  /// Notes that this process could not do its part of a collective call, in which other processes may wait forever. From
  /// now on it starts no collective call, and it ends the job if the others do not end. Any thread.
  void Fail(const std::string& why);
  /// Whether Fail has been called. Any thread.
  bool HasFailed() const { return has_failed_.load(std::memory_order_relaxed); }

  /// Notes an error that cannot be thrown, as in a destructor. Only the first is kept; the code that ends the program
  /// reports it. Any thread.
  void Note(const std::string& why);
  /// Returns the first noted error, or an empty string. Any thread.
  std::string Trouble() const;
  /// Returns the first noted error for reporting. Returns an empty string if it has been reported already. Any thread.
  std::string TakeUntold();
  /// Notes that the error has been reported. Any thread.
  void CountAsTold();

 private:
  template <typename V>
  using Atomic = typename Sync::template Atomic<V>;

  ProcessHooks hooks_;
  Atomic<bool> is_held_{false};
  Atomic<std::size_t> num_requests_{0};
  Atomic<bool> is_broken_{false};
  Atomic<bool> has_failed_{false};
  Atomic<bool> has_thrown_{false};
  Atomic<bool> has_outlived_{false};
  mutable std::mutex mutex_;
  std::string trouble_;
  std::set<std::string> warned_;
  bool is_told_ = false;
  std::unique_ptr<PeerWatch> watch_;
};

/// The state of a process.
using ProcessState = BasicProcessState<Spsc>;

}  // namespace uit

#if UIT_COMPILED
extern template class uit::BasicProcessState<uit::Spsc>;
#else
#include <uit/link/process_state.ipp>
#endif
