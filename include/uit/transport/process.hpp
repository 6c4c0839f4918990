#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <uit/config.hpp>
#include <uit/codec/span_loan.hpp>
#include <uit/exchange/aggregated/aggregated_frame.hpp>
#include <uit/exchange/exchange.hpp>
#include <uit/exchange/pooled/accumulate_frame.hpp>
#include <uit/policy.hpp>
#include <uit/support/type_hash.hpp>
#include <uit/transport/exchange_for.hpp>
#include <uit/transport/transport.hpp>
#include <uit/link/frame_trace.hpp>

namespace uit {

class Fabric;

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

  static constexpr std::size_t max_depth = std::size_t{1} << 24;  ///< the largest depth

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
    return MakeRef<Duct>(std::static_pointer_cast<typename Duct::Sender>(ShareSender(KindOf<T, policy>())), channel);
  }
  /// Throws uit::Error if the options are invalid, the channel already has an outlet, or the fabric has been closed.
  template <Message T, Policy policy>
  [[nodiscard]] Ref<OutletDuctFor<T, policy>> OpenOutlet(T initial) const {
    using Duct = OutletDuctFor<T, policy>;
    auto receiver = std::static_pointer_cast<typename Duct::Receiver>(ShareReceiver(KindOf<T, policy>()));
    return MakeRef<Duct>(std::move(receiver), channel, std::move(initial));
  }
  /// Opens both ends in this process, which is then its own peer.
  template <Message T, Policy policy>
  [[nodiscard]] auto OpenPair(T initial) const {
    return std::pair{OpenInlet<T, policy>(), OpenOutlet<T, policy>(std::move(initial))};
  }

 private:
  /// The properties of its messages on which an exchange depends. Its halves see only bytes, so they are compiled once.
  struct Kind {
    Policy policy;
    std::uint64_t type;         // the message type's TypeHash
    std::size_t message_bytes;  // encoded; 0: sizes vary
    bool is_aggregated;
    bool is_loanable;
    FoldFunction fold;  // null unless messages are added up
  };
  template <typename T, Policy policy>
  static Kind KindOf() {
    FoldFunction fold = nullptr;
    if constexpr (policy.retain == Retain::accumulate) fold = &FoldEncoded<T>;
    return {policy, TypeHash<T>(), encoded_bytes<T>, is_aggregated<T, policy>, LoanableUnder<T, policy>, fold};
  }

  /// Returns the sending half of the exchange. The first inlet makes it. Throws as OpenInlet.
  std::shared_ptr<ExchangeHalf> ShareSender(const Kind& kind) const;
  /// The same for the receiving half and outlets.
  std::shared_ptr<ExchangeHalf> ShareReceiver(const Kind& kind) const;
  void CheckOptions(const Policy& policy) const;
  AggregatedOptions Aggregation(const Kind& kind) const;
  /// Returns the buffer's size, but no more than all messages take that may be accepted and not stepped to.
  std::size_t BufferBytes(std::size_t head_bytes, std::size_t message_bytes, Retain retain) const;
  ExchangeSpec Spec(const Kind& kind) const;
  ExchangeSpec ReportSpec(const Kind& kind) const;
  std::shared_ptr<ExchangeHalf> MakeSender(const Kind& kind) const;
  std::shared_ptr<ExchangeHalf> MakeReceiver(const Kind& kind) const;
  /// The window of frames, plus the frame that ends an update and the last frame at the close.
  std::size_t BoxDepth() const { return depth + 2; }
  static constexpr std::size_t max_frames = 4096;
};

}  // namespace uit

#if !UIT_COMPILED
#include <uit/transport/process.ipp>
#endif
