#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <uit/link/world.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/support/function_ref.hpp>
#include <uit/team/failure_flag.hpp>
#include <uit/team/group.hpp>
#include <uit/team/joints.hpp>
#include <uit/team/loop_board.hpp>
#include <uit/team/team.hpp>
#include <uit/team/thread_barrier.hpp>
#include <uit/team/thread_pool.hpp>

namespace uit {

class Member;

}  // namespace uit

namespace uit::detail {

/// The runs of a team in this process, and what its members share in them.
class TeamRuns {
 public:
  /// Collective.
  TeamRuns(const World& world, const TeamOptions& options);
  TeamRuns(const TeamRuns&) = delete;
  TeamRuns& operator=(const TeamRuns&) = delete;
  ~TeamRuns();

  /// See Team::Run.
  int Run(ThreadPool& threads, FunctionRef<int(Member&)> work);
  /// See TeamSession::Run. Not together with Run.
  void GoOn(ThreadPool& threads, FunctionRef<void(Member&)> work);

  /// Calls `work` on one thread of the process, while all others wait and do not communicate. All members call it, with nothing
  /// between it and the last collective call, so that none is missing.
  void DoAlone(FunctionRef<void()> work);
  /// Makes the groups of a split, and ends those of earlier ones of which no member is left in any process. Collective over the
  /// processes; call it in DoAlone.
  void MakeSplit(const std::vector<std::vector<std::size_t>>& lists);
  /// Returns a group of the last split that has a member in this process.
  const std::shared_ptr<Group>& SplitGroup(std::size_t list) const { return splits_.back().groups[list]; }
  /// The group of all members.
  const std::shared_ptr<Group>& Everybody() const { return everybody_; }
  /// See TeamOptions::peer_timeout.
  std::chrono::nanoseconds Patience() const { return patience_; }
  /// Whether no other process takes part.
  bool IsOneProcess() const { return everybody_->num_processes == 1; }

 private:
  /// What one split has made.
  struct MadeSplit {
    World world;                                    // of its groups alone, so that their memory goes with it
    std::vector<std::shared_ptr<Group>> groups{};   // null where no member is in this process
  };

  /// Calls `work` on a thread, with `me` as its member, which is made if it is null. Notes a failure, and lets the others know.
  void Work(std::uint32_t thread, std::unique_ptr<Member>& me, std::exception_ptr& failure, FunctionRef<void()> work);
  /// After the member has left: waits until TryLinger, and lets messages leave meanwhile. Throws PeerLost if a process is lost, unless
  /// the member `has_failed` itself.
  void Linger(Member& me, Deadline deadline, bool has_failed = false);
  void BeginRun();
  /// Ends splits of which no process has a member. Collective; call it in DoAlone.
  void EndUnusedSplits();
  /// Closes the connections of a split and gives its memory back. Returns false at the deadline. Collective.
  bool End(MadeSplit& split, Deadline deadline);
  /// Ends a run in which the threads have failed so, and returns the largest of the codes of all processes, or throws. Collective.
  int EndRun(const std::vector<int>& codes, const std::vector<std::exception_ptr>& failures);
  /// Ends the connections of a run. Returns false at the deadline. Collective.
  bool Disconnect(Deadline deadline);
  /// Whether a member has failed, and whether because another had left.
  enum class Failure : std::uint32_t { none, consequence, cause };
  /// How a run has ended in a process.
  struct Verdict {
    int code = 0;
    Failure failure = Failure::none;
    ErrorKind kind = ErrorKind::other;
  };
  /// How long a member that has failed stays to tell others, and how long the others wait for its process to close.
  static constexpr std::chrono::seconds most_linger{10};
  static constexpr std::chrono::seconds most_closing{3 * most_linger};
  static std::pair<std::exception_ptr, Failure> FirstCause(const std::vector<std::exception_ptr>& failures);

  World world_;
  World private_world_;
  std::uint32_t num_threads_;
  bool shares_memory_;
  std::chrono::nanoseconds patience_;
  bool has_cores_;  // one for each thread of this host
  LoopBoard<> loops_;
  std::shared_ptr<Group> everybody_;
  std::uint64_t num_runs_ = 0;
  std::optional<ThreadBarrier<>> gate_;                // of the current run; see DoAlone
  bool has_failed_alone_ = false;                      // written by the thread that works alone
  FailureFlag<> failure_;                              // of a member of this process, in the current run
  std::optional<Joints> joints_;                       // of the current run
  std::vector<std::unique_ptr<Member>> members_;       // by thread, if they go on
  std::vector<MadeSplit> splits_;                      // of the current run, in order; the others have ended
  std::uint64_t num_groups_ = 0;                       // made by splits of the current run
};

}  // namespace uit::detail

#if !UIT_COMPILED
#include <uit/team/team_runs.ipp>
#endif
