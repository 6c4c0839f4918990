#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <netuit/graph/topology.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/quality/exchange_counts.hpp>
#include <netuit/quality/latency_histogram.hpp>

namespace netuit {

/// Stands for a node where there is none.
inline constexpr NodeId no_node = std::numeric_limits<NodeId>::max();

/// What carries the messages of an exchange.
enum class Transport : std::uint32_t {
  thread,         ///< memory of one process
  shared_memory,  ///< memory that processes of one computer share
  mpi             ///< MPI
};

/// Whom a worker's counts are about.
enum class QualityScope : std::uint32_t {
  pair,    ///< it and one other
  worker,  ///< it and all others that one transport leads to
  channel  ///< one channel that it reads; by that the puts of the other
};

/// How good best effort was between a worker and others in one layer, over a window of a run, as that worker has counted it.
///
/// The metrics are those of the follow-up study (arXiv 2211.10897), corrected: messages that newer ones replace count as
/// skipped. Where a metric has no value it is NaN.
struct QualityRow {
  std::uint32_t snapshot = 0;  ///< from 0
  QualityScope scope = QualityScope::pair;  ///< one other, or all
  std::uint32_t layer = 0;     ///< in the mesh's order
  WorkerId worker;                ///< who counted
  WorkerId peer;                  ///< the other, if it is one
  NodeId source = no_node;     ///< of a channel, where it begins
  NodeId target = no_node;     ///< of a channel of a unicast layer, where it ends
  std::uint64_t num_peers = 1; ///< others that the counts are about
  Transport transport = Transport::thread;  ///< between them
  std::chrono::nanoseconds begin{0};        ///< of the window, since the start barrier
  std::chrono::nanoseconds end{0};          ///< likewise
  std::uint64_t num_updates = 0;            ///< that the worker has made in it
  ExchangeCounts counts;                    ///< within the window
  Latency touch;    ///< what WallLatency means, by stamps: the single ones rather than their mean
  Latency age;      ///< of frames when they are read, since the update that sent them began; by stamps
  Latency transit;  ///< since they departed

  /// Seconds per update of the worker.
  double SimstepPeriod() const { return Ratio(Seconds(), static_cast<double>(num_updates)); }
  /// One-way latency by touches, in updates of the worker. Where it has put, and no round trip came to its end, the window's
  /// length, which the latency exceeds.
  double SimstepLatency() const {
    if (counts.channels_in == 0 || counts.attempted == 0) return nan;
    return static_cast<double>(num_updates * num_peers) / static_cast<double>(std::max<std::uint64_t>(counts.touches, 1));
  }
  /// The same in seconds.
  double WallLatency() const { return SimstepLatency() * SimstepPeriod(); }
  /// Fraction of the puts that were refused.
  double FailureRate() const { return Ratio(static_cast<double>(counts.dropped), static_cast<double>(counts.attempted)); }
  /// 0 if messages come one by one, towards 1 if many come at a time: 1 - laden pulls / min(messages, pulls).
  double Clumpiness() const {
    const double clumpiness =
        1 - Ratio(static_cast<double>(counts.laden), static_cast<double>(std::min(counts.Received(), counts.pulls)));
    return clumpiness < 0 ? 0 : clumpiness;  // a message may come in one window, and the look that finds it in the next
  }
  /// Fraction of the messages that were jumped over, or replaced by newer ones.
  double SkipRate() const {
    const std::uint64_t num_overtaken = counts.skipped + counts.preempted;
    return Ratio(static_cast<double>(num_overtaken), static_cast<double>(counts.Received() + counts.preempted));
  }

 private:
  static constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  static double Ratio(double part, double whole) { return whole > 0 ? part / whole : nan; }
  double Seconds() const { return std::chrono::duration<double>(end - begin).count(); }
};

/// A channel that leaves a thread, as one of its ends sees it.
struct Channel {
  NodeId source = no_node;  ///< where it begins
  NodeId target = no_node;  ///< where it ends; none in a multicast layer, where all nodes of a worker hear one channel
  std::uint32_t peer = 0;   ///< the worker at the other end
};

/// When to look at the quality of a run. The same on every process.
struct QualityOptions {
  std::chrono::nanoseconds interval{0};  ///< from the beginning of one snapshot to that of the next; 0: there are none
  std::chrono::nanoseconds length = std::chrono::seconds(1);  ///< of a snapshot; at most the interval
  std::size_t max_snapshots = 10'000;    ///< later ones are not taken
  bool channels = false;                 ///< at the end also a row per channel that leaves its thread, over the run
};

}  // namespace netuit
