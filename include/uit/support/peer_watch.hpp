#pragma once

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <pthread.h>

#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>

namespace uit {

/// A process as others of its computer know it.
struct ProcessIdentity {
  std::uint64_t rank = 0;     ///< in the job
  std::int64_t process = 0;   ///< its number in the system
  std::uint64_t numbers = 0;  ///< the namespace in which that is its number; 0: not known

  /// Of this process, as rank `rank`.
  static ProcessIdentity OfThis(std::size_t rank) {
    struct stat about {};
    const bool is_known = stat("/proc/self/ns/pid", &about) == 0;
    return {.rank = rank, .process = getpid(), .numbers = is_known ? about.st_ino : 0};
  }
};

/// Notices when other processes of this computer end, however that comes about. A thread of its own sleeps until then, so
/// that to look costs a load. Where the system cannot tell (Linux before 5.3, or processes in containers of their own),
/// nobody is found to have ended.
class PeerWatch {
 public:
  /// A watch over nobody.
  PeerWatch() = default;
  /// Over all of `peers` but this process. One that has ended since it gave its identity counts. For `give_up` see Blocking.
  explicit PeerWatch(const std::vector<ProcessIdentity>& peers, std::function<void(const PeerLost&)> give_up = {})
      : give_up_(std::move(give_up)) {
    const ProcessIdentity own = ProcessIdentity::OfThis(0);
    for (const ProcessIdentity& peer : peers) {
      if (peer.process != own.process && own.numbers != 0 && peer.numbers == own.numbers) Watch(peer);
    }
    if (peers_.empty() && !Gone()) return;
    wake_ = eventfd(0, EFD_CLOEXEC);
    if (wake_ >= 0) StartThread();
  }
  PeerWatch(const PeerWatch&) = delete;
  PeerWatch& operator=(const PeerWatch&) = delete;
  ~PeerWatch() {
    if (thread_.joinable()) {
      is_over_.store(true, std::memory_order_relaxed);
      const std::uint64_t one = 1;
      if (write(wake_, &one, sizeof one) == sizeof one) thread_.join();
      else thread_.detach();  // cannot happen to an event counter at 0
    }
    for (const Peer& peer : peers_) Close(peer.handle);
    Close(wake_);
  }

  /// The first that was found to have ended. All that it did to shared memory is seen afterwards. Any thread; costs a load.
  std::optional<std::size_t> Gone() const {
    const std::size_t rank = first_gone_.load(std::memory_order_acquire);
    return rank == nobody ? std::nullopt : std::optional(rank);
  }
  /// All that were found to have ended, as they were found. Any thread.
  std::vector<std::size_t> AllGone() const {
    const std::lock_guard lock(mutex_);
    return gone_;
  }
  /// Whether that one was found to have ended. Any thread; costs a load until somebody has.
  bool HasGone(std::size_t rank) const {
    if (!Gone()) return false;
    const std::lock_guard lock(mutex_);
    return std::find(gone_.begin(), gone_.end(), rank) != gone_.end();
  }
  /// Throws PeerLost if anybody has ended; `where` is what is being done. Any thread.
  void Check(const char* where) const {
    if (const auto rank = Gone()) throw PeerLost(*rank, where);
  }

  /// While it lives, the thread is inside a call that waits for other processes and cannot be told to stop. If one of them
  /// has ended, this process cannot go on: every three seconds `give_up` is called, which may end it. One thread at a time.
  class Blocking {
   public:
    /// In the call of that name.
    Blocking(PeerWatch& watch, const char* call) : watch_(watch) { watch_.call_.store(call, std::memory_order_relaxed); }
    Blocking(const Blocking&) = delete;
    Blocking& operator=(const Blocking&) = delete;
    ~Blocking() { watch_.call_.store(nullptr, std::memory_order_relaxed); }

   private:
    PeerWatch& watch_;
  };

 private:
  static constexpr std::size_t nobody = static_cast<std::size_t>(-1);
  struct Peer {
    std::size_t rank = 0;
    int handle = -1;
  };

  void Watch(const ProcessIdentity& peer) {
#ifdef SYS_pidfd_open
    const auto handle = static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(peer.process), 0U));
    if (handle >= 0) peers_.push_back({static_cast<std::size_t>(peer.rank), handle});
    else if (errno == ESRCH) Note(static_cast<std::size_t>(peer.rank));
#endif
  }
  static void Close(int handle) {
    if (handle >= 0) close(handle);
  }
  void Note(std::size_t rank) {
    const std::lock_guard lock(mutex_);
    gone_.push_back(rank);
    std::size_t none = nobody;
    first_gone_.compare_exchange_strong(none, rank, std::memory_order_release, std::memory_order_relaxed);
  }
  /// Signals are for others, so the thread is born without them.
  void StartThread() {
    sigset_t all;
    sigset_t previous;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &previous);
    try {
      thread_ = std::thread([this] { Work(); });
    } catch (const std::system_error&) {  // no thread to be had: nobody is watched
    }
    pthread_sigmask(SIG_SETMASK, &previous, nullptr);
  }
  void Work() {
    std::vector<pollfd> handles{{.fd = wake_, .events = POLLIN, .revents = 0}};
    for (const Peer& peer : peers_) handles.push_back({.fd = peer.handle, .events = POLLIN, .revents = 0});
    const char* stuck_in = nullptr;
    TimePoint stuck_since{};
    while (!is_over_.load(std::memory_order_relaxed)) {
      const bool has_gone = Gone().has_value();
      if (poll(handles.data(), handles.size(), has_gone ? 100 : -1) < 0 && errno != EINTR) return;
      for (std::size_t i = 1; i < handles.size(); ++i) {
        if (handles[i].fd < 0 || handles[i].revents == 0) continue;
        handles[i].fd = -1;  // poll passes over it
        Note(peers_[i - 1].rank);
      }
      const char* call = has_gone ? call_.load(std::memory_order_relaxed) : nullptr;
      if (std::exchange(stuck_in, call) != call) stuck_since = Now();
      if (call == nullptr || Now() - stuck_since <= std::chrono::seconds(3)) continue;
      if (give_up_) give_up_(PeerLost(*Gone(), call));
      stuck_since = Now();
    }
  }

  std::function<void(const PeerLost&)> give_up_;
  std::vector<Peer> peers_;
  int wake_ = -1;
  std::atomic<bool> is_over_{false};
  std::atomic<std::size_t> first_gone_{nobody};
  std::atomic<const char*> call_{nullptr};
  mutable std::mutex mutex_;
  std::vector<std::size_t> gone_;
  std::thread thread_;  // last: it uses all the others
};

}  // namespace uit
