#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <netuit/mesh/delayed_exchange.hpp>
#include <netuit/mesh/delayed_slots.hpp>
#include <netuit/mesh/field_layer.hpp>
#include <netuit/mesh/field_memory.hpp>
#include <netuit/mesh/layer_base.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/mesh/published_part.hpp>
#include <netuit/mesh/value_ends.hpp>
#include <netuit/mesh/value_exchange.hpp>
#include <netuit/quality/peer_trace.hpp>
#include <uit/config.hpp>
#include <uit/exchange/exchange.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/exchange/frame_window.hpp>
#include <uit/exchange/pooled/latest_frame.hpp>
#include <uit/policy.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/out_port.hpp>

namespace netuit {

UIT_DEFINE FieldLayer::FieldLayer(const FieldMemory& memory, std::uint64_t type,
                                  const std::vector<std::unique_ptr<Partition>>& partitions, std::uint32_t network, bool is_first)
    : type_(type), slot_bytes_(memory.slot_bytes), network_(network) {
  for (const auto& partition : partitions)
    parts_.push_back(std::make_unique<PublishedPart>(memory, *partition, *partition->networks[network], is_first));
}

UIT_DEFINE FieldLayer::~FieldLayer() = default;

UIT_DEFINE LayerPart& FieldLayer::Part(std::size_t thread) { return *parts_[thread]; }

struct FieldLayer::AwaitedFrames {
  uit::LatestFrame largest;   // of a frame
  std::size_t num_under_way;  // frames that may be sent before the receiver reports that it has taken them in
};

UIT_DEFINE LayerShape FieldLayer::Shape() const {
  return {type_,
          slot_bytes_,
          std::uint64_t{2} + (std::uint64_t{network_} << 8U),
          0,
          static_cast<std::uint64_t>(uit::Retain::latest),
          static_cast<std::uint64_t>(uit::Consolidate::pooled),
          parts_.front()->Period()};
}

UIT_DEFINE void FieldLayer::Join(const LayerSite& site, std::uint32_t number) {
  for (std::size_t thread = 0; thread < site.partitions.size(); ++thread) {
    PublishedPart& part = *parts_[thread];
    if (site.is_traced) part.TraceBy(site.partitions[thread]->clock, site.SameClock());
    part.Ends().Join(site, thread, number, type_, site.is_traced ? &part.Traces() : nullptr);
  }
}

UIT_DEFINE uit::ExchangeSpec FieldLayer::AwaitedSpec(const LayerSite& site, const uit::ExchangeKey& key,
                                                     const AwaitedFrames& frames, bool is_report) const {
  uit::ExchangeSpec spec = SpecOfValues(key, frames.largest, type_, site.is_traced);
  spec.key.channel = 1;
  spec.key.is_report = is_report ? 1 : 0;
  spec.retain = static_cast<std::uint32_t>(uit::Retain::every);
  spec.num_frames = static_cast<std::uint32_t>(frames.num_under_way);
  if (is_report) spec.frame_bytes = 0;
  return spec;
}

UIT_DEFINE uit::FrameWindow FieldLayer::OpenWindow(const LayerSite& site, std::size_t thread, const uit::ExchangeKey& key,
                                                   const AwaitedFrames& frames) {
  const std::size_t peer = site.ProcessOf(key.destination);
  uit::OutPort port = site.fabric.AddOutgoing(peer, thread, AwaitedSpec(site, key, frames, false),
                                              uit::FrameBox::Every(uit::FrameWindow::BoxDepth(frames.num_under_way)));
  if (PeerTrace* const trace = parts_[thread]->TraceOf(key.destination); trace != nullptr) port.TraceBy(&trace->frames);
  auto reports = site.fabric.AddIncoming(peer, AwaitedSpec(site, key, frames, true), uit::FrameBox::Latest());
  return {frames.num_under_way, std::move(port), std::move(reports), 0};
}

template <typename R>
void FieldLayer::OpenReceiver(const LayerSite& site, std::size_t thread, const uit::ExchangeKey& key, const AwaitedFrames& frames,
                              R& receiver) {
  const std::size_t peer = site.ProcessOf(key.source);
  auto box = uit::FrameBox::Every(uit::FrameWindow::BoxDepth(frames.num_under_way));
  if (!site.is_traced) box->LendFrom(1);
  receiver.awaited = site.fabric.AddIncoming(peer, AwaitedSpec(site, key, frames, false), std::move(box));
  receiver.awaited_reports.emplace(
      frames.num_under_way, site.fabric.AddOutgoing(peer, thread, AwaitedSpec(site, key, frames, true), uit::FrameBox::Latest()));
}

UIT_DEFINE void FieldLayer::JoinAwaited(const LayerSite& site, std::uint32_t number) {
  for (std::size_t thread = 0; thread < site.partitions.size(); ++thread) {
    const std::uint32_t here = site.partitions[thread]->graph.worker;
    const auto from = [&](std::uint32_t there) { return uit::ExchangeKey{.layer = number, .source = there, .destination = here}; };
    const auto to = [&](std::uint32_t there) { return uit::ExchangeKey{.layer = number, .source = here, .destination = there}; };
    if (DelayedExchange* const delayed = parts_[thread]->Delayed(); delayed != nullptr) {
      const auto frames = [&](const DelayedSlots::Peer& peer) {
        return AwaitedFrames{.largest = delayed->LayoutOf(peer.MaxBatch()), .num_under_way = peer.Depth()};
      };
      for (auto& receiver : delayed->Receivers())
        OpenReceiver(site, thread, from(receiver.peer.worker), frames(receiver.peer), receiver);
      for (auto& sender : delayed->Senders())
        sender.window.emplace(OpenWindow(site, thread, to(sender.peer.worker), frames(sender.peer)));
      continue;
    }
    for (ValueReceiver& receiver : parts_[thread]->Ends().receivers)
      OpenReceiver(site, thread, from(receiver.worker), {.largest = receiver.layout, .num_under_way = num_awaited_frames}, receiver);
    for (ValueSender& sender : parts_[thread]->Ends().senders)
      sender.awaited.emplace(OpenWindow(site, thread, to(sender.worker), {.largest = sender.layout, .num_under_way = num_awaited_frames}));
  }
}

}  // namespace netuit
