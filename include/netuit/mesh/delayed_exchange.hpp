#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <netuit/mesh/delayed_slots.hpp>
#include <netuit/mesh/field_memory.hpp>
#include <netuit/mesh/node_counts.hpp>
#include <netuit/mesh/value_exchange.hpp>
#include <netuit/quality/effective_updates.hpp>
#include <uit/config.hpp>
#include <uit/exchange/frame_window.hpp>
#include <uit/exchange/pooled/latest_frame.hpp>
#include <uit/exchange/pull_reports.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/frame_box.hpp>

namespace netuit {

/// Moves the values of a field in a run by Dataflow, along a network that has DelayedSlots: between the worker's own slots, and
/// in batches to and from other workers. Once it is joined, only its worker may call it.
class DelayedExchange {
 public:
  /// Sends a worker's batches.
  struct Sender {
    const DelayedSlots::Peer& peer;              ///< where they go
    std::optional<uit::FrameWindow> window{};    ///< leads there; keeps every frame
    uit::Frame frame{};                          ///< buffer for the next frame
    std::uint64_t update = 0;                    ///< of the next batch, in this run
    std::size_t batch = 0;                       ///< the next one's position in Peer::batches

    /// Returns the next batch.
    const DelayedSlots::Batch& Next() const { return peer.batches[batch]; }
    /// Whether the next batch is of this level and update.
    bool IsDue(std::uint32_t level, std::uint64_t present) const { return update == present && Next().level == level; }
    /// Goes on to the batch after it.
    void Advance() {
      if (++batch != peer.batches.size()) return;
      batch = 0;
      ++update;
    }
  };
  /// Receives a worker's batches.
  struct Receiver {
    const DelayedSlots::Peer& peer;                    ///< where they come from
    ValueReceiver& account;                            ///< counts them
    std::shared_ptr<uit::FrameBox> awaited{};          ///< where they arrive
    std::optional<uit::PullReports> awaited_reports{}; ///< tell the sender which of them have been taken in
    std::uint64_t num_taken = 0;                       ///< batches, in this run
    std::vector<bool> is_young{};                      ///< by batch: taken in in the current update, so it has to age at its end
  };

  /// Refers to all arguments. `account(worker)` returns what counts the values from a worker.
  template <typename F>
  DelayedExchange(const FieldMemory& memory, const DelayedSlots& slots, F&& account) : memory_(memory), slots_(slots) {
    for (const DelayedSlots::Peer& peer : slots.destinations) senders_.emplace_back(peer);
    for (const DelayedSlots::Peer& peer : slots.sources) receivers_.emplace_back(peer, account(peer.worker));
  }

  /// Returns the senders, which get their windows when the layer is joined.
  std::vector<Sender>& Senders() { return senders_; }
  /// Returns the receivers, likewise.
  std::vector<Receiver>& Receivers() { return receivers_; }
  /// Returns the layout of a frame with so many values.
  uit::LatestFrame LayoutOf(std::size_t num_nodes) const { return {.num_channels = num_nodes, .slot_bytes = memory_.slot_bytes}; }

  /// Prepares for a run whose frames carry `first_stamp` plus the number of their update. Every edge shows its source's value at
  /// the start; or, if `keeps_older`, an edge with a delay above 1 shows what the run before has left in its slot.
  void Begin(std::uint64_t first_stamp, bool keeps_older);
  /// Whether the level, whose number is given too, needs batches or has one to send.
  bool IsCrossed(std::size_t level, std::uint32_t number) const;
  /// Takes in what has come and may be, in the given update. Returns whether all has come that the level needs.
  bool TryTakeFor(std::size_t level, std::uint64_t update);
  /// Takes in what has come and may be, in the given update.
  void TakeIn(std::uint64_t update);
  /// After a level's nodes have been updated: shows their values to edges with delay 0. `silent` nodes keep theirs; ascending.
  void Show(std::size_t level, std::span<const std::uint32_t> silent);
  /// Sends the level's batches. Returns false if there is no room for one of them: call TakeIn of all exchanges, and this again.
  /// `puts` counts the publications of each node.
  bool TrySend(std::uint32_t level, std::uint64_t update, const NodeCounts& puts);
  /// At the end of an update, before own slots change: makes all values one update older.
  void Age(std::uint64_t update);
  /// After the last update: takes in what has come of `num_updates` updates. Returns whether that is all. A run may then go on.
  bool TryFinish(std::uint64_t num_updates);
  /// Tells how old the values were that an update reads from other workers, and which of its values are old.
  void NoteReads(std::uint64_t update, std::uint32_t max_delay, EffectiveUpdates& effective) const;

 private:
  bool TrySendNext(Sender& sender, std::uint64_t stamp, const NodeCounts& puts);
  /// Takes in batches that have come, until there are so many of this run. `update` is the current one. Returns whether there are.
  bool TryTakeAll(Receiver& receiver, std::uint64_t num_batches, std::uint64_t update, bool will_be_read);
  /// Takes in the next batch, if it has come.
  bool TryTake(Receiver& receiver, std::uint64_t update, bool will_be_read);
  /// Copies what has arrived to the slots where it belongs in the given update. Returns whether it still has to age at its end.
  bool Store(const DelayedSlots::Peer& peer, const DelayedSlots::Batch& batch, const std::byte* values, std::uint64_t written,
             std::uint64_t update);
  void Do(const std::vector<DelayedSlots::Move>& moves);

  const FieldMemory& memory_;
  const DelayedSlots& slots_;
  std::vector<Sender> senders_;
  std::vector<Receiver> receivers_;
  std::vector<std::uint64_t> counts_;  // scratch
  std::uint64_t first_stamp_ = 0;
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/delayed_exchange.ipp>
#endif
