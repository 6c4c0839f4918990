#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <netuit/mesh/status_board.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/quality/quality.hpp>
#include <uit/config.hpp>
#include <uit/support/error.hpp>
#include <uit/tally.hpp>

namespace netuit {

/// Why a run ended. Where workers bring different reasons, the largest counts.
enum class StopReason : std::uint32_t {
  none = 0,
  count = 1,      ///< every worker has made its updates
  clock = 2,      ///< the time is up
  asked = 3,      ///< a node has asked for it
  signal = 4,     ///< SIGINT, SIGTERM or SIGUSR1
  thrown = 5,     ///< an update threw, or on_progress
  peer_lost = 6   ///< a process did not answer in time
};

/// How far a worker has come.
struct Progress {
  std::chrono::nanoseconds elapsed{0};  ///< since the start barrier
  std::uint64_t num_updates = 0;        ///< of the worker that reports
};

/// A worker between two of its updates.
struct Sample {
  WorkerId worker;                         ///< which
  std::chrono::nanoseconds elapsed{0};  ///< since the start barrier, by its clock
  std::uint64_t num_updates = 0;        ///< that it has made
  std::size_t first_node = 0;           ///< of its nodes, numbered within the process
  std::size_t num_nodes = 0;            ///< they stand in a row
};

/// What can be chosen for a run. The same on every process, but for what `on_progress` does.
struct RunOptions {
  std::uint64_t seed = 1;                 ///< of Node::Random
  /// Snapshots of the quality of service, taken while the run goes on; latencies want a mesh with MeshOptions::is_traced.
  QualityOptions quality{};
  /// How long to wait for a process that is silent before it counts as lost; with a limit of updates and no barriers also
  /// how much later than the first worker the last may finish. One of this computer that has ended is noticed at once.
  /// Who loses another goes on to the run's end without it, but for mode 0, where it ends the run; see RunReport::Lose.
  std::chrono::nanoseconds peer_timeout = std::chrono::seconds(60);
  std::chrono::nanoseconds warn_after = std::chrono::seconds(5);  ///< how long to wait for others without an on_warning
  /// Under netuit::Main or a uit::mpi::Session, SIGINT, SIGTERM and SIGUSR1 end the run instead of the process; see
  /// uit::ProcessHooks::heed_stops for other programs. Once one has done so, they stay blocked, because launchers send them more
  /// than once, and results are yet to be written. No other thread of the process may be open to them: a uit::mpi::Session
  /// keeps MPI's own from that, and who starts MPI or threads beforehand blocks them meanwhile.
  bool stops_on_signal = true;
  /// Called with one line when something is amiss and the run goes on: a process has ended, or is late at a barrier, or
  /// what is to be replayed was cut short. By any worker, one at a time. If empty, uit::ProcessHooks::warn is, which
  /// prints to stderr under netuit::Main or a uit::mpi::Session.
  std::function<void(const std::string&)> on_warning{};
  std::function<void(const Progress&)> on_progress{};  ///< called by this process's first worker, between updates
  std::chrono::nanoseconds progress_interval = std::chrono::seconds(1);  ///< between calls of on_progress
  /// Called by every worker by its own clock, between its updates, to look at its own nodes; nobody is stopped. Several
  /// threads at once.
  std::function<void(const Sample&)> on_sample{};
  std::chrono::nanoseconds sample_interval = std::chrono::milliseconds(50);  ///< between calls of on_sample; the first is at 0
  /// Called on process 0 by its first worker, between updates, with what all workers have said last, by process and thread.
  /// Wants a mesh with MeshOptions::is_watched.
  std::function<void(std::span<const WorkerStatus>)> on_status{};
  std::chrono::nanoseconds status_interval = std::chrono::milliseconds(250);  ///< between calls of on_status
  /// A folder, in which every worker writes down what comes in from others, so that the run can be replayed; it outlives a
  /// process that is killed. No record that is there is overwritten. Empty: nothing is recorded, which costs nothing.
  std::string record{};
  /// A folder with the record of the same run of the same program on the same mesh: every node sees again what it saw at
  /// each of its updates, to the end of the record. Where that was cut short, on_warning is told, and the last update
  /// is made in part. Messages that the recorded run left unread are not on record: afterwards they are not there for Visit,
  /// and a run of mode 0 on the same mesh is refused.
  /// Limits by clock and count, barriers, and other workers make no difference. What the update does must follow from
  /// what it sees: its node, its messages, what became of its puts, and Node::Random.
  std::string replay{};
  std::chrono::duration<double> simulated_node_cost{0};  ///< in a simulation, of a node's update: beside what ApplicationHooks says
};

/// Throws uit::InputError if a run cannot be as the options say.
inline void CheckOptions(const RunOptions& options) {
  if (options.peer_timeout.count() <= 0) throw uit::InputError("a run must wait for other processes for some time");
  if (options.quality.interval.count() < 0) throw uit::InputError("snapshots cannot follow each other in less than no time");
  if (options.quality.interval.count() > 0 && options.quality.length.count() <= 0)
    throw uit::InputError("a snapshot needs some time");
  if (!options.record.empty() && !options.replay.empty()) throw uit::InputError("a replay cannot be recorded");
}

/// What one worker did.
struct WorkerReport {
  WorkerId id;                         ///< which worker
  std::uint64_t num_nodes = 0;         ///< that it updates
  std::uint64_t num_updates = 0;       ///< of each of them
  std::uint64_t num_barriers = 0;      ///< but for those that start and end a run
  std::chrono::nanoseconds elapsed{0}; ///< from the start barrier to its last update
  uit::Tally tally;                    ///< since the mesh was made: channels that leave the thread
  uit::Tally inside;                   ///< conduits per edge that do not

  /// Updates per second of its own time.
  double Rate() const {
    return elapsed.count() == 0 ? 0 : static_cast<double>(num_updates) / std::chrono::duration<double>(elapsed).count();
  }
};

/// What a run came to.
struct RunReport {
  std::vector<WorkerReport> workers{};  ///< on rank 0 those of all processes, elsewhere one's own; by process and thread
  std::vector<QualityRow> quality{};    ///< the snapshots that those workers have taken, by worker and time
  std::vector<QualityRow> channels{};   ///< likewise a row per channel, if asked for
  StopReason stopped_by = StopReason::none;  ///< the weightiest reason that any worker had
  int signal = 0;                     ///< which one, if a signal ended the run
  std::string message{};              ///< in one line, what went wrong; on rank 0, or where it did
  /// The processes that ended or fell silent, as far as this one can tell; ascending. Who is silent can be told in modes 1 to 4,
  /// by the first process of its computer (by all, if there is one computer), and where there are two and it is alone on its
  /// own, by the first of the other.
  std::vector<std::size_t> lost_peers{};
  bool is_root = true;  ///< whether it is rank 0's

  /// A process is gone, so that what others did is not to be had: the report is about this process alone.
  void Lose(const uit::PeerLost& lost) {
    stopped_by = StopReason::peer_lost;
    if (message.empty()) message = lost.what();
    const auto rank = lost.Rank();
    if (rank && std::ranges::find(lost_peers, *rank) == lost_peers.end()) lost_peers.push_back(*rank);
    std::ranges::sort(lost_peers);
  }

  /// 0: as planned; 3: without a peer; 4: an update threw; 128 + n: signal n.
  int ExitCode() const {
    if (stopped_by == StopReason::peer_lost) return 3;
    if (stopped_by == StopReason::thrown) return 4;
    return stopped_by == StopReason::signal ? 128 + signal : 0;
  }
  /// Prints, on rank 0, how many updates there were, and what became of messages; a line each, to stdout.
  void Print() const;
  /// Channels that leave their thread, over all workers of this report.
  uit::Tally Tally() const {
    uit::Tally sum;
    for (const WorkerReport& worker : workers) sum += worker.tally;
    return sum;
  }
  /// Whether every message is accounted for and none is in flight. On rank 0, or in a run of one process.
  bool Balanced() const {
    uit::Tally inside;
    for (const WorkerReport& worker : workers) inside += worker.inside;
    return Tally().Balanced() && inside.Balanced();
  }
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/run/run_options.ipp>
#endif
