#pragma once

#include <cstdint>

#include <netuit/mesh/edge_peers.hpp>
#include <netuit/mesh/worker_graph.hpp>
#include <netuit/quality/peer_trace.hpp>
#include <uit/config.hpp>
#include <uit/link/frame_trace.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/function_ref.hpp>

namespace netuit {

UIT_DEFINE EdgePeers::EdgePeers(const WorkerGraph& graph) {
  for (std::uint32_t output = 0; output < graph.targets.size(); ++output) {
    if (graph.target_workers[output] != graph.worker) peers_[graph.target_workers[output]].outputs.push_back(output);
  }
  for (std::uint32_t input = 0; input < graph.sources.size(); ++input) {
    if (graph.source_workers[input] != graph.worker) peers_[graph.source_workers[input]].inputs.push_back(input);
  }
}

UIT_DEFINE PeerTrace* EdgePeers::TraceOf(std::uint32_t worker) {
  const auto found = peers_.find(worker);
  return found == peers_.end() || !found->second.trace ? nullptr : &*found->second.trace;
}

UIT_DEFINE void EdgePeers::TraceBy(const uit::TraceClock& clock, uit::FunctionRef<bool(std::uint32_t)> is_same_clock) {
  for (auto& [worker, peer] : peers_) {
    peer.seen.resize(peer.inputs.size());
    peer.laden.resize(peer.inputs.size());
    peer.trace.emplace(clock, is_same_clock(worker));
  }
}

UIT_DEFINE void EdgePeers::Read(uit::TimePoint now, uit::FunctionRef<std::uint64_t(std::uint32_t)> num_stepped) {
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

}  // namespace netuit
