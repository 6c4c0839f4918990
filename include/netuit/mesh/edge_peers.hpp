#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <netuit/mesh/worker_graph.hpp>
#include <netuit/quality/peer_trace.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/frame_trace.hpp>
#include <uit/link/out_port.hpp>

namespace netuit {

/// The edges between one worker and another in a channel layer.
struct EdgePeer {
  std::vector<std::uint32_t> outputs;  ///< that lead to the other
  std::vector<std::uint32_t> inputs;   ///< that come from the other
  std::vector<std::uint64_t> seen;     ///< by input: messages stepped to by the last read, if frames carry time stamps
  std::vector<std::uint64_t> laden;    ///< by input: reads that found another message stepped to
  std::optional<PeerTrace> trace{};    ///< present if frames carry time stamps

  // Messages between threads carry no stamps, so a beacon travels beside them: an empty frame with the stamp.
  uit::OutPort beacon_port{};                ///< leads to the other worker's `beacons`
  std::shared_ptr<uit::FrameBox> beacons{};  ///< null unless the other worker is in this process and frames carry time stamps
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
  /// comparable, and `is_here(worker)` whether the peer is in this process. Call it before the layer is joined.
  template <std::predicate<std::uint32_t> F, std::predicate<std::uint32_t> G>
  void TraceBy(const uit::TraceClock& clock, F&& is_same_clock, G&& is_here) {
    for (auto& [worker, peer] : peers_) {
      peer.seen.resize(peer.inputs.size());
      peer.laden.resize(peer.inputs.size());
      peer.trace.emplace(clock, is_same_clock(worker));
      if (is_here(worker)) peer.beacons = uit::FrameBox::Latest();
    }
  }
  /// Returns the trace of a peer, or null if frames carry no time stamps.
  PeerTrace* TraceOf(std::uint32_t worker) {
    const auto found = peers_.find(worker);
    return found == peers_.end() || !found->second.trace ? nullptr : &*found->second.trace;
  }
  /// Joins the beacons that go to a worker of this process. Call it after TraceBy of both.
  void JoinBeacons(std::uint32_t here, std::uint32_t there, EdgePeers& other) {
    EdgePeer& peer = peers_.at(there);
    peer.beacon_port = uit::OutPort{other.peers_.at(here).beacons};
    peer.beacon_port.TraceBy(&peer.trace->frames);
  }

  /// Sends beacons. Call it after the messages that they accompany.
  void SendBeacons() {
    for (auto& [worker, peer] : peers_) {
      if (peer.beacons == nullptr) continue;
      beacon_.Reserve(uit::FrameTrace::num_bytes);
      beacon_.Header().num_bytes = 0;
      peer.beacon_port.TryDepart(beacon_);
    }
  }
  /// Takes in beacons.
  void PullBeacons() {
    for (auto& [worker, peer] : peers_) {
      if (peer.beacons != nullptr && peer.beacons->TryStep()) peer.trace->frames.Take(peer.beacons->Get());
    }
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
  uit::Frame beacon_;
};

}  // namespace netuit
