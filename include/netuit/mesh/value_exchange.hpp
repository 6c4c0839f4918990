#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/mesh/field_memory.hpp>
#include <netuit/mesh/frame_note.hpp>
#include <netuit/mesh/node_counts.hpp>
#include <netuit/quality/exchange_counts.hpp>
#include <netuit/quality/peer_trace.hpp>
#include <uit/config.hpp>
#include <uit/exchange/frame_window.hpp>
#include <uit/exchange/pooled/latest_frame.hpp>
#include <uit/exchange/pull_reports.hpp>
#include <uit/support/bytes.hpp>
#include <uit/tally.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/out_port.hpp>

namespace netuit {

/// Frames of values that may be sent before the receiver reports that it has taken them in, where every frame counts.
inline constexpr std::size_t num_awaited_frames = 4;

/// The published values of a worker's nodes, as its senders read them.
struct ShownValues {
  PackSlots pack = nullptr;          ///< copies some nodes' values
  const std::byte* values = nullptr; ///< all values, by slot
  std::size_t first_slot = 0;        ///< of the worker's first node
  const NodeCounts& puts;            ///< publications of each node
  std::uint64_t num_effective = 0;   ///< EffectiveUpdates::Count of the values
  CutCounts cuts{};                  ///< of the worker
};

/// Completes a frame, or a draft of one, that holds the values of `nodes`, with the number of publications of each. `scratch` may be
/// any.
template <typename F>
void SealWithCounts(const uit::LatestFrame& layout, F& frame, std::span<const std::uint32_t> nodes, const NodeCounts& puts,
                    std::vector<std::uint64_t>& scratch) {
  if (puts.IsUniform()) return layout.Seal(frame, nullptr, puts.Base());
  scratch.resize(nodes.size());
  std::ranges::transform(nodes, scratch.begin(), [&puts](std::uint32_t node) { return puts.Of(node); });
  layout.Seal(frame, scratch.data(), puts.Base());
}

/// Sends the values of some nodes of a worker to another worker.
struct ValueSender {
  std::uint32_t worker = 0;                ///< the other worker
  std::span<const std::uint32_t> nodes{};  ///< the nodes, local to the worker, ascending
  uit::LatestFrame layout{};               ///< a slot per node
  uit::OutPort port{};                     ///< leads to the other worker; newer frames may replace older ones
  std::optional<uit::FrameWindow> awaited{};  ///< leads there too, and keeps every frame; made before it is used
  uit::Frame frame{};                      ///< buffer for the next frame
  std::vector<std::uint64_t> counts{};     ///< scratch: publications by node, if they differ

  /// Sends the nodes' values, new or not.
  void Send(const ShownValues& shown, std::uint64_t stamp, bool last);
  /// Sends them in a frame that ends its update and that no other replaces. Returns false, with nothing sent, if the receiver
  /// has not reported that there is room. Requires `awaited`.
  bool TrySendAwaited(const ShownValues& shown, std::uint64_t stamp);

 private:
  template <typename F>
  void Fill(const ShownValues& shown, F& to);
};

/// Receives values of another worker's nodes and stores them as ghosts.
struct ValueReceiver {
  std::uint32_t worker = 0;            ///< the other worker
  std::size_t first_slot = 0;          ///< of the ghosts, which are consecutive
  std::span<const NodeId> ids{};       ///< of the nodes, in the order of the ghosts
  uit::LatestFrame layout;             ///< a slot per ghost
  std::shared_ptr<uit::FrameBox> box;  ///< where frames arrive that newer ones may replace
  std::shared_ptr<uit::FrameBox> awaited{};         ///< where the others arrive; made before it is used
  std::optional<uit::PullReports> awaited_reports{};  ///< tell the sender which of the others have been taken in
  PeerTrace* trace = nullptr;          ///< null unless frames carry time stamps
  uit::GetTally gets;                  ///< values that reached a ghost
  std::uint64_t num_preempted = 0;     ///< messages replaced before they arrived
  std::vector<std::uint64_t> fresh;    ///< by channel: values that reached a ghost; empty while all channels agree
  std::uint64_t fresh_base = 0;        ///< the same, while all channels agree
  std::uint64_t last_update = 0;       ///< stamp of the newest frame
  bool has_last = false;               ///< whether that frame ended its update
  std::uint64_t num_effective = 0;     ///< EffectiveUpdates::Count of its values
  std::vector<std::uint64_t> recorded; ///< while a run is recorded or replayed: the ghosts' bytes as last recorded

  /// Returns the stamp of the newest frame that has arrived; the next Pull takes it in. The number may be any if the frame is
  /// malformed.
  std::uint64_t NewestArrived();
  /// Raises each of `counts` to what its sender had, likewise, if that is more.
  void RaiseToNewest(CutCounts& counts);
  /// Copies the newest values that have arrived to their slots in `values`. Counts them as stepped, or as unread if no update
  /// will read them. Returns whether any arrived. Throws if the frame has a wrong length.
  bool Pull(std::byte* values, bool will_be_read);
  /// Does the same with what NewestArrived or RaiseToNewest has seen, and nothing newer.
  bool PullSeen(std::byte* values, bool will_be_read);
  /// Does the same with the next frame of those that are awaited. Requires `awaited`.
  bool PullAwaited(std::byte* values);
  /// Counts a frame that has the values of some channels only, ascending. Requires CountByChannel.
  void Count(const uit::LatestFrame& some, const uit::FrameView& frame, std::span<const std::uint32_t> channels, bool will_be_read);
  /// Counts each channel for itself from here on.
  void CountByChannel();
  /// Returns the address of the ghosts.
  std::byte* Ghosts(std::byte* values) const { return values + first_slot * layout.slot_bytes; }
  /// Returns the outcomes of the messages of one channel.
  ExchangeCounts CountsOf(std::size_t channel) const;

 private:
  void Take(uit::FrameBox& from, std::byte* values, bool will_be_read);
  void Count(const uit::FrameView& frame, bool will_be_read);
  /// Counts a value that a frame has for a channel, after so many publications. Returns whether it is a new one.
  bool CountValue(std::size_t channel, std::uint64_t num_published);

  bool has_arrived_ = false;         // the box has stepped to a frame that is not taken in yet
  std::uint64_t seen_base_ = 0;      // publications that earlier frames have reported, while all channels agree
  std::vector<std::uint64_t> seen_;  // the same by channel, once they differ
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/value_exchange.ipp>
#endif
