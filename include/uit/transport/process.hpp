#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <uit/config.hpp>
#include <uit/codec/span_loan.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/policy.hpp>
#include <uit/support/error.hpp>
#include <uit/transport/exchange_for.hpp>
#include <uit/transport/transport.hpp>
#include <uit/link/frame_trace.hpp>

namespace uit {

/// The inlet in one process, the outlet in another (or in the same), over a fabric.
///
///     uit::Process reach{.fabric = &fabric, .peer = 1, .key = {.channel = 7}};
///     uit::Inlet<int, policy, uit::TransportSet<uit::Process>> inlet{reach};       // here; the outlet opens at rank 1
///
/// Both sides use the same key. Open the ends before `fabric.Connect()`; they carry messages after it. Under
/// Consolidate::pooled or aggregated, all ends with the same key, peer and direction share frames: each end states its own
/// channel, out of `num_channels`. If the fabric closes, the ends close too. Messages that have arrived can still be read.
struct Process {
  Fabric* fabric = nullptr;      ///< of this process; needed to open the ends, which may outlive it
  std::size_t peer = 0;          ///< the rank of the other end
  ExchangeKey key{};             ///< the same on both sides, and for all ends of a pool
  std::size_t channel = 0;       ///< this end's number in the pool, from 0
  std::size_t num_channels = 1;  ///< the number of ends in the pool
  std::size_t depth = 16;        ///< the number of messages that may wait, under Retain::every; of frames, under accumulate
  std::size_t worker = 0;        ///< the worker of this process that uses the end
  FrameTrace* trace = nullptr;   ///< the worker's, to stamp frames; set on both sides or on neither

  // For messages whose sizes differ, or for Consolidate::aggregated. The same on both sides, except max_age.
  std::size_t buffer_bytes = 65'536;       ///< of a frame, at most; from 2 to 8 KiB frames are slow, so 8 KiB are taken
  std::size_t num_frames = 8;              ///< most frames in flight, not taken in; unless frames are shared, the depth
  std::size_t max_message_bytes = 65'536;  ///< the largest message, encoded; the buffer is made large enough
  std::chrono::nanoseconds max_age{0};     ///< a poll sends a frame once its first message is this old; 0: no poll sends by age

  /// True if this transport can fulfil the policy. Growing buffers exist only within a process.
  template <Policy policy>
  static constexpr bool can_keep = policy.backlog == Backlog::drop || policy.retain != Retain::every;

  /// The duct that an inlet puts into: a channel of an exchange.
  template <Message T, Policy policy>
    requires(can_keep<policy> && EncodableUnder<T, policy>)
  using InletDuctFor = typename ExchangeFor<T, policy>::InletDuct;
  /// The duct that an outlet reads from: the same channel, at the peer.
  template <Message T, Policy policy>
    requires(can_keep<policy> && EncodableUnder<T, policy>)
  using OutletDuctFor = typename ExchangeFor<T, policy>::OutletDuct;

  /// Throws uit::Error if the options are invalid, the channel already has an inlet, or the fabric has been closed.
  template <Message T, Policy policy>
  [[nodiscard]] Ref<InletDuctFor<T, policy>> OpenInlet() const {
    using Duct = InletDuctFor<T, policy>;
    CheckOptions<policy>();
    auto sender = fabric->Share<typename Duct::Sender>(peer, Spec<T, policy>(), false,
                                                       [this] { return MakeSender<T, policy>(); });
    return MakeRef<Duct>(std::move(sender), channel);
  }
  /// Throws uit::Error if the options are invalid, the channel already has an outlet, or the fabric has been closed.
  template <Message T, Policy policy>
  [[nodiscard]] Ref<OutletDuctFor<T, policy>> OpenOutlet(T initial) const {
    using Duct = OutletDuctFor<T, policy>;
    CheckOptions<policy>();
    auto receiver = fabric->Share<typename Duct::Receiver>(peer, Spec<T, policy>(), true,
                                                           [this] { return MakeReceiver<T, policy>(); });
    return MakeRef<Duct>(std::move(receiver), channel, std::move(initial));
  }
  /// Opens both ends in this process, which is then its own peer.
  template <Message T, Policy policy>
  [[nodiscard]] auto OpenPair(T initial) const {
    return std::pair{OpenInlet<T, policy>(), OpenOutlet<T, policy>(std::move(initial))};
  }

 private:
  template <Policy policy>
  void CheckOptions() const {
    if (fabric == nullptr) throw Error("a conduit between processes needs a fabric");
    if (depth == 0 || depth > max_depth) throw Error("a conduit between processes has a depth between 1 and 2^24");
    if (channel >= num_channels)
      throw Error("the pool has no channel " + std::to_string(channel) + "; it has " + std::to_string(num_channels));
    if (policy.consolidate == Consolidate::none && num_channels != 1)
      throw Error("a conduit that shares no frames has one channel; set num_channels to 1");
    if (num_frames == 0 || num_frames > max_frames)
      throw Error("a conduit between processes has between 1 and 4096 frames in flight; see num_frames");
  }
  /// The options of an aggregated exchange.
  template <typename T, Policy policy>
  AggregatedOptions Aggregation() const {
    constexpr bool is_shared = policy.consolidate != Consolidate::none;
    constexpr std::size_t head_bytes = policy.retain == Retain::latest ? sizeof(NewestRecord) : sizeof(MessageRun);
    if (encoded_bytes<T> == 0 && max_message_bytes > max_payload_bytes)
      throw Error("max_message_bytes is at most 1 GiB, not " + std::to_string(max_message_bytes));
    const std::size_t largest =
        encoded_bytes<T> != 0 ? encoded_bytes<T> : max_message_bytes + sizeof(MessageLength);
    return {.num_channels = num_channels,
            .message_bytes = encoded_bytes<T>,
            .max_message_bytes = encoded_bytes<T> != 0 ? 0 : max_message_bytes,
            .payload_bytes = AggregatedPayloadBytes(is_shared ? BufferBytes(head_bytes, encoded_bytes<T>, policy.retain) : 0,
                                                    head_bytes + largest),
            .depth = depth,
            .num_frames = is_shared ? num_frames : std::min(depth, max_frames),
            .max_age = max_age,
            .departs_at_once = !is_shared,
            .lends = LoanableUnder<T, policy> && largest >= min_lent_bytes};  // a codec must not see bytes that a peer can change
  }
  /// Returns the buffer's size, but no more than all messages take that may be accepted and not stepped to.
  std::size_t BufferBytes(std::size_t head_bytes, std::size_t message_bytes, Retain retain) const {
    if (message_bytes == 0 || num_channels > buffer_bytes) return buffer_bytes;
    const std::size_t num_messages = retain == Retain::latest ? 1 : std::min(depth, buffer_bytes);
    return std::min(buffer_bytes, num_channels * num_messages * (head_bytes + message_bytes));
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
    ExchangeSpec spec;
    if constexpr (is_aggregated<T, policy>) spec = SpecOfAggregated<T, policy>();
    else spec = SpecOfPool<T, policy>();
    if (trace != nullptr) spec.frame_bytes += FrameTrace::num_bytes;
    return spec;
  }
  template <typename T, Policy policy>
  ExchangeSpec SpecOfAggregated() const {
    const AggregatedOptions options = Aggregation<T, policy>();
    return {.key = key,
            .type = TypeHash<T>(),
            .frame_bytes = options.payload_bytes,
            .max_message_bytes = options.max_message_bytes,
            .slot_bytes = static_cast<std::uint32_t>(options.message_bytes),
            .num_channels = static_cast<std::uint32_t>(num_channels),
            .depth = policy.retain == Retain::every ? static_cast<std::uint32_t>(depth) : 1,
            .retain = static_cast<std::uint32_t>(policy.retain),
            .consolidate = static_cast<std::uint32_t>(policy.consolidate),
            .num_frames = static_cast<std::uint32_t>(options.num_frames)};
  }
  template <typename T, Policy policy>
  ExchangeSpec SpecOfPool() const {
    return {.key = key,
            .type = TypeHash<T>(),
            .frame_bytes = Layout<T, policy>().MaxBytes(),
            .slot_bytes = static_cast<std::uint32_t>(CodecFor<T>::fixed_size),
            .num_channels = static_cast<std::uint32_t>(num_channels),
            .depth = policy.retain == Retain::latest ? 1 : static_cast<std::uint32_t>(depth),
            .retain = static_cast<std::uint32_t>(policy.retain),
            .consolidate = static_cast<std::uint32_t>(policy.consolidate)};
  }
  template <typename T, Policy policy>
  ExchangeSpec ReportSpec() const {
    ExchangeSpec spec = Spec<T, policy>();
    spec.key.is_report = 1;
    if constexpr (policy.retain == Retain::accumulate)
      spec.frame_bytes = AccumulateReport{num_channels, CodecFor<T>::fixed_size}.MaxBytes();
    else
      spec.frame_bytes = policy.retain == Retain::every ? ReportFrame{num_channels}.MaxBytes() : 0;
    return spec;
  }

  template <typename T, Policy policy>
  auto MakeSender() const {
    if constexpr (is_aggregated<T, policy>) return MakeAggregatedSender<T, policy>();
    else return MakePooledSender<T, policy>();
  }
  template <typename T, Policy policy>
  auto MakeAggregatedSender() const {
    const AggregatedOptions options = Aggregation<T, policy>();
    const std::size_t box_depth = FrameWindow::BoxDepth(options.num_frames);
    OutPort port = OpenPort<T, policy>(FrameBox::Every(box_depth));
    auto reports = fabric->AddIncoming(peer, ReportSpec<T, policy>(), FrameBox::Latest());
    using Sender = typename InletDuctFor<T, policy>::Sender;
    return std::make_shared<Sender>(options, std::move(port), std::move(reports));
  }
  template <typename T, Policy policy>
  auto MakePooledSender() const {
    const auto layout = Layout<T, policy>();
    if constexpr (policy.retain == Retain::latest) {
      return std::make_shared<PooledLatestSender>(layout, OpenPort<T, policy>(FrameBox::Latest()));
    } else {
      OutPort port = OpenPort<T, policy>(FrameBox::Every(BoxDepth()));
      auto reports = fabric->AddIncoming(peer, ReportSpec<T, policy>(), FrameBox::Latest());
      if constexpr (policy.retain == Retain::accumulate)
        return std::make_shared<PooledAccumulateSender>(layout, depth, &FoldEncoded<T>, std::move(port),
                                                        std::move(reports));
      else
        return std::make_shared<PooledEverySender>(layout, depth, std::move(port), std::move(reports));
    }
  }
  /// Opens the port that sends the messages.
  template <typename T, Policy policy>
  OutPort OpenPort(std::shared_ptr<FrameBox> box) const {
    OutPort port = fabric->AddOutgoing(peer, worker, Spec<T, policy>(), std::move(box));
    port.TraceBy(trace);
    return port;
  }
  template <typename T, Policy policy>
  auto MakeReceiver() const {
    auto receiver = [this] {
      if constexpr (is_aggregated<T, policy>) return MakeAggregatedReceiver<T, policy>();
      else return MakePooledReceiver<T, policy>();
    }();
    receiver->TraceBy(trace);
    receiver->ReceiveFrom(peer);
    return receiver;
  }
  template <typename T, Policy policy>
  auto MakeAggregatedReceiver() const {
    const AggregatedOptions options = Aggregation<T, policy>();
    const std::size_t box_depth = FrameWindow::BoxDepth(options.num_frames);
    auto box = fabric->AddIncoming(peer, Spec<T, policy>(), FrameBox::Every(box_depth));
    OutPort report_port = fabric->AddOutgoing(peer, worker, ReportSpec<T, policy>(), FrameBox::Latest());
    using Receiver = typename OutletDuctFor<T, policy>::Receiver;
    return std::make_shared<Receiver>(options, std::move(box), std::move(report_port), fabric);
  }
  template <typename T, Policy policy>
  auto MakePooledReceiver() const {
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
  static constexpr std::size_t max_frames = 4096;
  /// The window of frames, plus the frame that ends an update and the last frame at the close.
  std::size_t BoxDepth() const { return depth + 2; }
};

}  // namespace uit
