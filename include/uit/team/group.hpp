#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <uit/config.hpp>
#include <uit/link/process_state.hpp>
#include <uit/link/world.hpp>
#include <uit/team/host_rounds.hpp>
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
  };
  std::uint64_t number = 0;              // among the groups that a run has made by splits; 0 for the whole team
  std::size_t piece_bytes = 0;           // most that a member brings to a round; a multiple of RoundBoard::alignment
  std::vector<Seat> seats;
  std::vector<Host> hosts;
  std::size_t num_processes = 0;
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

}  // namespace uit::detail

#if !UIT_COMPILED
#include <uit/team/group.ipp>
#endif
