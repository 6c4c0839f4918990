#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <netuit/mesh/layer_base.hpp>
#include <netuit/mesh/layer_part.hpp>
#include <netuit/mesh/phase.hpp>
#include <netuit/mesh/worker_graph.hpp>
#include <netuit/quality/exchange_counts.hpp>
#include <netuit/replay/worker_record.hpp>
#include <uit/config.hpp>
#include <uit/exchange/exchange.hpp>
#include <uit/exchange/receiving_half.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/out_port.hpp>
#include <uit/policy.hpp>
#include <uit/support/clock.hpp>
#include <uit/tally.hpp>
#include <uit/transport/process.hpp>

namespace netuit {

class EdgePeers;

/// One worker's part of a channel layer, whatever its type of message: its exchanges with other workers, and how a run moves
/// their frames. Once the part is joined, only its worker may call it.
///
/// What crosses to another worker becomes visible, and makes room, only when a worker pulls: once per update. Within a worker,
/// a message is visible at once, or, in bulk-synchronous runs, in the next update.
class ChannelPart : public LayerPart {
 public:
  /// Makes the part of a layer whose conduits have this policy. `is_aggregated`: frames may have to wait until the peer has
  /// taken in earlier ones.
  ChannelPart(const WorkerGraph& graph, std::uint64_t period, const uit::Policy& policy, bool is_aggregated);
  ~ChannelPart() override;

  /// Opens both ends of the edges within the worker, and the worker's ends of all others. `number` is the layer's number in its
  /// mesh. The fabric connects the exchanges later.
  void Join(const LayerSite& site, std::uint32_t number);

  /// Opens what carries acknowledgements, if the exchanges have no reports; see LayerBase::JoinAwaited.
  void JoinAwaited(const LayerSite& site, std::uint32_t number);

  void Prepare(const Delivery& delivery, const replay::WorkerRecord& record) override;
  void Pull() override;
  void Read(uit::TimePoint now) override;
  void NoteReads(std::uint64_t update, EffectiveUpdates& effective) const override;
  void Send(std::uint64_t update) override;
  void SetStamp(Phase phase) override;
  bool TryEnd(Phase phase) override;
  void MakeRoom(Phase phase) override;
  bool TryPullLast(Phase phase) override;
  bool TryReadReports(Phase phase) override;
  void BeginDrain(Phase drain) override;
  void ReportSteps() override;
  void EndDrain() override;
  /// Binds the nodes that have a channel to or from another worker, because all channels between two workers share frames.
  void BindNodes(std::vector<bool>& is_bound) const override;
  void ForEachPeer(const VisitPeer& visit) override;
  void ForEachChannel(const WorkerGraph& graph, const VisitChannel& visit) override;
  /// Messages that wait for the next run count as unread until then. Call it while no worker uses the conduits.
  void AddTallies(uit::Tally& crossing, uit::Tally& inside) const override;

 protected:
  /// Returns the outputs that lead to other workers, ascending.
  const std::vector<std::uint32_t>& CrossingOutputs() const { return crossing_outputs_; }
  /// Returns the inputs that come from other workers, ascending.
  const std::vector<std::uint32_t>& CrossingInputs() const { return crossing_inputs_; }

 private:
  /// Opens both ends of an edge within the worker.
  virtual void JoinWithin(std::uint32_t output, std::uint32_t input, const uit::Process& options) = 0;
  /// Opens the inlet of an edge to another worker, and holds it. Returns its exchange.
  virtual std::shared_ptr<uit::SendingHalf> JoinOutput(std::uint32_t output, const uit::Process& reach) = 0;
  /// Opens the outlet of an edge from another worker, and holds it. Returns its exchange.
  virtual std::shared_ptr<uit::ReceivingHalf> JoinInput(std::uint32_t input, const uit::Process& reach) = 0;
  /// If on, puts and steps within the worker take effect only in Refresh. If off, staged messages become visible.
  virtual void HoldInside(bool hold) = 0;
  /// Unbinds every inlet that crosses.
  virtual void Mute() = 0;
  /// Undoes Mute.
  virtual void Unmute() = 0;
  /// Puts an interceptor before every inlet that crosses, and behind every such outlet. A worker receives information from
  /// others only through these ends.
  virtual void Intercept(const replay::WorkerRecord& record) = 0;
  /// Returns the outcomes of an output's puts.
  virtual uit::PutTally PutsOf(std::uint32_t output) const = 0;
  /// Returns the outcomes of an input's messages.
  virtual uit::GetTally GetsOf(std::uint32_t input) const = 0;
  /// Returns the number of messages that wait at an input.
  virtual std::uint64_t NumWaiting(std::uint32_t input) const = 0;

  struct Acknowledged {
    std::shared_ptr<uit::FrameBox> box;  // keeps the newest acknowledgement
    std::uint64_t stamp = 0;             // that it carried
  };

  /// Whether the exchanges report to the inlets what they have taken in. Frames of the newest message in a pool need no report:
  /// any number of them may be replaced. Where every frame is awaited, an acknowledgement takes the place of a report, so that no
  /// frame is replaced before it has been taken in.
  bool HasReports() const { return is_aggregated_ || policy_.retain != uit::Retain::latest; }
  /// Tells the workers of the inlets that the frames of the current update have been taken in.
  void Acknowledge();
  /// If on, sums leave only at the end of an update, and may not overflow the sum that waits at the outlet.
  void HoldSums(bool hold);
  /// Takes in what has arrived and reports it, because peers may need the room to end their updates.
  void TakeInAggregated();
  /// Returns the stamp for frames of the period that ends with this phase.
  std::uint64_t PeriodStamp(Phase phase) const {
    return Stamp(phase.IsUpdate() ? phase.Update() - phase.Update() % Period() : phase);
  }

  const WorkerGraph& graph_;
  uit::Policy policy_;
  bool is_aggregated_;
  std::unique_ptr<EdgePeers> peers_;
  std::vector<std::uint32_t> crossing_outputs_;                   // ascending
  std::vector<std::uint32_t> crossing_inputs_;                    // ascending
  std::vector<std::shared_ptr<uit::SendingHalf>> senders_;        // by worker, ascending
  std::vector<std::shared_ptr<uit::ReceivingHalf>> receivers_;    // by worker, ascending
  std::size_t num_ended_ = 0;                                     // senders that have ended the update
  bool is_muted_ = false;
  bool is_by_update_ = false;
  std::vector<uit::OutPort> acknowledgements_;  // to the workers of inlets
  std::vector<Acknowledged> acknowledged_;      // by the workers of outlets
  uit::Frame acknowledgement_{0};
  std::uint64_t stamp_ = 0;      // of the current update
  bool acknowledges_ = false;    // in this run
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/channel_part.ipp>
#endif
