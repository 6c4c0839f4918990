#pragma once

// Longer than 300 lines, because it answers every call of the run loop (LayerPart) for conduits, in one class.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <netuit/mesh/edge_peers.hpp>
#include <netuit/mesh/layer_part.hpp>
#include <netuit/mesh/worker_graph.hpp>
#include <netuit/quality/exchange_counts.hpp>
#include <netuit/quality/peer_trace.hpp>
#include <netuit/quality/quality.hpp>
#include <netuit/replay/interceptor.hpp>
#include <uit/conduit.hpp>
#include <uit/codec/codec.hpp>
#include <uit/policy.hpp>
#include <uit/transport/in_process.hpp>
#include <uit/transport/limited.hpp>
#include <uit/transport/process.hpp>
#include <uit/transport/transport_set.hpp>

namespace netuit {

/// The transports of a mesh's edges: within a worker, and between two workers, of one process or of two. While a run is recorded
/// or replayed, an interceptor stands in between. All have the same limit on message size.
using MeshTransports = uit::TransportSet<uit::Limited<uit::Intra>, uit::Process, replay::Intercepted>;

/// Returns how a mesh carries messages of a policy. Messages leave a worker at the end of its update, and those for the same
/// worker share frames, also if the policy asks for a frame each.
template <uit::Encodable T>
consteval uit::Policy InMesh(uit::Policy policy) {
  if (policy.consolidate != uit::Consolidate::none) return policy;
  const bool is_pool = policy.retain == uit::Retain::accumulate || (policy.retain == uit::Retain::latest && uit::FixedSizeEncodable<T>);
  policy.consolidate = is_pool ? uit::Consolidate::pooled : uit::Consolidate::aggregated;
  return policy;
}

/// One worker's part of a channel layer: an outlet per input and an inlet per output of its nodes. Once the part is joined,
/// only that worker may call it.
///
/// What crosses to another worker becomes visible, and makes room, only when a worker pulls: once per update. Within a worker,
/// a message is visible at once, or, in bulk-synchronous runs, in the next update.
template <uit::Encodable M, uit::Policy asked>
class EdgeConduits final : public LayerPart {
 public:
  using T = M;                                              ///< type of a message
  static constexpr uit::Policy policy = InMesh<M>(asked);  ///< of the conduits
  /// The inlet of an output.
  using Inlet = uit::Inlet<T, policy, MeshTransports>;
  /// The outlet of an input.
  using Outlet = uit::Outlet<T, policy, MeshTransports>;
  /// The sending side of an exchange with a worker of another process.
  using Sender = typename uit::Process::InletDuctFor<T, policy>::Sender;
  /// The receiving side of an exchange with a worker of another process.
  using Receiver = typename uit::Process::OutletDuctFor<T, policy>::Receiver;
  /// Whether the policy keeps every message until it is stepped to.
  static constexpr bool keeps_every = policy.retain == uit::Retain::every;
  /// Whether the policy adds messages up until a step.
  static constexpr bool accumulates = policy.retain == uit::Retain::accumulate;
  /// Whether frames may have to wait until the peer has taken in earlier ones.
  static constexpr bool is_aggregated = uit::is_aggregated<T, policy>;
  /// Whether outlets report their progress to inlets.
  static constexpr bool has_reports = keeps_every || accumulates || is_aggregated;
  /// Most puts per bulk-synchronous update. A pool has one slot per channel, so edges within a process have the same limit.
  static constexpr std::size_t max_puts =
      keeps_every && policy.consolidate == uit::Consolidate::pooled ? 1 : uit::no_limit;

  /// Refers to `outlets` and `inlets`, as many as the worker has inputs and outputs. They are not joined yet. Messages that a
  /// run leaves unread wait for the next run.
  EdgeConduits(const WorkerGraph& graph, std::uint64_t period, Outlet* outlets, Inlet* inlets)
      : LayerPart(period),
        inlets_(inlets, graph.targets.size()),
        outlets_(outlets, graph.sources.size()),
        peers_(graph) {}

  /// Returns the inlets by output.
  std::span<Inlet> Inlets() { return inlets_; }
  /// Returns the outlets by input.
  std::span<Outlet> Outlets() { return outlets_; }
  /// Returns the outputs that leave the thread.
  std::vector<std::uint32_t>& CrossingOutputs() { return crossing_outputs_; }
  /// Returns the inputs that come from another thread.
  std::vector<std::uint32_t>& CrossingInputs() { return crossing_inputs_; }
  /// Returns the exchanges with other processes that the inlets share.
  std::vector<std::shared_ptr<Sender>>& Senders() { return senders_; }
  /// Returns the exchanges with other processes that the outlets share.
  std::vector<std::shared_ptr<Receiver>>& Receivers() { return receivers_; }

  /// Returns the other workers that this one has edges with.
  EdgePeers& Peers() { return peers_; }

  /// Makes the ends that cross to other workers wait for Pull. Call it once the part is joined.
  void HoldCrossing() {
    for (const std::uint32_t output : crossing_outputs_) inlets_[output].Hold(true);
    for (const std::uint32_t input : crossing_inputs_) outlets_[input].Hold(true);
    if constexpr (keeps_every) {
      for (auto& sender : senders_) sender->Hold(true);
    }
  }
  void HandOver() override {
    for (Inlet& inlet : inlets_) inlet.HandOver();
    for (Outlet& outlet : outlets_) outlet.HandOver();
  }
  void Prepare(const Delivery& delivery, const replay::WorkerRecord& record) override {
    if (record.IsOn() && !delivery.is_by_update) Intercept(record);
    HoldInside(delivery.is_by_update);
    HoldSums(delivery.is_by_update);
    is_muted_ = delivery.is_muted;
    if (is_muted_) Mute();
  }
  void Pull() override {
    for (auto& receiver : receivers_) receiver->Pull();
    if constexpr (keeps_every) {
      for (auto& sender : senders_) sender->RefreshReport(0);
    }
  }
  void Read(uit::TimePoint now) override {
    peers_.Read(now, [this](std::uint32_t input) { return outlets_[input].Tally().stepped; });
  }
  void Send(std::uint64_t update) override {
    if (!IsDue(update)) return;
    for (auto& sender : senders_) {
      if constexpr (is_aggregated) sender->EndTurn();
      else sender->TryFlush();
    }
    for (auto& receiver : receivers_) receiver->TryFlush();
  }
  void StopIntercepting() override {
    for (std::size_t i = 0; i < bypassed_inlets_.size(); ++i) inlets_[crossing_outputs_[i]].Rebind(std::move(bypassed_inlets_[i]));
    for (std::size_t i = 0; i < bypassed_outlets_.size(); ++i) {
      Outlet& outlet = outlets_[crossing_inputs_[i]];
      outlet.Bound().Visit([](auto* duct) {
        if constexpr (requires { duct->Leave(); }) duct->Leave();
      });
      outlet.Rebind(std::move(bypassed_outlets_[i]));
    }
    bypassed_inlets_.clear();
    bypassed_outlets_.clear();
  }

  void SetStamp(std::uint64_t update) override {
    if (!IsDue(update)) return;
    for (auto& sender : senders_) sender->SetUpdate(Stamp(update));
    if constexpr (has_reports) {
      for (auto& receiver : receivers_) receiver->SetUpdate(Stamp(update));
    }
    num_ended_ = 0;
  }
  // An update's frames end with its period, because the next period shows what was put in this one.
  bool TryEnd(std::uint64_t update) override {
    if (!IsDueNext(update)) return true;
    if constexpr (has_reports) {
      for (; num_ended_ < senders_.size(); ++num_ended_) {
        if (!senders_[num_ended_]->TryEndUpdate()) return false;
      }
      if (update != drain_update) Report();
    } else {
      for (auto& sender : senders_) sender->EndUpdate();
    }
    return true;
  }
  void MakeRoom(std::uint64_t update) override {
    if (IsDueNext(update)) TakeInAggregated();
  }
  bool TryPullLast(std::uint64_t update) override {
    if (!IsDueNext(update)) return true;
    bool all = true;
    TakeInAggregated();
    for (auto& receiver : receivers_) {
      receiver->Pull();
      all &= receiver->HasLast(PeriodStamp(update));
    }
    return all;
  }
  bool TryReadReports([[maybe_unused]] std::uint64_t update) override {
    bool all = true;
    if constexpr (has_reports) {
      if (!IsDueNext(update)) return true;
      for (auto& sender : senders_) all &= sender->RefreshReport(PeriodStamp(update));
    }
    return all;
  }
  void Refresh(std::uint64_t update) override {
    if (!IsDueNext(update)) return;
    for (Inlet& inlet : inlets_) inlet.Refresh(max_puts);
    for (Outlet& outlet : outlets_) outlet.Refresh();
  }

  void BeginDrain() override {
    if (is_muted_) Unmute();
    HoldSums(true);
    SetStamp(drain_update);
  }
  void ReportSteps() override { Report(); }
  void EndDrain() override {
    HoldInside(false);
    HoldSums(false);
  }

  /// Calls `visit(worker, counts, trace)` for every other worker that this one has edges with.
  void ForEachPeer(const VisitPeer& visit) override {
    for (auto& [worker, peer] : peers_.Map()) {
      ExchangeCounts counts{.channels_out = peer.outputs.size(), .channels_in = peer.inputs.size()};
      for (const std::uint32_t output : peer.outputs) counts += inlets_[output].Tally();
      for (const std::uint32_t input : peer.inputs) counts += outlets_[input].Tally();
      counts.pulls = peers_.NumReads() * peer.inputs.size();
      counts.laden = std::accumulate(peer.laden.begin(), peer.laden.end(), std::uint64_t{0});
      if (peer.trace) counts.touches = peer.trace->frames.NumTouches();
      visit(worker, counts, peer.trace ? &*peer.trace : nullptr);
    }
  }

  /// Calls `visit(channel, counts)` for every output that leaves the thread, with its puts, and for every input that comes from
  /// another thread, with the outcomes of its messages. `graph` is the worker's.
  void ForEachChannel(const WorkerGraph& graph, const VisitChannel& visit) override {
    for (auto& [worker, peer] : peers_.Map()) {
      for (const std::uint32_t output : peer.outputs) {
        ExchangeCounts counts{.channels_out = 1};
        counts += inlets_[output].Tally();
        visit(Channel{graph.NodeOf(graph.first_out, output), graph.targets[output], worker}, counts);
      }
      for (std::size_t i = 0; i < peer.inputs.size(); ++i) {
        ExchangeCounts counts{.channels_in = 1};
        counts += outlets_[peer.inputs[i]].Tally();
        counts.pulls = peers_.NumReads();
        if (peer.trace) {
          counts.laden = peer.laden[i];
          counts.touches = peer.trace->frames.NumTouches();
        }
        visit(Channel{graph.sources[peer.inputs[i]], graph.NodeOf(graph.first_in, peer.inputs[i]), worker}, counts);
      }
    }
  }

  /// Returns the outcomes of puts and gets: of edges that cross to another thread, or of those within this one. Messages that
  /// wait for the next run count as unread until then. Call it while no worker uses the conduits.
  uit::Tally GetTally(bool crossing) const {
    uit::Tally tally;
    for (std::size_t output = 0; output < inlets_.size(); ++output) {
      if (std::ranges::binary_search(crossing_outputs_, output) == crossing) tally += inlets_[output].Tally();
    }
    for (std::size_t input = 0; input < outlets_.size(); ++input) {
      if (std::ranges::binary_search(crossing_inputs_, input) != crossing) continue;
      tally += outlets_[input].Tally();
      tally.get.unread += NumWaiting(outlets_[input]);
    }
    return tally;
  }

  void AddTallies(uit::Tally& crossing, uit::Tally& inside) const override {
    crossing += GetTally(true);
    inside += GetTally(false);
  }

 private:
  /// If on, puts and steps within the worker take effect only in Refresh. If off, staged messages become visible.
  void HoldInside(bool hold) {
    for (Inlet& inlet : inlets_) {
      if (!IsInside(inlet)) continue;
      inlet.Hold(hold, max_puts);
      if (!hold) inlet.TryFlush();
    }
    for (Outlet& outlet : outlets_) {
      if (IsInside(outlet)) outlet.Hold(hold);
    }
  }
  /// If on, sums leave only at the end of an update, and may not overflow the sum that waits at the outlet.
  void HoldSums([[maybe_unused]] bool hold) {
    if constexpr (accumulates) {
      for (auto& sender : senders_) sender->Hold(hold);
    }
  }
  /// Unbinds every inlet that leaves the thread, and keeps its duct.
  void Mute() {
    for (const std::uint32_t output : crossing_outputs_) muted_.push_back(inlets_[output].Rebind({}));
  }
  /// Undoes Mute.
  void Unmute() {
    for (std::size_t i = 0; i < muted_.size(); ++i) inlets_[crossing_outputs_[i]].Rebind(std::move(muted_[i]));
    muted_.clear();
  }

  /// Puts an interceptor before every inlet that leaves the thread, and behind every outlet that comes from another thread. A
  /// worker receives information from others only through these ends.
  void Intercept(const replay::WorkerRecord& record) {
    for (const std::uint32_t output : crossing_outputs_) {
      bypassed_inlets_.push_back(InterceptEnd(inlets_[output], [&record]<typename D>(uit::Ref<D> duct) {
        return uit::Ref<replay::InletInterceptor<T>>(new replay::InletInterceptorOf<T, D>(record, std::move(duct)));
      }));
    }
    for (const std::uint32_t input : crossing_inputs_) {
      bypassed_outlets_.push_back(InterceptEnd(outlets_[input], [&record]<typename D>(uit::Ref<D> duct) {
        return uit::Ref<replay::OutletInterceptor<T>>(new replay::OutletInterceptorOf<T, policy, D>(record, std::move(duct)));
      }));
    }
  }
  /// Tells the inlets in other processes how far the outlets here have stepped.
  void Report() {
    if constexpr (has_reports) {
      for (auto& receiver : receivers_) receiver->Report(true);
    }
  }
  /// Takes in what has arrived and reports it, because peers may need the room to end their updates.
  void TakeInAggregated() {
    if constexpr (is_aggregated) {
      for (auto& receiver : receivers_) {
        receiver->Pull();
        receiver->ReportIfDue();
      }
    }
  }
  /// Returns the stamp for frames of the period that ends with this update.
  std::uint64_t PeriodStamp(std::uint64_t update) const {
    return Stamp(IsOutside(update) ? update : update - update % Period());
  }
  static std::uint64_t NumWaiting(const Outlet& outlet) {
    return outlet.Bound().Visit([]<typename D>(const D* duct) -> std::uint64_t {
      if constexpr (requires { duct->NumUnread(); }) {
        return duct == nullptr ? 0 : duct->NumUnread();
      } else if constexpr (requires { duct->NumAccepted() - duct->NumPassed(); }) {  // both ends are in this process
        if (duct == nullptr) return 0;
        const std::uint64_t num_left = duct->NumAccepted() - duct->NumPassed();
        if constexpr (requires { duct->NumPreempted(); }) return num_left - duct->NumPreempted();
        else return num_left;
      } else {
        return 0;
      }
    });
  }
  /// Whether an end belongs to an edge within the worker.
  template <typename End>
  static bool IsInside(const End& end) {
    return end.Bound().Visit([]<typename D>(D*) { return uit::is_in_thread<D>; });
  }
  /// Binds an end to the interceptor that `intercept` makes for its duct. Returns the former binding.
  template <typename End, typename F>
  static auto InterceptEnd(End& end, F&& intercept) {
    return end.Bound().Visit([&]<typename D>(D* duct) {
      if constexpr (requires { duct->Exchange(); }) return end.Rebind(intercept(uit::Ref<D>(duct)));
      else return end.Rebind({});  // does not cross
    });
  }

  std::span<Inlet> inlets_;
  std::span<Outlet> outlets_;
  std::vector<std::uint32_t> crossing_outputs_;  // ascending
  std::vector<std::uint32_t> crossing_inputs_;   // ascending
  std::vector<std::shared_ptr<Sender>> senders_;
  std::vector<std::shared_ptr<Receiver>> receivers_;
  std::vector<typename Inlet::End> muted_;
  std::vector<typename Inlet::End> bypassed_inlets_;    // by crossing output, while interceptors are in place
  std::vector<typename Outlet::End> bypassed_outlets_;  // by crossing input
  EdgePeers peers_;
  std::size_t num_ended_ = 0;
  bool is_muted_ = false;
};

}  // namespace netuit
