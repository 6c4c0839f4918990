#pragma once

#include <uit/support/function_ref.hpp>
#include <uit/team/member.hpp>
#include <uit/team/team.hpp>
#include <uit/team/team_runs.hpp>

namespace uit {

/// Runs of a team whose members keep their conduits from one to the next, so that a short run does not open them again.
///
///     uit::TeamSession session{team};
///     session.Run([&](uit::Member& me) { … me.Barrier(); });
///     session.Run([&](uit::Member& me) { … me.Barrier(); });   // the same members
///
/// Between the runs, nobody takes in what arrives. The team can have other runs meanwhile.
class TeamSession {
 public:
  /// Collective.
  explicit TeamSession(const Team& team) : team_(team), runs_(team.GetWorld(), team.Options()) {}
  TeamSession(const TeamSession&) = delete;             ///< Not copied: members refer to it.
  TeamSession& operator=(const TeamSession&) = delete;  ///< Not copied.

  /// Calls `work(me)` on every thread of every process, and waits for those of this process. Its last act must be a collective call of
  /// all members. Collective. If `work` throws, Run throws as Team::Run does; the members are then gone, and the next run has others,
  /// so first destroy what refers to them.
  void Run(FunctionRef<void(Member&)> work) { runs_.GoOn(team_.Threads(), work); }

 private:
  Team team_;
  detail::TeamRuns runs_;
};

}  // namespace uit
