#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/support/function_ref.hpp>
#include <uit/link/world.hpp>

namespace uit {

class Member;
class ThreadPool;

namespace detail {

class TeamRuns;

}  // namespace detail

/// Options of a team. The same on every process.
struct TeamOptions {
  std::uint32_t threads = 1;   ///< of each process
  bool shares_memory = true;   ///< conduits within a host, between processes, use shared memory, if the world provides it
  /// How long a member that waits for other processes does so before they count as lost: in a collective call, at the end of a run, and
  /// in waits without a deadline in which nothing arrives. By default for ever, because a member may compute for as long as it likes. A
  /// process of this host that has ended is noticed at once.
  std::chrono::nanoseconds peer_timeout = std::chrono::nanoseconds::max();
  /// Each thread stays on one CPU of those that its process may use. Threads of all processes of a host are on different cores
  /// while there are enough. The thread that calls Run is bound during each run only. A thread that a bound thread starts inherits
  /// its CPU.
  bool pins_threads = false;
};

/// The processes that work together, and the threads of each. A handle; cheap to copy.
///
///     uit::Team team{session.World(), {.threads = 2}};
///     netuit::Mesh mesh{team, graph};                                                   // a graph placed on all threads
///     team.Run([](uit::Member& me) { … me.AllReduce(sum, std::plus<>{}) … });           // or a function on all threads
///
/// Run and Member: include <uit/team/member.hpp>.
class Team {
 public:
  /// A team of the processes of `world`. Throws uit::InputError if the number of threads is 0, or if threads are to be pinned on a
  /// system that cannot do it. Collective if threads are to be pinned.
  explicit Team(World world = {}, const TeamOptions& options = {});

  /// Returns a team of other processes with the same options. Collective over them if threads are pinned.
  Team On(World world) const { return Team(std::move(world), state_->options); }
  /// The processes.
  const World& GetWorld() const { return state_->world; }
  /// The options with which it was made.
  const TeamOptions& Options() const { return state_->options; }
  /// Threads of each process.
  std::uint32_t NumThreads() const { return state_->options.threads; }
  /// The CPU of each thread of this process, by the number that the system gives it. Empty if threads are not pinned.
  const std::vector<std::uint32_t>& Cpus() const { return state_->cpus; }
  /// True for the process that loads the graph, assigns its nodes, and gathers results: rank 0.
  bool IsRoot() const { return GetWorld().IsRoot(); }
  /// This process's number, from 0.
  std::size_t Rank() const { return GetWorld().Rank(); }
  /// The number of processes.
  std::size_t NumProcesses() const { return GetWorld().Size(); }

  /// Returns the threads, spread over the cores that the processes of the host may use. They live as long as the last copy of the team.
  /// If this process may use fewer cores than it has threads, it warns once.
  /// Throws uit::Error if they cannot be started or pinned.
  ThreadPool& Threads() const;

  /// Calls `work(me)` on every thread of every process, and waits for all. Returns 0, or the largest of what `work` returns. Collective.
  /// Conduits and groups that members have made end with the run.
  ///
  /// If `work` throws on a member, all others notice at their next collective call. Run then throws on every process: the same there,
  /// and FailedElsewhere on the others.
  template <std::invocable<Member&> F>
  int Run(F&& work) const {
    return RunOnAll([&work](Member& me) {
      if constexpr (std::is_void_v<std::invoke_result_t<F&, Member&>>) {
        work(me);
        return 0;
      } else {
        return static_cast<int>(work(me));
      }
    });
  }

 private:
  struct State {
    World world;
    TeamOptions options;
    std::vector<std::uint32_t> cpus{};  // by thread, if they are pinned
    std::unique_ptr<ThreadPool> threads{};
    std::shared_ptr<detail::TeamRuns> runs{};  // since the first run
  };
  /// Defined in member.ipp, which only programs with runs need.
  int RunOnAll(FunctionRef<int(Member&)> work) const;

  std::shared_ptr<State> state_;
};

}  // namespace uit

#if !UIT_COMPILED
#include <uit/team/team.ipp>
#endif
