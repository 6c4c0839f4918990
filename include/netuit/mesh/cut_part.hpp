#pragma once

#include <cstdint>

#include <netuit/mesh/field_memory.hpp>
#include <netuit/mesh/layer_part.hpp>
#include <netuit/mesh/network_part.hpp>
#include <netuit/mesh/node_counts.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/mesh/phase.hpp>
#include <netuit/mesh/value_ends.hpp>
#include <netuit/mesh/worker_graph.hpp>
#include <netuit/quality/effective_updates.hpp>
#include <netuit/replay/worker_record.hpp>
#include <uit/config.hpp>
#include <uit/support/clock.hpp>
#include <uit/tally.hpp>

namespace netuit {

/// One worker's part of the copies of a published field at cuts, in one network. It takes no part in updates: the run asks it to copy,
/// to send, and to receive. Its frames do not count as messages.
class CutPart final : public LayerPart {
 public:
  /// Copies the values of `field` to `copy`. Refers to all arguments.
  CutPart(const FieldMemory& field, const FieldMemory& copy, const Partition& partition, const NetworkPart& network);

  /// Copies the values of the worker's nodes.
  void CopyOwn();
  /// Copies what its edges show of other workers' nodes.
  void CopyGhosts();
  /// Sends the copies of its nodes' values to the workers that need them, for this round.
  void SendCopies(std::uint64_t round);
  /// Takes in what has arrived. Returns whether the copies of all other workers for this round have.
  bool TryReceive(std::uint64_t round);
  /// Returns the senders and receivers. The layer joins them.
  ValueEnds& Ends() { return ends_; }

  void Prepare(const Delivery&, const replay::WorkerRecord&) override {}
  void Pull() override {}
  void Send(std::uint64_t) override {}
  void Read(uit::TimePoint) override {}
  void NoteReads(std::uint64_t, EffectiveUpdates&) const override {}
  bool TryPullLast(Phase) override { return true; }
  void AddTallies(uit::Tally&, uit::Tally&) const override {}
  void ForEachPeer(const VisitPeer&) override {}
  void ForEachChannel(const WorkerGraph&, const VisitChannel&) override {}

 private:
  const FieldMemory& field_;
  const FieldMemory& copy_;
  const Partition& partition_;
  const NetworkPart& network_;
  ValueEnds ends_;
  NodeCounts uncounted_;
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/cut_part.ipp>
#endif
