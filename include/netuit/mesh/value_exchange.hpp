#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/mesh/field_memory.hpp>
#include <netuit/mesh/node_counts.hpp>
#include <netuit/quality/exchange_counts.hpp>
#include <netuit/quality/peer_trace.hpp>
#include <uit/config.hpp>
#include <uit/exchange/pooled/latest_frame.hpp>
#include <uit/support/bytes.hpp>
#include <uit/tally.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/out_port.hpp>

namespace netuit {

/// Sends the values of some nodes of a worker to another worker.
struct ValueSender {
  std::span<const std::uint32_t> nodes{};  ///< the nodes, local to the worker, ascending
  uit::LatestFrame layout{};               ///< a slot per node
  uit::OutPort port{};                     ///< leads to the other worker
  uit::Frame frame{};                      ///< buffer for the next frame
  std::vector<std::uint64_t> counts{};     ///< scratch: publications by node, if they differ

  /// Sends the nodes' values, new or not. `pack` copies them from `values`, where the worker's first node has slot
  /// `first_slot`.
  void Send(PackSlots pack, const std::byte* values, std::size_t first_slot, const NodeCounts& puts, std::uint64_t stamp,
            bool last);
};

/// Receives values of another worker's nodes and stores them as ghosts.
struct ValueReceiver {
  std::size_t first_slot = 0;          ///< of the ghosts, which are consecutive
  std::span<const NodeId> ids{};       ///< of the nodes, in the order of the ghosts
  uit::LatestFrame layout;             ///< a slot per ghost
  std::shared_ptr<uit::FrameBox> box;  ///< where frames arrive
  PeerTrace* trace = nullptr;          ///< null unless frames carry time stamps
  uit::GetTally gets;                  ///< values that reached a ghost
  std::uint64_t num_preempted = 0;     ///< messages replaced before they arrived
  std::vector<std::uint64_t> fresh;    ///< by channel: values that reached a ghost; empty while all channels agree
  std::uint64_t fresh_base = 0;        ///< the same, while all channels agree
  std::uint64_t last_update = 0;       ///< stamp of the newest frame
  bool has_last = false;               ///< whether that frame ended its update
  std::vector<std::uint64_t> recorded; ///< while a run is recorded or replayed: the ghosts' bytes as last recorded

  /// Copies the newest values that have arrived to their slots in `values`. Counts them as stepped, or as unread if no update
  /// will read them. Returns whether any arrived. Throws if the frame has a wrong length.
  bool Pull(std::byte* values, bool will_be_read);
  /// Returns the address of the ghosts.
  std::byte* Ghosts(std::byte* values) const { return values + first_slot * layout.slot_bytes; }
  /// Returns the outcomes of the messages of one channel.
  ExchangeCounts CountsOf(std::size_t channel) const;

 private:
  void Count(const uit::Frame& frame, bool will_be_read);

  std::uint64_t seen_base_ = 0;      // publications that earlier frames have reported, while all channels agree
  std::vector<std::uint64_t> seen_;  // the same by channel, once they differ
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/value_exchange.ipp>
#endif
