#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/function_ref.hpp>
#include <uit/team/group.hpp>
#include <uit/team/leaving.hpp>
#include <uit/team/round_board.hpp>

namespace uit::detail {

/// One member's way through the rounds of a group. Its thread only.
class Rounds {
 public:
  /// For the member at position `seat`, in the team's run number `run`, which counts from 1. For `patience` see
  /// TeamOptions::peer_timeout.
  Rounds(std::shared_ptr<Group> group, std::size_t seat, std::uint64_t run, std::chrono::nanoseconds patience)
      : group_(std::move(group)), seat_(seat), run_(run), patience_(patience), number_(run << 32U) {}

  std::size_t Seat() const { return seat_; }
  std::size_t Size() const { return group_->seats.size(); }
  const Group& GetGroup() const { return *group_; }
  /// Most bytes that a member brings to a round.
  std::size_t PieceBytes() const { return group_->piece_bytes; }

  /// Begins a round: brings `piece` and, behind it, `rest`. Never waits. Call TryEnd until it returns true before the next Begin.
  void Begin(std::uint64_t kind, std::uint64_t total, ByteView piece, ByteView rest = {});
  /// Returns whether all members have come to the round. Never waits. Throws MemberLeft if one has left the run, PeerLost if a process
  /// of this host has ended or another does not come in time, and Error if members have called different collectives.
  bool TryEnd();
  /// Returns what a member has brought to the round that has ended, until the next Begin.
  const Brought& At(std::size_t seat) const { return brought_[seat]; }
  /// Throws if a member of this host takes no further part in the run.
  void CheckStays(std::size_t seat) const;
  /// Throws if a member is known to have failed, or if a process of this host has ended: the run has failed, whoever waits for what.
  /// The leader looks at the other hosts, and the other members at what it posts. If `looks_for_leader`, those of its process look
  /// themselves: in a loop of tries, another thread may have the process's lock whenever the leader looks. Not in a collective call,
  /// which only the leader can complete with what a host has sent before it failed.
  void CheckNobodyFailed(bool looks_for_leader = false);
  /// Takes no further part in the run. Does nothing the second time, unless it leaves in a worse way.
  void Leave(Leaving how = {});
  /// After Leave, if there are several processes: whether all members have left, or a failure is known. Meanwhile a leader that has
  /// nothing more to do tells those that still wait what it hears, and other hosts what its own has found. Never waits.
  bool TryLinger();
  /// How this member has left; see Leave.
  Leaving Left() const { return left_.value_or(Leaving{}); }

 private:
  bool TryReadHost();
  bool TryReadOthers();
  void PostResults();
  const Group::Seat& Leader() const { return group_->seats[group_->hosts[group_->own_host].leader]; }
  /// Throws if a member has left or ended without what `has_come` looks for. What it did before has taken effect by then.
  void CheckThere(const Group::Seat& seat, FunctionRef<bool()> has_come) const;
  /// Throws for a member that has left: what this process knows itself, if the member has lost a process of this host.
  [[noreturn]] void ThrowLeft(const Group::Seat& seat, Leaving how, const char* where, const char* why) const;
  /// Throws if the round has waited for another process for longer than `patience`. That process may itself wait for another, unless
  /// the group has no third one.
  void CheckInTime(std::size_t process, std::chrono::nanoseconds patience);
  /// Whether this member exchanges blocks with other hosts.
  bool Leads() const { return group_->hosts.size() > 1 && group_->hosts[group_->own_host].leader == seat_; }

  std::shared_ptr<Group> group_;
  std::size_t seat_;
  std::uint64_t run_;
  std::chrono::nanoseconds patience_;
  std::uint64_t number_;
  std::uint64_t kind_ = 0;
  std::size_t num_read_ = 0;  // seats of this host
  bool has_begun_ = false;    // with the other hosts
  bool is_last_ = false;      // the last round has begun
  std::optional<Leaving> left_{};
  std::optional<std::size_t> awaited_{};  // a process
  TimePoint late_at_{};                   // if it has not come then
  std::vector<Brought> brought_{group_->seats.size()};
};

}  // namespace uit::detail

#if !UIT_COMPILED
#include <uit/team/rounds.ipp>
#endif
