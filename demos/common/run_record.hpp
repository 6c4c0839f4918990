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

/// How a reason to stop is called in the rows.
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

/// Updates per second; 0 if there was no time.
inline double Rate(std::uint64_t num_updates, std::chrono::nanoseconds elapsed) {
  return elapsed.count() > 0 ? static_cast<double>(num_updates) / Seconds(elapsed) : 0;
}

/// The graph that is run on and where its nodes are. Rank 0's business.
struct Problem {
  std::string name;
  netuit::Graph graph{netuit::Topology{}};
  netuit::Placement placement;
};

/// What rows say of a problem. Every process has it, because each may have to write for itself.
struct ProblemFacts {
  std::string graph;
  std::uint64_t num_nodes = 0;
  std::uint64_t num_edges = 0;
  netuit::Workers workers;
};
/// Tells every process of rank 0's problem. Collective.
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
  if (!reader.TryRead(facts.num_nodes) || !reader.TryRead(facts.num_edges)) throw uit::Error("a problem came in parts");
  for (const std::byte byte : reader.Rest()) facts.graph += static_cast<char>(byte);
  return facts;
}

/// The schedule of a mode's runs.
[[nodiscard]] inline netuit::RunPlan PlanOf(const Settings& settings, unsigned mode) {
  return netuit::ScheduleOf(static_cast<netuit::AsyncMode>(mode), settings.schedule);
}

/// All else of one run of a mode.
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
  return run;
}

/// Nodes on workers, as the settings name it: by a method or from a file.
[[nodiscard]] inline netuit::Placement Place(const netuit::Topology& topology, const Settings& settings,
                                             netuit::Workers workers) {
  if (settings.placement == "metis") return netuit::PlaceByMetis(topology, workers);
  if (settings.placement == "contiguous") return netuit::PlaceContiguous(topology, workers);
  if (settings.placement == "round_robin") return netuit::PlaceRoundRobin(topology, workers);
  if (settings.placement == "random") return netuit::PlaceRandom(topology, workers, settings.seed);
  return netuit::PlaceFromFile(topology, workers, settings.placement);
}

/// Says what went wrong in a run, if anything: on rank 0, or, if a process was lost, on the first that is left.
inline void ReportError(const uit::World& world, const netuit::RunReport& report) {
  std::size_t speaker = 0;
  for (const std::size_t lost : report.lost_peers) speaker += lost == speaker ? 1 : 0;  // ascending
  // Who is in trouble alone has nobody else to say it.
  const bool is_alone = report.stopped_by == netuit::StopReason::peer_lost && report.lost_peers.empty();
  if ((is_alone || world.Rank() == speaker) && !report.message.empty()) std::fprintf(stderr, "conduit: error: %s\n", report.message.c_str());
}

/// What rank 0 writes of every benchmark: a row per run and worker, the quality of service, what computers it was on, and
/// how it all came about. Where a process has been lost, every other writes what it has itself, beside.
class RunRecord {
 public:
  /// Of `program`, whose rows have columns of its own too, as `manifest` adds to. Addressing is how its layers are wired.
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

  /// Writes what says how the results come about, before the first of them; they are not complete yet.
  void Begin() const {
    SaveManifest();
    if (settings_.output != "-") hosts_.ToTable().Save(Beside(".hosts.csv"));
  }
  /// Adds a run and writes all there is. `add_own(table, worker)` adds the program's own columns.
  template <typename F>
  void Add(unsigned mode, unsigned replicate, const netuit::RunReport& report, F&& add_own) {
    AddRows(rows_, mode, replicate, report, add_own);
    if (!settings_.quality.empty()) {
      AddQualityRows(quality_, mode, replicate, report);
      quality_.Save(settings_.quality);
    }
    if (settings_.output != "-") rows_.Save(settings_.output);
    manifest_.stopped_by = ReasonName(report.stopped_by);
    SaveManifest();
  }
  /// Writes what process `rank` itself knows of a run that has lost another: X.rank2.csv and X.rank2.json, or to stderr
  /// where rows go to standard output, of which rank 0 is the master; and its quality of service, of channels with others too.
  template <typename F>
  void AddOwn(std::size_t rank, unsigned mode, unsigned replicate, const netuit::RunReport& report, F&& add_own) {
    netuit::RunReport own = report;  // rank 0 may have gathered the others' already; they write for themselves
    std::erase_if(own.workers, [rank](const netuit::WorkerReport& worker) { return worker.id.process != rank; });
    std::erase_if(own.quality, [rank](const netuit::QualityRow& row) { return row.worker.process != rank; });
    std::erase_if(own.channels, [rank](const netuit::QualityRow& row) { return row.worker.process != rank && row.peer.process != rank; });
    netuit::Table rows = rows_.Empty();
    AddRows(rows, mode, replicate, own, add_own);
    manifest_.stopped_by = ReasonName(report.stopped_by);
    manifest_.lost_processes.assign(report.lost_peers.begin(), report.lost_peers.end());
    if (settings_.output == "-") {
      if (rank == 0) std::cout << rows_.Text() << std::flush;  // of the runs before
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
  /// The path of what one process writes for itself: rows.csv becomes rows.rank2.csv.
  [[nodiscard]] static std::string OfRank(const std::filesystem::path& path, std::size_t rank) {
    return std::filesystem::path(path).replace_extension().string() + ".rank" + std::to_string(rank) +
           path.extension().string();
  }
  /// All that was asked for is there, or the rest never will be. Writes what goes to standard output.
  void Finish(bool is_complete) {
    manifest_.complete = is_complete;
    SaveManifest();
    if (settings_.output == "-") std::cout << rows_.Text() << std::flush;
  }

  /// What a run is called.
  [[nodiscard]] std::string RunName(unsigned mode, unsigned replicate) const {
    return "mode " + std::to_string(mode) + ' ' + ModeName(mode) + ", run " + std::to_string(replicate + 1) + " of " +
           std::to_string(settings_.replicates);
  }
  /// Whether somebody is to be told how runs go.
  [[nodiscard]] bool HasProgress() const { return settings_.progress || is_terminal_; }

  /// Shows how a run goes: a line that is written over on a terminal, else one line after the other.
  void Show(unsigned mode, unsigned replicate, const netuit::Progress& progress, const std::string& more = {}) const {
    std::fprintf(stderr, "%sprogress: %s, %.1f s, %.0f updates/s%s%s", is_terminal_ ? "\r\033[K" : "",
                 RunName(mode, replicate).c_str(), Seconds(progress.elapsed), Rate(progress.num_updates, progress.elapsed),
                 more.c_str(), is_terminal_ ? "" : "\n");
  }
  /// Says how a run went; `result` is what it came to.
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
  [[nodiscard]] double Period(unsigned mode) const {
    return mode == 1 ? Seconds(settings_.schedule.span) : mode == 2 ? Seconds(settings_.schedule.period) : 0;
  }
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
    rows.Add(tally.put.attempted).Add(tally.put.Accepted()).Add(tally.put.dropped).Add(tally.put.muted);
    rows.Add(tally.get.stepped).Add(tally.get.skipped).Add(tally.put.preempted).Add(tally.get.folded);
    rows.Add(tally.get.unread).Add(report.Tally().InFlight()).Add(report.Balanced());
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
        "elapsed_s", "updates_per_second", "barriers", "attempted", "accepted", "dropped", "muted", "stepped",
        "skipped",  "preempted", "folded",   "unread",    "in_flight", "balanced"};
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
};

}  // namespace demo
