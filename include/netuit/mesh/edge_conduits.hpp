#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <netuit/mesh/channel_part.hpp>
#include <netuit/mesh/waiting_messages.hpp>
#include <netuit/mesh/worker_graph.hpp>
#include <netuit/replay/interceptor.hpp>
#include <uit/codec/codec.hpp>
#include <uit/conduit.hpp>
#include <uit/policy.hpp>
#include <uit/transport/in_process.hpp>
#include <uit/transport/limited.hpp>
#include <uit/transport/process.hpp>
#include <uit/transport/transport_set.hpp>

namespace netuit {

/// The transports of a mesh's edges: within a worker, and between two workers, of one process or of two. While a run is recorded
/// or replayed, an interceptor stands in between. All have the same limit on message size.
using MeshTransports = uit::TransportSet<uit::Limited<uit::GrowingIntra>, uit::Process, replay::Intercepted>;

/// Returns how a mesh carries messages of a policy. Messages leave a worker at the end of its update, and those for the same
/// worker share frames, also if the policy asks for a frame each.
template <uit::Encodable T>
consteval uit::Policy InMesh(uit::Policy policy) {
  if (policy.consolidate != uit::Consolidate::none) return policy;
  const bool is_pool = policy.retain == uit::Retain::accumulate || (policy.retain == uit::Retain::latest && uit::FixedSizeEncodable<T>);
  policy.consolidate = is_pool ? uit::Consolidate::pooled : uit::Consolidate::aggregated;
  return policy;
}

/// One worker's conduits of a channel layer: an outlet per input and an inlet per output of its nodes.
template <uit::Encodable M, uit::Policy asked>
class EdgeConduits final : public ChannelPart, public WaitingMessages {
 public:
  using T = M;                                              ///< type of a message
  static constexpr uit::Policy policy = InMesh<M>(asked);  ///< of the conduits
  /// The inlet of an output.
  using Inlet = uit::Inlet<T, policy, MeshTransports>;
  /// The outlet of an input.
  using Outlet = uit::Outlet<T, policy, MeshTransports>;
  /// Most puts per bulk-synchronous update. A pool has one slot per channel, so edges within a worker have the same limit.
  static constexpr std::size_t max_puts =
      policy.retain == uit::Retain::every && policy.consolidate == uit::Consolidate::pooled ? 1 : uit::no_limit;

  /// Refers to `outlets` and `inlets`, as many as the worker has inputs and outputs. They are not joined yet. Messages that a
  /// run leaves unread wait for the next run.
  EdgeConduits(const WorkerGraph& graph, std::uint64_t period, Outlet* outlets, Inlet* inlets)
      : ChannelPart(graph, period, policy, uit::is_aggregated<T, policy>),
        inlets_(inlets, graph.targets.size()),
        outlets_(outlets, graph.sources.size()) {}

  /// Returns the outlets by input.
  std::span<Outlet> Outlets() { return outlets_; }

  void HandOver() override {
    for (Inlet& inlet : inlets_) inlet.HandOver();
    for (Outlet& outlet : outlets_) outlet.HandOver();
  }
  void Refresh(std::uint64_t update) override {
    if (!IsDueNext(update)) return;
    // Both ends of an edge within the worker refer to one duct. Ends that cross have nothing to refresh.
    for (Inlet& inlet : inlets_) {
      inlet.Refresh(max_puts);
      inlet.Bound().Visit([](auto* duct) {
        if constexpr (requires { duct->RefreshOutlet(); })
          if (duct != nullptr) duct->RefreshOutlet();
      });
    }
  }
  void StopIntercepting() override {
    for (std::size_t i = 0; i < bypassed_inlets_.size(); ++i) inlets_[CrossingOutputs()[i]].Rebind(std::move(bypassed_inlets_[i]));
    for (std::size_t i = 0; i < bypassed_outlets_.size(); ++i) {
      Outlet& outlet = outlets_[CrossingInputs()[i]];
      outlet.Bound().Visit([](auto* duct) {
        if constexpr (requires { duct->Leave(); }) duct->Leave();
      });
      outlet.Rebind(std::move(bypassed_outlets_[i]));
    }
    bypassed_inlets_.clear();
    bypassed_outlets_.clear();
  }

  WaitingMessages* Messages() override { return this; }
  void ForEach(std::uint32_t input, Visit visit) const override {
    std::vector<std::byte> encoded;
    const auto visit_message = [&](const T& message) {
      encoded.resize(uit::codec_for<T>.Size(message));
      uit::codec_for<T>.Encode(message, encoded);
      visit(encoded);
    };
    outlets_[input].Bound().Visit([&](const auto* duct) {
      if (duct == nullptr) return;
      visit_message(duct->Get());
      if constexpr (requires { duct->ForEachUnread(visit_message); }) duct->ForEachUnread(visit_message);
    });
  }
  bool TryShow(std::uint32_t input, uit::ByteView encoded) override {
    return outlets_[input].Bound().Visit([&](auto* duct) {
      return duct != nullptr && uit::codec_for<T>.TryDecode(encoded, duct->Get());
    });
  }
  bool TryPutBack(std::uint32_t output, uit::ByteView encoded, bool& is_put) override {
    T message{};
    if (!uit::codec_for<T>.TryDecode(encoded, message)) return false;
    is_put = inlets_[output].TryPut(std::move(message));
    return true;
  }

 private:
  void JoinWithin(std::uint32_t output, std::uint32_t input, const uit::Process& options) override {
    const uit::Limited<uit::GrowingIntra> transport{.reach = {.depth = options.depth}, .max_message_bytes = options.max_message_bytes};
    auto ends = transport.template OpenPair<T, policy>(T{});
    inlets_[output] = Inlet(typename Inlet::End(std::move(ends.first)));
    outlets_[input] = Outlet(typename Outlet::End(std::move(ends.second)));
  }
  std::shared_ptr<uit::SendingHalf> JoinOutput(std::uint32_t output, const uit::Process& reach) override {
    auto duct = reach.template OpenInlet<T, policy>();
    std::shared_ptr<uit::SendingHalf> half = duct->Exchange();
    inlets_[output] = Inlet(typename Inlet::End(std::move(duct)));
    inlets_[output].Hold(true);
    return half;
  }
  std::shared_ptr<uit::ReceivingHalf> JoinInput(std::uint32_t input, const uit::Process& reach) override {
    auto duct = reach.template OpenOutlet<T, policy>(T{});
    std::shared_ptr<uit::ReceivingHalf> half = duct->Exchange();
    outlets_[input] = Outlet(typename Outlet::End(std::move(duct)));
    outlets_[input].Hold(true);
    return half;
  }
  void HoldInside(bool hold) override {
    for (Inlet& inlet : inlets_) {
      if (!IsInside(inlet)) continue;
      inlet.Hold(hold, max_puts);
      if (!hold) inlet.TryFlush();
    }
    for (Outlet& outlet : outlets_) {
      if (IsInside(outlet)) outlet.Hold(hold);
    }
  }
  void Mute() override {
    for (const std::uint32_t output : CrossingOutputs()) muted_.push_back(inlets_[output].Rebind({}));
  }
  void Unmute() override {
    for (std::size_t i = 0; i < muted_.size(); ++i) inlets_[CrossingOutputs()[i]].Rebind(std::move(muted_[i]));
    muted_.clear();
  }
  void Intercept(const replay::WorkerRecord& record) override {
    for (const std::uint32_t output : CrossingOutputs()) {
      bypassed_inlets_.push_back(InterceptEnd(inlets_[output], [&record]<typename D>(uit::Ref<D> duct) {
        return uit::Ref<replay::InletInterceptor<T>>(new replay::InletInterceptorOf<T, D>(record, std::move(duct)));
      }));
    }
    for (const std::uint32_t input : CrossingInputs()) {
      bypassed_outlets_.push_back(InterceptEnd(outlets_[input], [&record]<typename D>(uit::Ref<D> duct) {
        return uit::Ref<replay::OutletInterceptor<T>>(new replay::OutletInterceptorOf<T, policy, D>(record, std::move(duct)));
      }));
    }
  }
  uit::PutTally PutsOf(std::uint32_t output) const override { return inlets_[output].Tally(); }
  uit::GetTally GetsOf(std::uint32_t input) const override { return outlets_[input].Tally(); }
  std::uint64_t NumWaiting(std::uint32_t input) const override {
    return outlets_[input].Bound().Visit([]<typename D>(const D* duct) -> std::uint64_t {
      if constexpr (requires { duct->NumUnread(); }) {
        return duct == nullptr ? 0 : duct->NumUnread();
      } else if constexpr (requires { duct->NumAccepted() - duct->NumPassed(); }) {  // both ends are in this worker
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
  std::vector<typename Inlet::End> muted_;
  std::vector<typename Inlet::End> bypassed_inlets_;    // by crossing output, while interceptors are in place
  std::vector<typename Outlet::End> bypassed_outlets_;  // by crossing input
};

}  // namespace netuit
