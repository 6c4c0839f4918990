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

/// A process's identity for other processes of its host.
struct ProcessIdentity {
  std::uint64_t rank = 0;     ///< in the job
  std::int64_t process = 0;   ///< the system's process id
  std::uint64_t numbers = 0;  ///< the namespace of that id; 0: unknown

  /// The identity of this process, whose rank is `rank`.
  static ProcessIdentity OfThis(std::size_t rank) {
    struct stat about {};
    const bool is_known = stat("/proc/self/ns/pid", &about) == 0;
    return {.rank = rank, .process = getpid(), .numbers = is_known ? about.st_ino : 0};
  }
};

/// Notices when other processes of this host end, for whatever reason. Its own thread sleeps until then, so a check costs
/// only a load. If the system cannot tell (Linux before 5.3, or processes in separate containers), no process is reported
/// as ended.
class PeerWatch {
 public:
  /// Watches no process.
  PeerWatch() = default;
  /// Watches all of `peers` except this process. A peer that has ended since it gave its identity is found too. For
  /// `give_up` see Blocking.
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
      else thread_.detach();  // cannot happen: the event counter is at 0
    }
    for (const Peer& peer : peers_) Close(peer.handle);
    Close(wake_);
  }

  /// The first process that was found to have ended. Its earlier writes to shared memory are then visible. Any thread;
  /// costs a load.
  std::optional<std::size_t> Gone() const {
    const std::size_t rank = first_gone_.load(std::memory_order_acquire);
    return rank == nobody ? std::nullopt : std::optional(rank);
  }
  /// All processes found to have ended, in the order found. Any thread.
  std::vector<std::size_t> AllGone() const {
    const std::lock_guard lock(mutex_);
    return gone_;
  }
  /// True if process `rank` was found to have ended. Any thread; costs a load until any process has ended.
  bool HasGone(std::size_t rank) const {
    if (!Gone()) return false;
    const std::lock_guard lock(mutex_);
    return std::find(gone_.begin(), gone_.end(), rank) != gone_.end();
  }
  /// Throws PeerLost if any process has ended; `where` names the current operation. Any thread.
  void Check(const char* where) const {
    if (const auto rank = Gone()) throw PeerLost(*rank, where);
  }

  /// Marks that the thread is inside a call that waits for other processes and cannot be told to stop. If one of them has
  /// ended, this process cannot continue. Then `give_up` is called every three seconds and may end the process. One thread
  /// at a time.
  class Blocking {
   public:
    /// Marks the call named `call`, until destruction.
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
  /// The thread starts with all signals blocked, because signals are for other threads.
  void StartThread() {
    sigset_t all;
    sigset_t previous;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &previous);
    try {
      thread_ = std::thread([this] { Work(); });
    } catch (const std::system_error&) {  // no thread available: no process is watched
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
        handles[i].fd = -1;  // poll ignores it from now on
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
  std::thread thread_;  // last, because it uses all other members
};

}  // namespace uit
