#pragma once

#include <chrono>
#include <initializer_list>
#include <string_view>
#include <vector>

#include <netuit/quality/quality.hpp>
#include <netuit/file/table.hpp>

namespace netuit {

/// A transport's name in tables.
inline const char* TransportName(Transport transport) {
  switch (transport) {
    case Transport::thread: return "thread";
    case Transport::shared_memory: return "shared_memory";
    default: return "mpi";
  }
}

/// The columns that AddQuality fills, in order.
inline std::vector<std::string_view> QualityColumns() {
  return {"snapshot", "scope", "layer", "transport", "process", "thread", "peer_process", "peer_thread", "source", "target",
          "begin_s", "end_s",
          "updates", "channels_out", "channels_in", "attempted", "accepted", "dropped", "preempted", "received", "stepped",
          "skipped", "folded", "unread", "pulls", "laden", "touches", "simstep_period_s", "simstep_latency_updates", "wall_latency_s",
          "failure_rate", "clumpiness", "skip_rate", "touch_count", "touch_mean_s", "touch_p50_s", "touch_p90_s",
          "touch_p99_s", "touch_max_s", "age_count", "age_mean_s", "age_p50_s", "age_p90_s", "age_p99_s",
          "age_max_s", "transit_p50_s", "transit_p99_s"};
}

/// Adds figures of a latency, in seconds; empty fields if none was measured.
inline void AddSeconds(Table& table, const Latency& latency, std::initializer_list<double> figures) {
  for (const double seconds : figures) {
    if (latency.count != 0) table.Add(seconds);
    else table.Add("");
  }
}

/// Adds a worker's counts to a started row. The counts of a channel are over a whole run.
inline void AddQuality(Table& table, const QualityRow& row) {
  const bool is_of_all = row.scope == QualityScope::worker;
  const auto seconds = [](std::chrono::nanoseconds span) { return std::chrono::duration<double>(span).count(); };
  const ExchangeCounts& counts = row.counts;
  if (row.scope == QualityScope::channel) table.Add("run").Add("channel");
  else table.Add(row.snapshot).Add(is_of_all ? "worker" : "pair");
  table.Add(row.layer).Add(TransportName(row.transport));
  table.Add(row.worker.process).Add(row.worker.thread);
  if (is_of_all) table.Add("").Add("");
  else table.Add(row.peer.process).Add(row.peer.thread);
  for (const NodeId node : {row.source, row.target}) {
    if (node == no_node) table.Add("");
    else table.Add(node);
  }
  table.Add(seconds(row.begin)).Add(seconds(row.end)).Add(row.num_updates).Add(counts.channels_out).Add(counts.channels_in);
  table.Add(counts.attempted).Add(counts.attempted - counts.dropped).Add(counts.dropped).Add(counts.preempted);
  table.Add(counts.Received()).Add(counts.stepped).Add(counts.skipped).Add(counts.folded).Add(counts.unread);
  table.Add(counts.pulls).Add(counts.laden).Add(counts.touches);
  table.Add(row.SimstepPeriod()).Add(row.SimstepLatency()).Add(row.WallLatency()).Add(row.FailureRate());
  table.Add(row.Clumpiness()).Add(row.SkipRate());
  for (const Latency& latency : {row.touch, row.age}) {
    table.Add(latency.count);
    AddSeconds(table, latency, {latency.mean, latency.p50, latency.p90, latency.p99, latency.max});
  }
  AddSeconds(table, row.transit, {row.transit.p50, row.transit.p99});
}

}  // namespace netuit
