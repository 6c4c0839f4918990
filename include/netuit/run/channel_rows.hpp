#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include <netuit/mesh/layer_part.hpp>
#include <netuit/mesh/mesh_core.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/quality/exchange_counts.hpp>
#include <netuit/quality/quality.hpp>

namespace netuit::detail {

/// Returns the counts of all channels that leave one worker's thread, since the mesh was made, always in the same order. Call
/// it while no worker uses the channels.
inline std::vector<ExchangeCounts> CountChannels(MeshCore& mesh, std::uint32_t thread) {
  const Partition& partition = *mesh.Partitions()[thread];
  std::vector<ExchangeCounts> all;
  for (LayerPart* const layer : partition.layers)
    layer->ForEachChannel(partition.graph, [&](const Channel&, const ExchangeCounts& counts) { all.push_back(counts); });
  return all;
}

/// Appends one worker's half of each channel that leaves its thread, over a run: puts of channels that begin here, outcomes of
/// messages of those that end here. `before` is the result of CountChannels at the beginning of the run. Call it while no
/// worker uses the channels.
inline void AddChannelHalves(MeshCore& mesh, std::uint32_t thread, const std::vector<ExchangeCounts>& before,
                             std::chrono::nanoseconds elapsed, std::uint64_t num_updates, std::vector<QualityRow>& rows) {
  const Partition& partition = *mesh.Partitions()[thread];
  const std::uint32_t num_threads = mesh.NumThreads();
  const auto id_of = [num_threads](std::uint32_t worker) { return WorkerId{worker / num_threads, worker % num_threads}; };
  std::uint32_t number = 0;
  std::size_t i = 0;
  for (LayerPart* const layer : partition.layers) {
    layer->ForEachChannel(partition.graph, [&](const Channel& channel, const ExchangeCounts& counts) {
      QualityRow& row = rows.emplace_back();
      const bool ends_here = counts.channels_in != 0;
      row.scope = QualityScope::channel;
      row.layer = number;
      row.worker = id_of(ends_here ? partition.graph.worker : channel.peer);
      row.peer = id_of(ends_here ? channel.peer : partition.graph.worker);
      row.transport = mesh.GetPeerTable().TransportTo(id_of(channel.peer).process);
      row.source = channel.source;
      row.target = channel.target;
      row.counts = counts.Since(before[i++]);
      if (ends_here) {
        row.end = elapsed;
        row.num_updates = num_updates;
      }
    });
    ++number;
  }
}

/// Joins the halves of each channel into one row. Parallel channels share a row.
inline void JoinChannelHalves(std::vector<QualityRow>& rows) {
  const auto key = [](const QualityRow& row) {
    return std::tuple(row.layer, row.source, row.target, row.worker.process, row.worker.thread, row.peer.process, row.peer.thread);
  };
  std::ranges::sort(rows, {}, key);
  std::vector<QualityRow> joined;
  for (const QualityRow& row : rows) {
    if (joined.empty() || key(joined.back()) != key(row)) {
      joined.push_back(row);
      continue;
    }
    QualityRow& whole = joined.back();
    const std::uint64_t touches = std::max(whole.counts.touches, row.counts.touches);  // counted per exchange
    whole.counts += row.counts;
    whole.counts.touches = touches;
    whole.end = std::max(whole.end, row.end);
    whole.num_updates = std::max(whole.num_updates, row.num_updates);
  }
  rows = std::move(joined);
}

}  // namespace netuit::detail
