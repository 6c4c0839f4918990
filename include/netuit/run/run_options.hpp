#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <netuit/mesh/status_board.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/quality/effective_updates.hpp>
#include <netuit/quality/quality.hpp>
#include <netuit/quality/timeline.hpp>
#include <uit/config.hpp>
#include <uit/tally.hpp>

namespace uit {
class PeerLost;
}  // namespace uit

namespace netuit {

/// The reason why a run ended. If workers have different reasons, the one with the largest value counts.
enum class StopReason : std::uint32_t {
  none = 0,
  count = 1,      ///< every worker has made all its updates
  clock = 2,      ///< the duration has passed
  asked = 3,      ///< a node called Node::RequestStop, or the schedule's condition `until` held
  signal = 4,     ///< SIGINT, SIGTERM or SIGUSR1
  thrown = 5,     ///< an update or a callback threw
  peer_lost = 6   ///< a process was lost: it ended or stayed silent too long
};

/// A worker's progress.
struct Progress {
  std::chrono::nanoseconds elapsed{0};  ///< since the start barrier
  std::uint64_t num_updates = 0;        ///< of the worker that reports
};

/// A worker between two of its updates, as passed to RunOptions::on_sample.
struct Sample {
  WorkerId worker;                         ///< the worker
  std::chrono::nanoseconds elapsed{0};  ///< since the start barrier, by its clock
  std::uint64_t num_updates = 0;        ///< that it has made
  std::size_t first_node = 0;           ///< local number of its first node within the process
  std::size_t num_nodes = 0;            ///< number of its nodes, which are consecutive
};

/// Options of a run. They must be the same on every process, except for the callbacks' actions.
struct RunOptions {
  /// For Node::Random. Nothing: the seed of the mesh's last run, or of the checkpoint that it was loaded from; 1 at first.
  std::optional<std::uint64_t> seed{};
  /// The number of the first update, for Node::Update and Node::Random. With MeshCore::NumUpdates, a run goes on where the last
  /// one ended, or where the checkpoint was made that the mesh comes from.
  ///
  /// In Dataflow with edge delays above 1, a run goes on if this is not less than MeshCore::NumUpdates, the last run was by
  /// Dataflow too, and no field or channel has been added since. Edges then show what was published before, as in one run.
  std::uint64_t first_update = 0;
  /// Snapshots of the quality of service, taken during the run. To measure latencies, set MeshOptions::is_traced.
  QualityOptions quality{};
  /// Records what each worker does when, for RunReport::timeline. It reads the clock about three times per update.
  TimelineOptions timeline{};
  /// How long to wait for a silent process before it counts as lost. A process of this host that has ended is noticed at once.
  /// If a run has a limit of updates and no barriers, the last worker may finish this much later than the first. A process that
  /// loses a peer continues to the run's end without it. In modes 0 and 5, and in mode 3 with a condition, the loss ends the run. See
  /// RunReport::Lose.
  std::chrono::nanoseconds peer_timeout = std::chrono::seconds(60);
  std::chrono::nanoseconds warn_after = std::chrono::seconds(5);  ///< how long to wait for others before a warning
  /// Under netuit::Main or a uit::mpi::Session, SIGINT, SIGTERM and SIGUSR1 end the run instead of the process. For other
  /// programs, see uit::ProcessHooks::heed_stops. After such a signal has ended a run, these signals stay blocked: launchers
  /// send them more than once, and the results still have to be written. Every other thread of the process must block them. A
  /// uit::mpi::Session ensures this for MPI's threads. If you start MPI or threads before it, block the signals while you do
  /// so.
  bool stops_on_signal = true;
  /// Called with one line if something is wrong but the run continues: a process has ended or is late at a barrier, or a record
  /// to be replayed was cut short. Any worker may call it, one at a time. If empty, uit::ProcessHooks::warn is called, which
  /// prints to stderr under netuit::Main or a uit::mpi::Session.
  std::function<void(const std::string&)> on_warning{};
  std::function<void(const Progress&)> on_progress{};  ///< called by this process's first worker, between updates
  std::chrono::nanoseconds progress_interval = std::chrono::seconds(1);  ///< between calls of on_progress
  /// Called by every worker between its updates, by its own clock, so that you can look at the worker's own nodes. No other
  /// worker waits. Several threads may call it at once.
  std::function<void(const Sample&)> on_sample{};
  std::chrono::nanoseconds sample_interval = std::chrono::milliseconds(50);  ///< between calls of on_sample; the first is at 0
  /// Called on process 0 by its first worker, between updates, with the last status of every worker, ordered by process and
  /// thread. Set MeshOptions::is_watched to use it.
  std::function<void(std::span<const WorkerStatus>)> on_status{};
  std::chrono::nanoseconds status_interval = std::chrono::milliseconds(250);  ///< between calls of on_status
  /// A folder for a record of the run. Every worker records what it receives from others, so that the run can be replayed. The
  /// record survives if the process is killed. Existing records are not overwritten. Empty: nothing is recorded, at no cost.
  std::string record{};
  /// A folder with the record of a run to replay. Program and mesh must be the same as in the recorded run. Every node then
  /// sees the same values in each update as it did, to the end of the record.
  ///
  /// Duration, number of updates, barriers and other workers do not affect a replay. The update function must depend only on
  /// data that the record reproduces: its node, its messages, the results of its puts, and Node::Random. If the record was cut
  /// short, on_warning is called, and the last update is incomplete. Messages that the recorded run left unread are not in the
  /// record. After the replay, Visit does not find them, and a run of mode 0 on the same mesh is refused.
  std::string replay{};
  std::chrono::duration<double> simulated_node_cost{0};  ///< in a simulation: added to a node's ApplicationHooks cost
};

/// Throws uit::InputError if an option is invalid.
void CheckOptions(const RunOptions& options);

/// What one worker did in a run.
struct WorkerReport {
  WorkerId id;                         ///< the worker
  std::uint64_t num_nodes = 0;         ///< number of nodes that it updates
  std::uint64_t num_updates = 0;       ///< number of updates of each node
  std::uint64_t num_barriers = 0;      ///< except those that start and end a run
  std::optional<std::uint64_t> effective_updates{};  ///< see RunReport::EffectiveUpdates
  std::optional<std::uint64_t> slack{};  ///< updates that it might be ahead of those whose values it read, if that was bounded
  Staleness staleness{};               ///< of the values that it read from other workers
  std::chrono::nanoseconds elapsed{0}; ///< from the start barrier to its last update
  uit::Tally tally;                    ///< of channels that leave the thread; since the mesh was made
  uit::Tally inside;                   ///< of channels within the thread; since the mesh was made

  /// Returns the updates per second of the worker's elapsed time.
  double Rate() const;
};

/// The result of a run.
struct RunReport {
  std::vector<WorkerReport> workers{};  ///< of all processes on rank 0, of this process elsewhere; ordered by process and thread
  /// Snapshots of those workers, ordered by worker and time; in a run in parts, part after part.
  std::vector<QualityRow> quality{};
  std::vector<QualityRow> channels{};   ///< a row per channel, and part, if QualityOptions::channels
  Timeline timeline{};                  ///< of those workers, if RunOptions::timeline; see TimelineFile
  StopReason stopped_by = StopReason::none;  ///< the reason with the largest value among all workers
  int signal = 0;                     ///< its number, if a signal ended the run
  std::string message{};              ///< an error in one line; on rank 0, and where it occurred
  /// The processes that ended or fell silent, as far as this process can tell; ascending. A silent process is identified in
  /// modes 1 to 4 only. The first process of its host can identify it; on a single host, every process can. If there are two
  /// hosts and the silent process is alone on one, the first process of the other can identify it.
  std::vector<std::size_t> lost_peers{};
  bool is_root = true;  ///< whether this is rank 0's report

  /// Notes that a peer was lost. Data of the other processes is then unavailable, so the report describes this process only.
  void Lose(const uit::PeerLost& lost);

  /// Returns 0 after a normal end, 3 if a peer was lost, 4 if an update threw, and 128 + n after signal n.
  int ExitCode() const;
  /// On rank 0, prints what Text returns to stdout, and once in a process a line if the program was built without optimisation.
  void Print() const;
  /// Returns a line each about the updates and the messages, and one with the message if there is one. Empty except on rank 0.
  std::string Text() const;
  /// Returns the sum over all workers of this report, of channels that leave their thread.
  uit::Tally Tally() const;
  /// Returns the longest time of a worker of this report, from the start barrier to its last update.
  std::chrono::nanoseconds Elapsed() const;
  /// Returns the most updates of a worker of this report.
  std::uint64_t MaxUpdates() const;
  /// Returns the effective updates of the workers of this report: the least of their counts. Every value has passed through at
  /// least so many updates along every path of the graph, however old the values were that updates read. In modes 0 and 5, these
  /// are all updates, or one in d if mode 5 has edge delays of up to d > 1. Elsewhere, they compare runs of different modes where
  /// plain counts of updates do not. See EffectiveUpdates for what they prove. Returns nothing if a best-effort run has channels
  /// between workers, which do not carry the count.
  ///
  /// A network with a period counts as read in the updates in which it is due. If a node also reads it in between, values are older,
  /// and fewer updates are effective, than this tells. A node that was silent counts as if it had published, so use this only if a silent node's value had not changed.
  std::optional<std::uint64_t> EffectiveUpdates() const;
  /// Returns the age of the oldest value that any worker of this report read from another, in updates. See Staleness.
  std::uint64_t MaxStaleness() const;
  /// Whether every worker of this report kept within its slack: its values were at most slack + 1 updates old. Returns true if the
  /// run had no slack. False only if a process was lost.
  bool IsWithinSlack() const;
  /// Whether every message is accounted for and none is in flight. Valid on rank 0, or in a run of one process.
  bool Balanced() const;
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/run/run_options.ipp>
#endif
