#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <netuit/graph/label.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/quality/exchange_counts.hpp>
#include <netuit/quality/latency_histogram.hpp>

namespace netuit {

/// The transport of an exchange.
enum class Transport : std::uint32_t {
  thread,         ///< memory of one process
  shared_memory,  ///< memory that processes of one host share
  mpi             ///< MPI
};

/// The subject of a worker's counts.
enum class QualityScope : std::uint32_t {
  pair,    ///< the worker and one peer
  worker,  ///< the worker and all peers that one transport reaches
  channel  ///< one channel that the worker reads, with the puts of the sender
};

/// The quality of service between a worker and its peers in one layer, over a window of a run, as counted by that worker.
///
/// The metrics are those of the follow-up study (arXiv 2211.10897), with one correction: a message replaced by a newer one
/// counts as skipped. A metric without a value is NaN.
struct QualityRow {
  std::uint32_t snapshot = 0;  ///< numbered from 0
  QualityScope scope = QualityScope::pair;  ///< one peer, several, or one channel
  std::uint32_t layer = 0;     ///< number of the layer in its mesh
  WorkerId worker;                ///< the worker that counted
  WorkerId peer;                  ///< the peer, if there is only one
  NodeId source = no_node;     ///< of a channel: the node where it begins
  NodeId target = no_node;     ///< of a channel in a channel layer: the node where it ends
  std::uint64_t num_peers = 1; ///< number of peers that the counts are about
  Transport transport = Transport::thread;  ///< between the worker and its peers
  std::chrono::nanoseconds begin{0};        ///< of the window, since the start barrier
  std::chrono::nanoseconds end{0};          ///< of the window, since the start barrier
  std::uint64_t num_updates = 0;            ///< updates that the worker made in the window
  ExchangeCounts counts;                    ///< within the window
  Latency touch;    ///< the quantity of WallLatency by time stamps: single latencies, not their mean
  Latency age;      ///< of frames when read, since the update that sent them began; by stamps
  Latency transit;  ///< of frames when read, since they departed; by stamps

  /// Returns the worker's seconds per update.
  double SimstepPeriod() const { return Ratio(Seconds(), static_cast<double>(num_updates)); }
  /// Returns the one-way latency in updates of the worker, from touches. If the worker has put messages but no round trip was
  /// completed, returns the window's length, which is a lower bound.
  double SimstepLatency() const {
    if (counts.channels_in == 0 || counts.attempted == 0) return nan;
    return static_cast<double>(num_updates * num_peers) / static_cast<double>(std::max<std::uint64_t>(counts.touches, 1));
  }
  /// Returns the one-way latency in seconds, from touches.
  double WallLatency() const { return SimstepLatency() * SimstepPeriod(); }
  /// Returns the fraction of puts that were refused.
  double FailureRate() const { return Ratio(static_cast<double>(counts.dropped), static_cast<double>(counts.attempted)); }
  /// Returns 0 if messages arrive one at a time, and up to 1 if many arrive together: 1 - laden pulls / min(messages, pulls).
  double Clumpiness() const {
    const double clumpiness =
        1 - Ratio(static_cast<double>(counts.laden), static_cast<double>(std::min(counts.Received(), counts.pulls)));
    return clumpiness < 0 ? 0 : clumpiness;  // a message may arrive in one window and be found by a pull in the next
  }
  /// Returns the fraction of messages that were jumped over or replaced by newer ones.
  double SkipRate() const {
    const std::uint64_t num_overtaken = counts.skipped + counts.preempted;
    return Ratio(static_cast<double>(num_overtaken), static_cast<double>(counts.Received() + counts.preempted));
  }

 private:
  static constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  static double Ratio(double part, double whole) { return whole > 0 ? part / whole : nan; }
  double Seconds() const { return std::chrono::duration<double>(end - begin).count(); }
};

/// A channel that leaves a thread, as seen from one of its ends.
struct Channel {
  NodeId source = no_node;  ///< the node where it begins
  NodeId target = no_node;  ///< the node where it ends; none for a published field, where all nodes of a worker share one channel
  std::uint32_t peer = 0;   ///< the worker at the other end
};

/// When to take snapshots of a run's quality. Must be the same on every process.
struct QualityOptions {
  std::chrono::nanoseconds interval{0};  ///< between the beginnings of two snapshots; 0: none are taken
  std::chrono::nanoseconds length = std::chrono::seconds(1);  ///< of a snapshot; at most the interval
  std::size_t max_snapshots = 10'000;    ///< later ones are not taken
  bool channels = false;                 ///< at the end, also a row per channel that leaves its thread, over the whole run
};

}  // namespace netuit
