#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <uit/config.hpp>
#include <uit/exchange/aggregated/aggregated_every.hpp>
#include <uit/exchange/aggregated/aggregated_frame.hpp>
#include <uit/exchange/aggregated/aggregated_latest.hpp>
#include <uit/exchange/exchange.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/exchange/frame_window.hpp>
#include <uit/exchange/pooled/accumulate_frame.hpp>
#include <uit/exchange/pooled/every_frame.hpp>
#include <uit/exchange/pooled/latest_frame.hpp>
#include <uit/exchange/pooled/pooled_accumulate.hpp>
#include <uit/exchange/pooled/pooled_every.hpp>
#include <uit/exchange/pooled/pooled_latest.hpp>
#include <uit/exchange/receiving_half.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/frame_trace.hpp>
#include <uit/link/out_port.hpp>
#include <uit/policy.hpp>
#include <uit/support/error.hpp>
#include <uit/transport/process.hpp>

namespace uit {

UIT_DEFINE std::shared_ptr<ExchangeHalf> Process::ShareSender(const Kind& kind) const {
  CheckOptions(kind.policy);
  return fabric->Share(peer, Spec(kind), false, [&] { return MakeSender(kind); });
}

UIT_DEFINE std::shared_ptr<ExchangeHalf> Process::ShareReceiver(const Kind& kind) const {
  CheckOptions(kind.policy);
  return fabric->Share(peer, Spec(kind), true, [&] { return MakeReceiver(kind); });
}

UIT_DEFINE void Process::CheckOptions(const Policy& policy) const {
  if (fabric == nullptr) throw Error("a conduit between processes needs a fabric");
  if (depth == 0 || depth > max_depth) throw Error("a conduit between processes has a depth between 1 and 2^24");
  if (channel >= num_channels)
    throw Error("the pool has no channel " + std::to_string(channel) + "; it has " + std::to_string(num_channels));
  if (policy.consolidate == Consolidate::none && num_channels != 1)
    throw Error("a conduit that shares no frames has one channel; set num_channels to 1");
  if (num_frames == 0 || num_frames > max_frames)
    throw Error("a conduit between processes has between 1 and 4096 frames in flight; see num_frames");
}

UIT_DEFINE AggregatedOptions Process::Aggregation(const Kind& kind) const {
  const bool is_shared = kind.policy.consolidate != Consolidate::none;
  const bool has_varied_sizes = kind.message_bytes == 0;
  const std::size_t head_bytes = kind.policy.retain == Retain::latest ? sizeof(NewestRecord) : sizeof(MessageRun);
  if (has_varied_sizes && max_message_bytes > max_payload_bytes)
    throw Error("max_message_bytes is at most 1 GiB, not " + std::to_string(max_message_bytes));
  const std::size_t largest = has_varied_sizes ? max_message_bytes + sizeof(MessageLength) : kind.message_bytes;
  const std::size_t buffer = is_shared ? BufferBytes(head_bytes, kind.message_bytes, kind.policy.retain) : 0;
  return {.num_channels = num_channels,
          .message_bytes = kind.message_bytes,
          .max_message_bytes = has_varied_sizes ? max_message_bytes : 0,
          .payload_bytes = AggregatedPayloadBytes(buffer, head_bytes + largest),
          .depth = depth,
          .num_frames = is_shared ? num_frames : std::min(depth, max_frames),
          .max_age = max_age,
          .departs_at_once = !is_shared,
          .lends = kind.is_loanable && largest >= min_lent_bytes};  // a codec must not see bytes that a peer can change
}

UIT_DEFINE std::size_t Process::BufferBytes(std::size_t head_bytes, std::size_t message_bytes, Retain retain) const {
  if (message_bytes == 0 || num_channels > buffer_bytes) return buffer_bytes;
  const std::size_t num_messages = retain == Retain::latest ? 1 : std::min(depth, buffer_bytes);
  return std::min(buffer_bytes, num_channels * num_messages * (head_bytes + message_bytes));
}

UIT_DEFINE ExchangeSpec Process::Spec(const Kind& kind) const {
  const Retain retain = kind.policy.retain;
  ExchangeSpec spec{.key = key,
                    .type = kind.type,
                    .slot_bytes = static_cast<std::uint32_t>(kind.message_bytes),
                    .num_channels = static_cast<std::uint32_t>(num_channels),
                    .depth = retain == Retain::latest ? 1 : static_cast<std::uint32_t>(depth),
                    .retain = static_cast<std::uint32_t>(retain),
                    .consolidate = static_cast<std::uint32_t>(kind.policy.consolidate)};
  if (kind.is_aggregated) {
    const AggregatedOptions options = Aggregation(kind);
    spec.frame_bytes = options.payload_bytes;
    spec.max_message_bytes = options.max_message_bytes;
    spec.num_frames = static_cast<std::uint32_t>(options.num_frames);
  } else if (retain == Retain::latest) {
    spec.frame_bytes = LatestFrame{num_channels, kind.message_bytes}.MaxBytes();
  } else if (retain == Retain::accumulate) {
    spec.frame_bytes = AccumulateFrame{num_channels, kind.message_bytes}.MaxBytes();
  } else {
    spec.frame_bytes = EveryFrame{num_channels, kind.message_bytes}.MaxBytes();
  }
  if (trace != nullptr) spec.frame_bytes += FrameTrace::num_bytes;
  return spec;
}

UIT_DEFINE ExchangeSpec Process::ReportSpec(const Kind& kind) const {
  ExchangeSpec spec = Spec(kind);
  spec.key.is_report = 1;
  spec.frame_bytes = 0;
  if (kind.policy.retain == Retain::accumulate) spec.frame_bytes = AccumulateReport{num_channels, kind.message_bytes}.MaxBytes();
  else if (kind.policy.retain == Retain::every) spec.frame_bytes = ReportFrame{num_channels}.MaxBytes();
  return spec;
}

UIT_DEFINE std::shared_ptr<ExchangeHalf> Process::MakeSender(const Kind& kind) const {
  const Retain retain = kind.policy.retain;
  const auto open_port = [&](std::shared_ptr<FrameBox> box) {
    OutPort port = fabric->AddOutgoing(peer, worker, Spec(kind), std::move(box));
    port.TraceBy(trace);
    return port;
  };
  const auto reports = [&] { return fabric->AddIncoming(peer, ReportSpec(kind), FrameBox::Latest()); };
  if (kind.is_aggregated) {
    const AggregatedOptions options = Aggregation(kind);
    OutPort port = open_port(FrameBox::Every(FrameWindow::BoxDepth(options.num_frames)));
    if (retain == Retain::latest) return std::make_shared<AggregatedLatestSender>(options, std::move(port), reports());
    return std::make_shared<AggregatedEverySender>(options, std::move(port), reports());
  }
  if (retain == Retain::latest)
    return std::make_shared<PooledLatestSender>(LatestFrame{num_channels, kind.message_bytes}, open_port(FrameBox::Latest()));
  OutPort port = open_port(FrameBox::Every(BoxDepth()));
  if (retain == Retain::accumulate)
    return std::make_shared<PooledAccumulateSender>(AccumulateFrame{num_channels, kind.message_bytes}, depth, kind.fold,
                                                    std::move(port), reports());
  return std::make_shared<PooledEverySender>(EveryFrame{num_channels, kind.message_bytes}, depth, std::move(port), reports());
}

UIT_DEFINE std::shared_ptr<ExchangeHalf> Process::MakeReceiver(const Kind& kind) const {
  const Retain retain = kind.policy.retain;
  const auto box = [&](std::shared_ptr<FrameBox> own) { return fabric->AddIncoming(peer, Spec(kind), std::move(own)); };
  const auto report_port = [&] { return fabric->AddOutgoing(peer, worker, ReportSpec(kind), FrameBox::Latest()); };
  const auto make = [&]() -> std::shared_ptr<ReceivingHalf> {
    if (kind.is_aggregated) {
      const AggregatedOptions options = Aggregation(kind);
      auto frames = box(FrameBox::Every(FrameWindow::BoxDepth(options.num_frames)));
      if (retain == Retain::latest)
        return std::make_shared<AggregatedLatestReceiver>(options, std::move(frames), report_port(), fabric);
      return std::make_shared<AggregatedEveryReceiver>(options, std::move(frames), report_port(), fabric);
    }
    if (retain == Retain::latest)
      return std::make_shared<PooledLatestReceiver>(LatestFrame{num_channels, kind.message_bytes}, box(FrameBox::Latest()), fabric);
    auto frames = box(FrameBox::Every(BoxDepth()));
    if (retain == Retain::accumulate)
      return std::make_shared<PooledAccumulateReceiver>(AccumulateFrame{num_channels, kind.message_bytes}, depth, kind.fold,
                                                        std::move(frames), report_port(), fabric);
    return std::make_shared<PooledEveryReceiver>(EveryFrame{num_channels, kind.message_bytes}, depth, std::move(frames),
                                                 report_port(), fabric);
  };
  std::shared_ptr<ReceivingHalf> receiver = make();
  receiver->TraceBy(trace);
  receiver->ReceiveFrom(peer);
  return receiver;
}

}  // namespace uit
