#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <netuit/mesh/worker_graph.hpp>
#include <netuit/quality/peer_trace.hpp>
#include <uit/link/frame_trace.hpp>
#include <uit/support/clock.hpp>

namespace netuit {

/// The edges between one worker and another in a channel layer.
struct EdgePeer {
  std::vector<std::uint32_t> outputs;  ///< that lead to the other
  std::vector<std::uint32_t> inputs;   ///< that come from the other
  std::vector<std::uint64_t> seen;     ///< by input: messages stepped to by the last read, if frames carry time stamps
  std::vector<std::uint64_t> laden;    ///< by input: reads that found another message stepped to
  std::optional<PeerTrace> trace{};    ///< present if frames carry time stamps
};

/// The other workers that a worker has edges with. Once joined, only that worker may use it.
class EdgePeers {
 public:
  /// Finds the peers in a worker's part of the graph.
  explicit EdgePeers(const WorkerGraph& graph) {
    for (std::uint32_t output = 0; output < graph.targets.size(); ++output) {
      if (graph.target_workers[output] != graph.worker) peers_[graph.target_workers[output]].outputs.push_back(output);
    }
    for (std::uint32_t input = 0; input < graph.sources.size(); ++input) {
      if (graph.source_workers[input] != graph.worker) peers_[graph.source_workers[input]].inputs.push_back(input);
    }
  }

  /// Returns the peers by worker.
  std::map<std::uint32_t, EdgePeer>& Map() { return peers_; }
  /// Makes frames carry time stamps of `clock`, to which it refers. `is_same_clock(worker)` tells whether a peer's stamps are
  /// comparable. Call it before the layer is joined.
  template <std::predicate<std::uint32_t> F>
  void TraceBy(const uit::TraceClock& clock, F&& is_same_clock) {
    for (auto& [worker, peer] : peers_) {
      peer.seen.resize(peer.inputs.size());
      peer.laden.resize(peer.inputs.size());
      peer.trace.emplace(clock, is_same_clock(worker));
    }
  }
  /// Returns the trace of a peer, or null if frames carry no time stamps.
  PeerTrace* TraceOf(std::uint32_t worker) {
    const auto found = peers_.find(worker);
    return found == peers_.end() || !found->second.trace ? nullptr : &*found->second.trace;
  }
  /// Notes that an update that begins at `now` reads the messages pulled so far. `num_stepped(input)` returns the number of
  /// messages stepped to so far.
  template <std::invocable<std::uint32_t> F>
  void Read(uit::TimePoint now, F&& num_stepped) {
    ++num_reads_;
    for (auto& [worker, peer] : peers_) {
      if (!peer.trace) continue;
      peer.trace->Read(now);
      for (std::size_t i = 0; i < peer.inputs.size(); ++i) {
        const std::uint64_t num = num_stepped(peer.inputs[i]);
        peer.laden[i] += num != peer.seen[i] ? 1 : 0;
        peer.seen[i] = num;
      }
    }
  }
  /// Returns the number of calls of Read.
  std::uint64_t NumReads() const { return num_reads_; }

 private:
  std::map<std::uint32_t, EdgePeer> peers_;  // by worker
  std::uint64_t num_reads_ = 0;
};

}  // namespace netuit
