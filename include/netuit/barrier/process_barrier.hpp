#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include <netuit/barrier/reduced.hpp>
#include <netuit/barrier/vote.hpp>
#include <uit/config.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/function_ref.hpp>
#include <uit/support/pause.hpp>
#include <uit/link/world.hpp>
#include <uit/team/round_board.hpp>

namespace uit {
class Fabric;
}  // namespace uit

namespace netuit {

/// A barrier between processes at which they merge their votes. Never blocks inside MPI.
///
/// Processes that share memory post their votes on boards, which the other processes of the host read. The first process of
/// each host is its leader. Leaders exchange votes by dissemination, in ceil(log2(hosts)) rounds of one small message each
/// (Hensgen, Finkel, Manber 1988). Then they post the result.
///
/// Before round k, a leader knows the votes of 2^k hosts, up to its own; this is its window. In the last round, windows overlap
/// unless the number of hosts is a power of two. That does not matter to a maximum, but a sum may count every host only once. So
/// messages also carry the sums of a second window, of as many hosts as the lower k binary digits of the number of hosts say. In a
/// round whose digit is 1, a leader's second window becomes the sender's second and its own first one together. At the end it has
/// every host once.
///
/// One thread of each process may call it at a time.
class ProcessBarrier {
 public:
  /// Opens its own links. Shares memory if `shares_memory` is true on every process. Collective. Nothing may be sent before all
  /// processes have returned from it, so let them agree on something before the first use.
  ProcessBarrier(const uit::World& world, uit::Fabric& fabric, bool shares_memory = true);

  /// Waits until every process has arrived, and returns the merged vote. Calls `idle` between tries. Throws uit::PeerLost at
  /// the limit, or as soon as a process is known to have ended. After that, the barrier cannot be used.
  ///
  /// PeerLost names the silent rank only if it is unambiguous. This holds if this process reads that rank's board itself, or if
  /// there are two hosts and the rank is alone on the other.
  template <std::invocable Idle>
  Vote ArriveAndWait(const Vote& mine, uit::WaitLimit limit, Idle&& idle, const uit::Backoff& backoff = uit::Backoff{}) {
    const auto try_idle = [&idle] {
      if constexpr (std::same_as<std::invoke_result_t<Idle&>, bool>) return idle();
      else return idle(), false;
    };
    return Wait(mine, limit, try_idle, backoff);
  }

  /// The first half of ArriveAndWait: brings this process's vote. Never waits. Call TryEnd until it returns true before the
  /// next Begin or ArriveAndWait.
  void Begin(const Vote& mine);
  /// The second half: returns whether all processes have arrived. Never waits. If true, `outcome` is the merged vote.
  bool TryEnd(Vote& outcome);
  /// Throws uit::PeerLost for the process that TryEnd waits for. `is_gone`: because a process is known to have ended.
  [[noreturn]] void GiveUp(bool is_gone);

  /// Returns the rank for which this process waits or waited last. Only its thread may call it, in `idle`.
  std::size_t Awaited() const { return suspect_.rank; }

  /// Returns the largest reason to stop that a process visible from here has already brought to the next barrier, or 0. Never
  /// waits.
  std::uint32_t EarlyStop();

  /// Tells the processes that share memory that this process ends because it lost a peer, so that they do not report it as
  /// lost.
  void Leave();
  /// Whether processes of this host can see each other's calls of Leave.
  bool KnowsWhoLeft() const { return !arrivals_.empty(); }
  /// Whether a process has called Leave.
  bool HasLeft(std::size_t rank) const;

  /// Releases the links after all processes have passed their last barrier. Returns false at the deadline.
  bool Close(uit::Deadline deadline);

 private:
  using Try = uit::FunctionRef<bool()>;
  static constexpr int stream = 1;
  struct RoundMessage {
    std::uint64_t epoch = 0;
    Vote vote;  // of the first window
    ReductionSums rest;  // of the second window
  };
  /// The rank that is waited for, and whether it is certain that this rank does not itself wait for another.
  struct Suspect {
    std::size_t rank = 0;
    bool is_sure = false;
  };
  struct Round {
    std::size_t to = 0;
    std::size_t from = 0;
    std::optional<RoundMessage> early{};  // received and not used yet
  };

  /// Posts a vote, or reads the one of a barrier, if it is there.
  static void Post(uit::RoundBoard& board, std::uint64_t epoch, const Vote& vote);
  static std::optional<Vote> Read(const uit::RoundBoard& board, std::uint64_t epoch);
  void ShareBoards(const uit::World& world, bool shares_memory);
  void OpenRounds(const uit::World& world);

  /// As ArriveAndWait. Compiled once: a barrier is long, and every caller has an `idle` of its own.
  Vote Wait(const Vote& mine, const uit::WaitLimit& limit, Try idle, const uit::Backoff& backoff);
  bool IsLeader() const { return leader_ == rank_; }
  bool Attempt(Try step);
  bool TrySend(const Round& round);
  bool TryReceive(Round& round);

  uit::Fabric* fabric_;
  std::shared_ptr<uit::ProcessState> process_;
  std::size_t rank_;
  Suspect suspect_{};
  std::size_t leader_ = 0;
  std::size_t num_hosts_ = 1;
  bool is_other_alone_ = false;  // there are two hosts, and the other has one process
  std::uint64_t epoch_ = 0;
  std::map<std::size_t, uit::RoundBoard> arrivals_;  // by rank, of this host; empty without shared memory
  std::optional<uit::RoundBoard> result_;      // the leader's, if there are several hosts
  std::vector<Round> rounds_;                  // used by the leader
  Vote merged_;                                // of the votes read so far; the leader's first window
  ReductionSums rest_;                                  // the leader's second window
  std::map<std::size_t, uit::RoundBoard>::iterator next_board_{};  // to be read
  std::size_t next_round_ = 0;
  bool has_sent_ = false;                      // the message of that round
  std::map<std::size_t, uit::AnyLink> links_;  // by peer
  uit::Frame frame_;
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/barrier/process_barrier.ipp>
#endif
