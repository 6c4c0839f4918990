#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <uit/codec/trivial_codec.hpp>
#include <uit/duct/accumulate_channel_duct.hpp>
#include <uit/duct/channel_duct.hpp>
#include <uit/duct/fold.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/policy.hpp>
#include <uit/support/error.hpp>
#include <uit/transport/transport.hpp>

namespace uit {

namespace detail {

/// The ducts between processes that keep what `policy` promises.
template <typename T, Policy policy>
struct ChannelDucts {
  using Inlet = ChannelInletDuct<T, policy.retain>;
  using Outlet = ChannelOutletDuct<T, policy.retain>;
};
template <typename T, Policy policy>
  requires(policy.retain == Retain::accumulate)
struct ChannelDucts<T, policy> {
  static_assert(RequireFoldable<T>::value);
  using Inlet = AccumulateInletDuct<T>;
  using Outlet = AccumulateOutletDuct<T>;
};

}  // namespace detail

/// The inlet in one process, the outlet in another (or the same), over a fabric.
///
///     uit::Process reach{.fabric = &fabric, .peer = 1, .key = {.channel = 7}};
///     uit::Inlet<int, policy, uit::Wiring<uit::Process>> inlet{reach};       // here; the outlet opens at rank 1
///
/// Both sides name the same key. Ends are opened before `fabric.Connect()`, and carry messages after it. Under
/// Consolidate::pooled the ends that share a key, peer and direction share frames: each names its channel of
/// `num_channels`. When the fabric closes the ends do too; what has arrived can still be read.
struct Process {
  Fabric* fabric = nullptr;      ///< of this process; needed to open the ends, which may outlive it
  std::size_t peer = 0;          ///< the rank of the other end
  ExchangeKey key{};             ///< the same on both sides; the ends of a pool share it
  std::size_t channel = 0;       ///< this end's place in the pool
  std::size_t num_channels = 1;  ///< how many ends the pool has
  std::size_t depth = 16;        ///< how many messages may wait, under Retain::every; frames, under accumulate
  std::size_t worker = 0;        ///< the thread of this process that uses the end

  /// A buffer that grows is for shared memory.
  template <Policy policy>
  static constexpr bool can_keep = policy.backlog == Backlog::drop || policy.retain != Retain::every;

  /// What an inlet puts into: a channel of an exchange.
  template <Message T, Policy policy>
    requires can_keep<policy>
  using InletDuctFor = typename detail::ChannelDucts<T, policy>::Inlet;
  /// What an outlet reads from: the same channel, at the peer.
  template <Message T, Policy policy>
    requires can_keep<policy>
  using OutletDuctFor = typename detail::ChannelDucts<T, policy>::Outlet;

  /// Throws uit::Error if the options cannot be, the channel has an inlet, or the fabric has been closed.
  template <Message T, Policy policy>
  [[nodiscard]] Ref<InletDuctFor<T, policy>> OpenInlet() const {
    using Duct = InletDuctFor<T, policy>;
    CheckOptions<policy>();
    auto sender = fabric->Share<typename Duct::Sender>(peer, Spec<T, policy>(), false,
                                                       [this] { return MakeSender<T, policy>(); });
    return MakeRef<Duct>(std::move(sender), channel);
  }
  /// Throws uit::Error if the options cannot be, the channel has an outlet, or the fabric has been closed.
  template <Message T, Policy policy>
  [[nodiscard]] Ref<OutletDuctFor<T, policy>> OpenOutlet(T initial) const {
    using Duct = OutletDuctFor<T, policy>;
    CheckOptions<policy>();
    auto receiver = fabric->Share<typename Duct::Receiver>(peer, Spec<T, policy>(), true,
                                                           [this] { return MakeReceiver<T, policy>(); });
    return MakeRef<Duct>(std::move(receiver), channel, std::move(initial));
  }
  /// Both ends in this process, which is then its own peer.
  template <Message T, Policy policy>
  [[nodiscard]] auto OpenPair(T initial) const {
    return std::pair{OpenInlet<T, policy>(), OpenOutlet<T, policy>(std::move(initial))};
  }

 private:
  template <Policy policy>
  void CheckOptions() const {
    if (fabric == nullptr) throw Error("a conduit between processes needs a fabric");
    if (depth == 0 || depth > max_depth) throw Error("a conduit between processes has a depth between 1 and 2^24");
    if (channel >= num_channels) throw Error("there is no channel " + std::to_string(channel) + " in the pool");
    if (policy.consolidate == Consolidate::none && num_channels != 1)
      throw Error("a conduit that shares no frames is a pool of one channel");
  }
  template <typename T, Policy policy>
  auto Layout() const {
    if constexpr (policy.retain == Retain::latest)
      return LatestFrame{num_channels, CodecFor<T>::fixed_size};
    else if constexpr (policy.retain == Retain::accumulate)
      return AccumulateFrame{num_channels, CodecFor<T>::fixed_size};
    else
      return EveryFrame{num_channels, CodecFor<T>::fixed_size};
  }
  template <typename T, Policy policy>
  ExchangeSpec Spec() const {
    return {.key = key,
            .type = TypeHash<T>(),
            .frame_bytes = Layout<T, policy>().MaxBytes(),
            .slot_bytes = static_cast<std::uint32_t>(CodecFor<T>::fixed_size),
            .num_channels = static_cast<std::uint32_t>(num_channels),
            .depth = policy.retain == Retain::latest ? 1 : static_cast<std::uint32_t>(depth),
            .retain = static_cast<std::uint32_t>(policy.retain)};
  }
  template <typename T, Policy policy>
  ExchangeSpec ReportSpec() const {
    ExchangeSpec spec = Spec<T, policy>();
    spec.key.is_report = 1;
    if constexpr (policy.retain == Retain::accumulate)
      spec.frame_bytes = AccumulateReport{num_channels, CodecFor<T>::fixed_size}.MaxBytes();
    else
      spec.frame_bytes = ReportFrame{num_channels}.MaxBytes();
    return spec;
  }

  template <typename T, Policy policy>
  auto MakeSender() const {
    const auto layout = Layout<T, policy>();
    const auto spec = Spec<T, policy>();
    if constexpr (policy.retain == Retain::latest) {
      return std::make_shared<PooledLatestSender>(layout, fabric->AddOutgoing(peer, worker, spec, FrameBox::Latest()));
    } else {
      OutPort port = fabric->AddOutgoing(peer, worker, spec, FrameBox::Every(BoxDepth()));
      auto reports = fabric->AddIncoming(peer, ReportSpec<T, policy>(), FrameBox::Latest());
      if constexpr (policy.retain == Retain::accumulate)
        return std::make_shared<PooledAccumulateSender>(layout, depth, &FoldEncoded<T>, std::move(port),
                                                        std::move(reports));
      else
        return std::make_shared<PooledEverySender>(layout, depth, std::move(port), std::move(reports));
    }
  }
  template <typename T, Policy policy>
  auto MakeReceiver() const {
    const auto layout = Layout<T, policy>();
    const auto spec = Spec<T, policy>();
    if constexpr (policy.retain == Retain::latest) {
      return std::make_shared<PooledLatestReceiver>(layout, fabric->AddIncoming(peer, spec, FrameBox::Latest()),
                                                    fabric);
    } else {
      auto box = fabric->AddIncoming(peer, spec, FrameBox::Every(BoxDepth()));
      OutPort report_port = fabric->AddOutgoing(peer, worker, ReportSpec<T, policy>(), FrameBox::Latest());
      if constexpr (policy.retain == Retain::accumulate)
        return std::make_shared<PooledAccumulateReceiver>(layout, depth, &FoldEncoded<T>, std::move(box),
                                                          std::move(report_port), fabric);
      else
        return std::make_shared<PooledEveryReceiver>(layout, depth, std::move(box), std::move(report_port), fabric);
    }
  }
  static constexpr std::size_t max_depth = std::size_t{1} << 24;
  /// A window of frames, the frame that ends an update, and the last one at the close.
  std::size_t BoxDepth() const { return depth + 2; }
};
static_assert(PairTransport<Process> && InletTransport<Process> && OutletTransport<Process>);

}  // namespace uit
