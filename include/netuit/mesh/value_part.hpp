#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include <netuit/mesh/field_memory.hpp>
#include <netuit/mesh/layer_part.hpp>
#include <netuit/mesh/node_counts.hpp>
#include <netuit/quality/exchange_counts.hpp>
#include <netuit/quality/peer_trace.hpp>
#include <uit/config.hpp>
#include <uit/exchange/pooled/latest_frame.hpp>
#include <uit/support/bytes.hpp>
#include <uit/tally.hpp>
#include <uit/wire/frame.hpp>
#include <uit/wire/frame_box.hpp>
#include <uit/wire/out_port.hpp>

namespace netuit {

/// Sends the values of some nodes of a worker to another worker.
struct ValueSender {
  std::span<const std::uint32_t> nodes{};  ///< which nodes, local to the worker, ascending
  uit::LatestFrame layout{};               ///< a slot per node
  uit::OutPort port{};                     ///< to the other worker
  uit::Frame frame{};                      ///< to write the next one in
  std::vector<std::uint64_t> counts{};     ///< scratch: messages by node, where they differ

  /// Sends the nodes' values, whether new or not. `pack` copies them from `values`, where they begin at `first_slot`.
  void Send(PackSlots pack, const std::byte* values, std::size_t first_slot, const NodeCounts& puts, std::uint64_t stamp,
            bool last);
};

/// Receives values of another worker's nodes, which become ghosts.
struct ValueReceiver {
  std::size_t first_slot = 0;          ///< of the ghosts, which stand in a row
  std::span<const NodeId> ids{};       ///< of the nodes, in that order
  uit::LatestFrame layout;             ///< a slot per ghost
  std::shared_ptr<uit::FrameBox> box;  ///< where frames arrive
  PeerTrace* trace = nullptr;          ///< if frames bear stamps
  uit::GetTally gets;                  ///< values that reached a ghost
  std::uint64_t num_preempted = 0;     ///< messages replaced on the way
  std::vector<std::uint64_t> fresh;    ///< by channel: values that reached a ghost, where they differ; else see below
  std::uint64_t fresh_base = 0;        ///< the same while all channels agree
  std::uint64_t last_update = 0;       ///< stamp of the newest frame
  bool has_last = false;               ///< whether that frame ended its update
  std::vector<std::uint64_t> recorded; ///< while a run is recorded or replayed: the ghosts' bytes, as the record knows them

  /// Copies the newest values that have arrived to their slots in `values`. Counts them as stepped, or as unread where no
  /// update will read them. Returns whether there were any. Throws if the frame has a wrong length.
  bool Pull(std::byte* values, bool will_be_read);
  /// Where the ghosts stand.
  std::byte* Ghosts(std::byte* values) const { return values + first_slot * layout.slot_bytes; }
  /// What became of the messages of one channel.
  ExchangeCounts CountsOf(std::size_t channel) const;

 private:
  void Count(const uit::Frame& frame, bool will_be_read);

  std::uint64_t seen_base_ = 0;      // messages that earlier frames knew of, while all channels agree
  std::vector<std::uint64_t> seen_;  // and after
};

/// One worker's part of a layer of a value per node: sends the values of its nodes that others hear, and brings the newest
/// values of others to its ghosts. A channel is a node that is heard by another worker. That worker only, once it is wired.
class ValuePart : public LayerPart {
 public:
  /// By the worker at the other end; wiring gives them their ports and boxes.
  std::map<std::uint32_t, ValueSender>& Senders() { return senders_; }
  /// The same for what comes in.
  std::map<std::uint32_t, ValueReceiver>& Receivers() { return receivers_; }

  /// Frames are to bear stamps with the times of `clock`, which the part refers to; `is_same_clock(worker)` tells whether a
  /// peer's are comparable. Before it is wired.
  template <std::predicate<std::uint32_t> F>
  void TraceBy(const uit::TraceClock& clock, F&& is_same_clock) {
    const auto add = [&](std::uint32_t worker) -> PeerTrace& {
      return traces_.try_emplace(worker, clock, is_same_clock(worker)).first->second;
    };
    for (auto& [worker, receiver] : receivers_) receiver.trace = &add(worker);
    for (auto& [worker, sender] : senders_) add(worker);
  }
  /// Of a peer, if frames bear stamps, else null.
  PeerTrace* TraceOf(std::uint32_t worker) {
    const auto found = traces_.find(worker);
    return found == traces_.end() ? nullptr : &found->second;
  }

  void Prepare(const Delivery& delivery, const replay::Tape& tape) override;
  void Pull() final;
  void Read(uit::TimePoint now) final;
  std::size_t MaxRecordBytes() const final;
  std::byte* PullRecorded(std::byte* to) final;
  [[nodiscard]] bool TryReplay(uit::ByteReader& from) final;
  void AddTallies(uit::Tally& crossing, uit::Tally& inside) const final;
  void ForEachPeer(const VisitPeer& visit) final;
  void ForEachChannel(const PlaceGraph& graph, const VisitChannel& visit) final;

 protected:
  using LayerPart::LayerPart;
  /// Where values stand, by slot, as nodes see them.
  virtual std::byte* Shown() = 0;
  /// What a node has put.
  virtual uit::PutTally PutsOf(std::uint32_t node) const { return {.attempted = puts_.Of(node), .muted = muted_.Of(node)}; }

  /// Counts puts as muted, or as sent.
  NodeCounts& Counting() { return is_muted_ ? muted_ : puts_; }
  /// Whether the run is muted.
  bool IsMuted() const { return is_muted_; }
  /// Sends to every other worker that hears any of the nodes; see ValueSender::Send.
  void SendAll(PackSlots pack, const std::byte* values, std::size_t first_slot, std::uint64_t update, bool last);
  /// Pulls to `values`, and tells whether everybody's last frames of an update have come.
  bool TryPullAllLast(std::byte* values, std::uint64_t update);

 private:
  uit::PutTally PutsTo(const ValueSender& sender) const;

  std::map<std::uint32_t, ValueSender> senders_;
  std::map<std::uint32_t, ValueReceiver> receivers_;
  std::map<std::uint32_t, PeerTrace> traces_;  // by worker; empty if frames bear no stamps
  std::uint64_t num_reads_ = 0;
  NodeCounts puts_;
  NodeCounts muted_;
  bool is_muted_ = false;
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/value_part.ipp>
#endif
