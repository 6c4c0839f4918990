#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <netuit/mesh/worker_graph.hpp>
#include <netuit/quality/peer_trace.hpp>
#include <uit/config.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/function_ref.hpp>
#include <uit/link/frame_trace.hpp>

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
  explicit EdgePeers(const WorkerGraph& graph);

  /// Returns the peers by worker.
  std::map<std::uint32_t, EdgePeer>& Map() { return peers_; }
  /// Makes frames carry time stamps of `clock`, to which it refers. `is_same_clock(worker)` tells whether a peer's stamps are
  /// comparable. Call it before the layer is joined.
  void TraceBy(const uit::TraceClock& clock, uit::FunctionRef<bool(std::uint32_t)> is_same_clock);
  /// Returns the trace of a peer, or null if frames carry no time stamps.
  PeerTrace* TraceOf(std::uint32_t worker);
  /// Notes that an update that begins at `now` reads the messages pulled so far. `num_stepped(input)` returns the number of
  /// messages stepped to so far.
  void Read(uit::TimePoint now, uit::FunctionRef<std::uint64_t(std::uint32_t)> num_stepped);
  /// Returns the number of calls of Read.
  std::uint64_t NumReads() const { return num_reads_; }

 private:
  std::map<std::uint32_t, EdgePeer> peers_;  // by worker
  std::uint64_t num_reads_ = 0;
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/edge_peers.ipp>
#endif
