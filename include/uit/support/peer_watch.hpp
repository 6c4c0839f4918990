#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <uit/config.hpp>
#include <uit/support/error.hpp>

namespace uit {

/// A process's identity for other processes of its host.
struct ProcessIdentity {
  std::uint64_t rank = 0;     ///< in the job
  std::int64_t process = 0;   ///< the system's process id
  std::uint64_t numbers = 0;  ///< the namespace of that id; 0: unknown

  /// The identity of this process, whose rank is `rank`.
  static ProcessIdentity OfThis(std::size_t rank);
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
  explicit PeerWatch(const std::vector<ProcessIdentity>& peers, std::function<void(const PeerLost&)> give_up = {});
  PeerWatch(const PeerWatch&) = delete;
  PeerWatch& operator=(const PeerWatch&) = delete;
  ~PeerWatch();

  /// The first process that was found to have ended. Its earlier writes to shared memory are then visible. Any thread;
  /// costs a load.
  std::optional<std::size_t> Gone() const {
    const std::size_t rank = first_gone_.load(std::memory_order_acquire);
    return rank == nobody ? std::nullopt : std::optional(rank);
  }
  /// All processes found to have ended, in the order found. Any thread.
  std::vector<std::size_t> AllGone() const;
  /// True if process `rank` was found to have ended. Any thread; costs a load until any process has ended.
  bool HasGone(std::size_t rank) const;
  /// Returns the number of processes whose end is noticed or was. Any thread.
  std::size_t NumWatched() const { return num_watched_; }
  /// Throws PeerLost if any process has ended; `where` names the current operation. Any thread.
  void Check(const char* where) const;

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

  void Watch(const ProcessIdentity& peer);
  static void Close(int handle);
  void Note(std::size_t rank);
  /// The thread starts with all signals blocked, because signals are for other threads.
  void StartThread();
  void Work();

  std::function<void(const PeerLost&)> give_up_;
  std::vector<Peer> peers_;
  std::size_t num_watched_ = 0;
  int wake_ = -1;
  std::atomic<bool> is_over_{false};
  std::atomic<std::size_t> first_gone_{nobody};
  std::atomic<const char*> call_{nullptr};
  mutable std::mutex mutex_;
  std::vector<std::size_t> gone_;
  std::thread thread_;  // last, because it uses all other members
};

}  // namespace uit

#if !UIT_COMPILED
#include <uit/support/peer_watch.ipp>
#endif
