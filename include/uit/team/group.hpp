#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/link/process_state.hpp>
#include <uit/link/world.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/function_ref.hpp>
#include <uit/team/host_rounds.hpp>
#include <uit/team/leaving.hpp>
#include <uit/team/round_board.hpp>

namespace uit::detail {

/// Members of a team that take part in collective calls together, as one process sees them. The members of a process share it.
///
/// Members of one host read each other's boards: one hop, whether they are threads or processes. If there are several hosts, the
/// first member of each, its leader, exchanges blocks with the others and posts what it gets for the members of its host.
struct Group {
  /// One member.
  struct Seat {
    std::size_t rank = 0;                // in the team
    std::size_t process = 0;
    std::size_t host = 0;
    std::optional<RoundBoard> board{};   // if it is on this host
    std::size_t record = 0;              // else its position in `results`
  };
  /// One host. Only its leader's process has the links to others.
  struct Host {
    std::size_t leader = 0;              // a seat
    std::vector<std::size_t> seats{};
    bool has_one_process = true;
  };
  std::uint64_t number = 0;              // among the groups that a run has made by splits; 0 for the whole team
  std::size_t piece_bytes = 0;           // most that a member brings to a round; a multiple of RoundBoard::alignment
  std::vector<Seat> seats;
  std::vector<Host> hosts;
  std::size_t own_host = 0;
  std::optional<RoundBoard> results;     // what the members of other hosts have brought; none if there is one host
  std::unique_ptr<HostRounds> rounds;    // in the leader's process, if there are several hosts
  std::shared_ptr<std::byte> own_memory;  // of the boards, if no other process reads them; null otherwise
  std::shared_ptr<ProcessState> process;

  /// The head of a member's record in `results`. Its bytes follow.
  struct Record {
    std::uint64_t kind = 0;
    std::uint64_t total = 0;
    std::uint64_t num_bytes = 0;
    std::uint64_t unused = 0;
  };
  static_assert(sizeof(Record) == RoundBoard::alignment);
  std::size_t RecordBytes() const { return sizeof(Record) + piece_bytes; }
};

/// Makes groups. Each of `lists` names the members of one by their ranks in the team; a rank is in at most one. Rank r is thread
/// r % num_threads of process r / num_threads. Returns for each list the group, or null if no member of this process is in it.
/// Uses as many streams of `world` as there are lists. Collective over its processes.
std::vector<std::shared_ptr<Group>> MakeGroups(const World& world, std::uint32_t num_threads,
                                               const std::vector<std::vector<std::size_t>>& lists);

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

  /// Begins a round: brings `piece`. Never waits. Call TryEnd until it returns true before the next Begin.
  void Begin(std::uint64_t kind, std::uint64_t total, ByteView piece);
  /// Returns whether all members have come to the round. Never waits. Throws MemberLeft if one has left the run, PeerLost if a process
  /// of this host has ended or another does not come in time, and Error if members have called different collectives.
  bool TryEnd();
  /// Returns what a member has brought to the round that has ended, until the next Begin.
  const Brought& At(std::size_t seat) const { return brought_[seat]; }
  /// Throws if a member of this host takes no further part in the run.
  void CheckStays(std::size_t seat) const;
  /// Throws if a member is known to have failed, or if a process of this host has ended: the run has failed, whoever waits for what.
  /// The leader looks at the other hosts, and the other members at what it posts.
  void CheckNobodyFailed();
  /// Takes no further part in the run. Does nothing the second time, unless it leaves in a worse way.
  void Leave(Leaving how = {});
  /// After Leave: waits until all members of this host have left, so that a leader that has nothing more to do tells those that still
  /// wait what it hears from other hosts.
  void Linger();

 private:
  bool TryReadHost();
  bool TryReadOthers();
  void PostResults();
  const Group::Seat& Leader() const { return group_->seats[group_->hosts[group_->own_host].leader]; }
  /// Throws if a member has left or ended without what `has_come` looks for. What it did before has taken effect by then.
  void CheckThere(const Group::Seat& seat, FunctionRef<bool()> has_come) const;
  /// Throws if the round has waited for another process for too long. Unless it `is_surely_that_one`, that process may itself wait for
  /// another, and those that know it should speak first.
  void CheckInTime(std::size_t process, bool is_surely_that_one);
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
  std::optional<Leaving> left_{};
  std::optional<std::size_t> awaited_{};  // a process
  TimePoint late_at_{};                   // if it has not come then
  std::vector<Brought> brought_{group_->seats.size()};
};

}  // namespace uit::detail

#if !UIT_COMPILED
#include <uit/team/group.ipp>
#endif
