#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>

#include <netuit/mesh/layer_part.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/mesh/status_board.hpp>
#include <netuit/quality/exchange_counts.hpp>
#include <netuit/quality/peer_trace.hpp>
#include <uit/support/clock.hpp>

namespace netuit::detail {

/// Makes one worker's status from the counts of all its layers. That worker only.
class StatusReporter {
 public:
  StatusReporter(const Partition& partition, WorkerId worker) : partition_(partition), worker_(worker) {}

  /// Returns the status after `num_updates` updates. Rates are over the time since the last call.
  WorkerStatus Report(std::chrono::nanoseconds elapsed, std::uint64_t num_updates) {
    ExchangeCounts counts;
    std::uint64_t num_peers = 0;  // peers with a measured latency
    const auto visit = [&](std::uint32_t, const ExchangeCounts& of_peer, const PeerTrace* trace) {
      counts += of_peer;
      num_peers += trace != nullptr && of_peer.channels_in != 0 && of_peer.channels_out != 0 ? 1 : 0;
    };
    for (LayerPart* const layer : partition_.layers) layer->ForEachPeer(std::ref(visit));
    const ExchangeCounts since = counts.Since(counts_);
    const double seconds = std::chrono::duration<double>(elapsed - elapsed_).count();
    const auto updates = static_cast<double>(num_updates - num_updates_);
    counts_ = counts;
    elapsed_ = elapsed;
    num_updates_ = num_updates;
    return {.worker = worker_,
            .elapsed = elapsed,
            .num_updates = num_updates,
            .rate = Ratio(updates, seconds),
            .latency = num_peers == 0 ? nan : Ratio(seconds * static_cast<double>(num_peers), static_cast<double>(since.touches)),
            .failure_rate = Ratio(static_cast<double>(since.dropped), static_cast<double>(since.attempted)),
            .skip_rate = Ratio(static_cast<double>(since.skipped + since.preempted),
                               static_cast<double>(since.Received() + since.preempted))};
  }

 private:
  static constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  static double Ratio(double part, double whole) { return whole > 0 ? part / whole : nan; }

  const Partition& partition_;
  WorkerId worker_;
  ExchangeCounts counts_;
  std::chrono::nanoseconds elapsed_{0};
  std::uint64_t num_updates_ = 0;
};

}  // namespace netuit::detail
