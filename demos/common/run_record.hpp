#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <netuit/graph/graph.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/placement/metis.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/placement/placement_file.hpp>
#include <netuit/app/hosts.hpp>
#include <netuit/app/manifest.hpp>
#include <netuit/results/quality_table.hpp>
#include <netuit/results/timeline_file.hpp>
#include <netuit/file/table.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/schedule.hpp>
#include <span>
#include <string>
#include <string_view>
#include <uit/config.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>
#include <uit/tally.hpp>
#include <uit/link/world.hpp>
#include <utility>
#include <vector>

#include "demos/common/settings.hpp"
#include "tools/cmake/build_commit.hpp"

namespace demo {

/// The name of a reason to stop, as in the rows.
inline const char* ReasonName(netuit::StopReason reason) {
  switch (reason) {
    case netuit::StopReason::count: return "count";
    case netuit::StopReason::clock: return "clock";
    case netuit::StopReason::signal: return "signal";
    case netuit::StopReason::thrown: return "thrown";
    default: return "peer_lost";
  }
}

/// The same span as a number.
inline double Seconds(std::chrono::nanoseconds span) { return std::chrono::duration<double>{span}.count(); }

/// Updates per second; 0 if no time has passed.
inline double Rate(std::uint64_t num_updates, std::chrono::nanoseconds elapsed) {
  return elapsed.count() > 0 ? static_cast<double>(num_updates) / Seconds(elapsed) : 0;
}

/// The graph and its placement. Only on rank 0.
struct Problem {
  std::string name;
  netuit::Graph graph{netuit::Topology{}};
  netuit::Placement placement;
};

/// Facts about the problem for the rows. Every process has them, because each may have to write its own rows.
struct ProblemFacts {
  std::string graph;
  std::uint64_t num_nodes = 0;
  std::uint64_t num_edges = 0;
  netuit::Workers workers;
};
/// Collective. Gives every process the facts of rank 0's problem.
[[nodiscard]] inline ProblemFacts ShareFacts(const uit::World& world, const Problem& problem, std::size_t num_threads) {
  const std::uint64_t sizes[] = {problem.graph.Get().NumNodes(), problem.graph.Get().NumEdges()};
  const auto numbers = std::as_bytes(std::span(sizes));
  const auto name = std::as_bytes(std::span(problem.name));
  uit::Bytes bytes{numbers.begin(), numbers.end()};
  bytes.insert(bytes.end(), name.begin(), name.end());
  bytes = world.Broadcast(std::move(bytes));
  uit::ByteReader reader{bytes};
  ProblemFacts facts;
  facts.workers = {.processes = world.Size(), .threads = num_threads};
  if (!reader.TryRead(facts.num_nodes) || !reader.TryRead(facts.num_edges))
    throw uit::Error("the facts of the problem arrived incomplete");
  for (const std::byte byte : reader.Rest()) facts.graph += static_cast<char>(byte);
  return facts;
}

/// The schedule of a run in a mode.
[[nodiscard]] inline netuit::RunPlan PlanOf(const Settings& settings, unsigned mode) {
  return netuit::ScheduleOf(static_cast<netuit::AsyncMode>(mode), settings.schedule);
}

/// The other options of one run in a mode.
[[nodiscard]] inline netuit::RunOptions MakeRunOptions(const Settings& settings, unsigned mode, unsigned replicate) {
  netuit::RunOptions run;
  run.seed = settings.seed + replicate;
  run.progress_interval = std::chrono::milliseconds{200};
  const std::string name = "mode" + std::to_string(mode) + "-replicate" + std::to_string(replicate);
  if (!settings.record.empty()) run.record = settings.record + "/" + name;
  if (!settings.replay.empty()) run.replay = settings.replay + "/" + name;
  if (!settings.quality.empty())
    run.quality = {.interval = settings.snapshot_interval,
                   .length = settings.snapshot_length,
                   .channels = settings.quality_channels};
  if (!settings.trace.empty()) run.timeline.spans = 20'000;  // some megabytes of text a run
  return run;
}

/// Places nodes on workers as the settings say: by a method or from a file.
[[nodiscard]] inline netuit::Placement Place(const netuit::Topology& topology, const Settings& settings,
                                             netuit::Workers workers) {
  if (settings.placement == "metis") return netuit::PlaceByMetis(topology, workers);
  if (settings.placement == "contiguous") return netuit::PlaceContiguous(topology, workers);
  if (settings.placement == "round_robin") return netuit::PlaceRoundRobin(topology, workers);
  if (settings.placement == "random") return netuit::PlaceRandom(topology, workers, settings.seed);
  return netuit::PlaceFromFile(topology, workers, settings.placement);
}

/// Prints the error of a run, if any: on rank 0, or, if processes were lost, on the first remaining rank.
inline void ReportError(const uit::World& world, const netuit::RunReport& report) {
  std::size_t first_remaining = 0;
  for (const std::size_t lost : report.lost_peers) first_remaining += lost == first_remaining ? 1 : 0;  // ascending
  // A process that alone had an error prints it itself.
  const bool is_alone = report.stopped_by == netuit::StopReason::peer_lost && report.lost_peers.empty();
  if ((is_alone || world.Rank() == first_remaining) && !report.message.empty())
    std::fprintf(stderr, "conduit: error: %s\n", report.message.c_str());
}

/// Rank 0's output of every benchmark: a row per run and worker, the quality of service, the hosts, and a manifest. If a process
/// was lost, each remaining process also writes its own results. More than 300 lines, because the columns of the rows and what fills
/// them are read together.
class RunRecord {
 public:
  /// For `program`, which may add columns to the rows and facts to `manifest`. `addressing` names the kind of its layers.
  RunRecord(std::string program, const Settings& settings, ProblemFacts facts, std::string addressing,
            netuit::Hosts hosts, std::string library, std::vector<std::string> command_line,
            std::vector<std::string_view> own_columns)
      : settings_{settings},
        facts_{std::move(facts)},
        hosts_{std::move(hosts)},
        rows_{Columns(std::move(own_columns))} {
    manifest_.program = std::move(program);
    manifest_.command_line = std::move(command_line);
    manifest_.seed = settings.seed;
    manifest_.commit = uit_build::commit;
    manifest_.build_type = UIT_BUILD_TYPE;
    manifest_.compile_flags = UIT_COMPILE_FLAGS;
    manifest_.mpi_library = std::move(library);
    manifest_.processes = facts_.workers.processes;
    manifest_.threads = facts_.workers.threads;
    manifest_.nodes = facts_.num_nodes;
    manifest_.edges = facts_.num_edges;
    manifest_.graph = facts_.graph;
    manifest_.placement = settings.placement;
    manifest_.addressing = std::move(addressing);
    manifest_.modes.assign(settings.modes.begin(), settings.modes.end());
    manifest_.replicates = settings.replicates;
    manifest_.oversubscribed = hosts_.is_oversubscribed;
  }

  /// Writes the manifest and the hosts before the first results; it says that the results are incomplete. Says if rates of this
  /// build mean little.
  void Begin() const {
#ifndef __OPTIMIZE__
    std::fprintf(stderr, "conduit: note: built without optimisation, so rates say little (-DCMAKE_BUILD_TYPE=Release)\n");
#endif
    SaveManifest();
    if (settings_.output != "-") hosts_.ToTable().Save(Beside(".hosts.csv"));
  }
  /// Adds a run and writes all results so far. `add_own(table, worker)` adds the program's own columns.
  template <typename F>
  void Add(unsigned mode, unsigned replicate, const netuit::RunReport& report, F&& add_own) {
    AddRows(rows_, mode, replicate, report, add_own);
    if (!settings_.quality.empty()) {
      AddQualityRows(quality_, mode, replicate, report);
      quality_.Save(settings_.quality);
    }
    if (!settings_.trace.empty()) {
      timeline_.Add(RunName(mode, replicate), report.timeline);
      timeline_.Save(settings_.trace);
    }
    if (settings_.output != "-") rows_.Save(settings_.output);
    manifest_.stopped_by = ReasonName(report.stopped_by);
    SaveManifest();
  }
  /// Writes the own results of process `rank` for a run that lost another process: X.rank2.csv and X.rank2.json. If rows go to
  /// standard output, which belongs to rank 0, they go to stderr. Also writes its quality of service, with its channels.
  template <typename F>
  void AddOwn(std::size_t rank, unsigned mode, unsigned replicate, const netuit::RunReport& report, F&& add_own) {
    netuit::RunReport own = report;  // rank 0 may have gathered the others' rows already, but they write their own
    std::erase_if(own.workers, [rank](const netuit::WorkerReport& worker) { return worker.id.process != rank; });
    std::erase_if(own.quality, [rank](const netuit::QualityRow& row) { return row.worker.process != rank; });
    std::erase_if(own.channels,
                  [rank](const netuit::QualityRow& row) { return row.worker.process != rank && row.peer.process != rank; });
    netuit::Table rows = rows_.Empty();
    AddRows(rows, mode, replicate, own, add_own);
    manifest_.stopped_by = ReasonName(report.stopped_by);
    manifest_.lost_processes.assign(report.lost_peers.begin(), report.lost_peers.end());
    if (settings_.output == "-") {
      if (rank == 0) std::cout << rows_.Text() << std::flush;  // of earlier runs
      std::fputs(rows.Text().c_str(), stderr);
    } else {
      rows.Save(OfRank(settings_.output, rank));
      manifest_.Save(Beside(".rank" + std::to_string(rank) + ".json"));
    }
    if (settings_.quality.empty()) return;  // last, because a launcher may leave little time
    netuit::Table quality = quality_.Empty();
    AddQualityRows(quality, mode, replicate, own);
    quality.Save(OfRank(settings_.quality, rank));
  }
  /// The path of one process's own results: rows.csv becomes rows.rank2.csv.
  [[nodiscard]] static std::string OfRank(const std::filesystem::path& path, std::size_t rank) {
    return std::filesystem::path(path).replace_extension().string() + ".rank" + std::to_string(rank) +
           path.extension().string();
  }
  /// Call this at the end: marks the results as complete or partial, and writes the rows for standard output.
  void Finish(bool is_complete) {
    manifest_.complete = is_complete;
    SaveManifest();
    if (settings_.output == "-") std::cout << rows_.Text() << std::flush;
  }

  /// The name of a run in messages.
  [[nodiscard]] std::string RunName(unsigned mode, unsigned replicate) const {
    return "mode " + std::to_string(mode) + ' ' + ModeName(mode) + ", run " + std::to_string(replicate + 1) + " of " +
           std::to_string(settings_.replicates);
  }
  /// Whether to print progress.
  [[nodiscard]] bool HasProgress() const { return settings_.progress || is_terminal_; }

  /// Prints the progress of a run: on a terminal it overwrites one line, elsewhere it adds lines.
  void Show(unsigned mode, unsigned replicate, const netuit::Progress& progress, const std::string& more = {}) const {
    std::fprintf(stderr, "%sprogress: %s, %.1f s, %.0f updates/s%s%s", is_terminal_ ? "\r\033[K" : "",
                 RunName(mode, replicate).c_str(), Seconds(progress.elapsed), Rate(progress.num_updates, progress.elapsed),
                 more.c_str(), is_terminal_ ? "" : "\n");
  }
  /// Prints a summary of a run; `result` is the program's own result.
  void Say(unsigned mode, unsigned replicate, const netuit::RunReport& report, const std::string& result) const {
    const bool is_whole =
        report.stopped_by == netuit::StopReason::clock || report.stopped_by == netuit::StopReason::count;
    double rate = 0;
    for (const auto& worker : report.workers) rate += Rate(worker.num_updates, worker.elapsed);
    std::fprintf(stderr, "%s%s: %.0f updates/s and worker, %s, accounting %s%s%s\n", is_terminal_ ? "\r\033[K" : "",
                 RunName(mode, replicate).c_str(), rate / static_cast<double>(report.workers.size()), result.c_str(),
                 report.Balanced() ? "exact" : "WRONG", is_whole ? "" : ", ended by ",
                 is_whole ? "" : ReasonName(report.stopped_by));
  }

 private:
  [[nodiscard]] double Period(unsigned mode) const { return Seconds(PlanOf(settings_, mode).make()->Span()); }
  template <typename F>
  void AddRows(netuit::Table& rows, unsigned mode, unsigned replicate, const netuit::RunReport& report, F& add_own) const {
    for (const netuit::WorkerReport& worker : report.workers) {
      AddRow(rows, mode, replicate, report, worker);
      add_own(rows, worker);
      rows.Add(manifest_.oversubscribed).Add(ReasonName(report.stopped_by)).Add(manifest_.mpi_library);
      rows.Add(manifest_.compiler).Add(UIT_VERSION);
    }
  }
  void AddRow(netuit::Table& rows, unsigned mode, unsigned replicate, const netuit::RunReport& report,
              const netuit::WorkerReport& worker) const {
    const netuit::Workers workers = facts_.workers;
    const uit::Tally& tally = worker.tally;
    rows.Row().Add(facts_.graph).Add(facts_.num_nodes).Add(facts_.num_edges);
    rows.Add(workers.processes).Add(workers.threads).Add(mode).Add(ModeName(mode)).Add(replicate);
    rows.Add(settings_.seed + replicate).Add(settings_.placement).Add(manifest_.addressing).Add(Period(mode));
    rows.Add(worker.id.process).Add(worker.id.thread).Add(worker.num_nodes).Add(worker.num_updates);
    rows.Add(Seconds(worker.elapsed)).Add(Rate(worker.num_updates, worker.elapsed)).Add(worker.num_barriers);
    AddCertificate(rows, worker);
    rows.Add(tally.put.attempted).Add(tally.put.Accepted()).Add(tally.put.dropped).Add(tally.put.muted);
    rows.Add(tally.get.stepped).Add(tally.get.skipped).Add(tally.put.preempted).Add(tally.get.folded);
    rows.Add(tally.get.unread).Add(report.Tally().InFlight()).Add(report.Balanced());
  }
  static void AddCertificate(netuit::Table& rows, const netuit::WorkerReport& worker) {
    if (worker.effective_updates) rows.Add(*worker.effective_updates);
    else rows.Add("");
    const netuit::Staleness& age = worker.staleness;
    if (age.count != 0) rows.Add(age.p50).Add(age.p99).Add(age.max);
    else rows.Add("").Add("").Add("");
    if (worker.slack) rows.Add(*worker.slack);
    else rows.Add("");
  }
  void AddQualityRows(netuit::Table& table, unsigned mode, unsigned replicate, const netuit::RunReport& report) const {
    for (const auto* rows : {&report.quality, &report.channels}) {
      for (const netuit::QualityRow& row : *rows) {
        table.Row().Add(mode).Add(ModeName(mode)).Add(replicate).Add(settings_.seed + replicate);
        netuit::AddQuality(table, row);
      }
    }
  }
  [[nodiscard]] std::string Beside(const std::string& ending) const {
    return std::filesystem::path(settings_.output).replace_extension().string() + ending;
  }
  void SaveManifest() const {
    if (settings_.output != "-") manifest_.Save(Beside(".json"));
  }

  static std::vector<std::string_view> Columns(std::vector<std::string_view> own) {
    std::vector<std::string_view> columns{
        "graph",    "nodes",    "edges",     "processes", "threads", "mode",    "mode_name",         "replicate",
        "seed",     "placement", "addressing", "period_s", "process", "thread",  "num_nodes",         "updates",
        "elapsed_s", "updates_per_second", "barriers", "effective_updates", "staleness_p50", "staleness_p99", "staleness_max", "slack",
        "attempted", "accepted", "dropped", "muted", "stepped", "skipped",  "preempted", "folded",   "unread",    "in_flight",
        "balanced"};
    columns.insert(columns.end(), own.begin(), own.end());
    for (const char* last : {"oversubscribed", "stopped_by", "mpi_library", "compiler", "version"}) columns.emplace_back(last);
    return columns;
  }
  static std::vector<std::string_view> QualityHeader() {
    std::vector<std::string_view> columns{"mode", "mode_name", "replicate", "seed"};
    std::ranges::copy(netuit::QualityColumns(), std::back_inserter(columns));
    return columns;
  }

  const Settings& settings_;
  ProblemFacts facts_;
  netuit::Hosts hosts_;
  netuit::Manifest manifest_;
  bool is_terminal_ = isatty(STDERR_FILENO) == 1;
  netuit::Table rows_;
  netuit::Table quality_{QualityHeader()};
  netuit::TimelineFile timeline_{};
};

}  // namespace demo
