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

/// What one place has to do with one other in a layer of conduits.
struct EdgePeer {
  std::vector<std::uint32_t> outputs;  ///< that lead there
  std::vector<std::uint32_t> inputs;   ///< that come from there
  std::vector<std::uint64_t> seen;     ///< by input: messages stepped to by the last look, if frames bear stamps
  std::vector<std::uint64_t> laden;    ///< likewise: looks at the input that found one more stepped to
  std::optional<PeerTrace> trace{};    ///< if frames bear stamps

  // Between threads messages travel as they are, so an empty frame with the stamp travels beside them.
  uit::OutPort beacon_port{};                ///< to the other's `beacons`
  std::shared_ptr<uit::FrameBox> beacons{};  ///< null unless the other is in this process, and frames bear stamps
};

/// The other places that a place has edges with. Its worker only, once it is wired.
class EdgePeers {
 public:
  /// Of a part of the graph.
  explicit EdgePeers(const WorkerGraph& graph) {
    for (std::uint32_t output = 0; output < graph.targets.size(); ++output) {
      if (graph.target_workers[output] != graph.worker) peers_[graph.target_workers[output]].outputs.push_back(output);
    }
    for (std::uint32_t input = 0; input < graph.sources.size(); ++input) {
      if (graph.source_workers[input] != graph.worker) peers_[graph.source_workers[input]].inputs.push_back(input);
    }
  }

  /// By worker.
  std::map<std::uint32_t, EdgePeer>& Map() { return peers_; }
  /// Frames are to bear stamps with the times of `clock`, which is referred to; `is_same_clock(worker)` tells whether a
  /// peer's are comparable, and `is_here(worker)` whether it is in this process. Before it is wired.
  template <std::predicate<std::uint32_t> F, std::predicate<std::uint32_t> G>
  void TraceBy(const uit::TraceClock& clock, F&& is_same_clock, G&& is_here) {
    for (auto& [worker, peer] : peers_) {
      peer.seen.resize(peer.inputs.size());
      peer.laden.resize(peer.inputs.size());
      peer.trace.emplace(clock, is_same_clock(worker));
      if (is_here(worker)) peer.beacons = uit::FrameBox::Latest();
    }
  }
  /// Of a peer, if frames bear stamps, else null.
  PeerTrace* TraceOf(std::uint32_t worker) {
    const auto found = peers_.find(worker);
    return found == peers_.end() || !found->second.trace ? nullptr : &*found->second.trace;
  }
  /// Joins the beacons that go to a place of this process; after TraceBy of both.
  void JoinBeacons(std::uint32_t here, std::uint32_t there, EdgePeers& other) {
    EdgePeer& peer = peers_.at(there);
    peer.beacon_port = uit::OutPort{other.peers_.at(here).beacons};
    peer.beacon_port.TraceBy(&peer.trace->frames);
  }

  /// Sends beacons; after what they go beside.
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
  /// An update that begins at `now` reads what has been pulled; `num_stepped(input)` tells how many messages have been
  /// stepped to so far.
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
  /// How often Read was called.
  std::uint64_t NumReads() const { return num_reads_; }

 private:
  std::map<std::uint32_t, EdgePeer> peers_;  // by worker
  std::uint64_t num_reads_ = 0;
  uit::Frame beacon_;
};

}  // namespace netuit
