#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <netuit/mesh/field_layer.hpp>
#include <netuit/mesh/field_memory.hpp>
#include <netuit/mesh/layer_base.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/mesh/published_part.hpp>
#include <netuit/quality/peer_trace.hpp>
#include <uit/config.hpp>
#include <uit/exchange/exchange.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/policy.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/frame_trace.hpp>
#include <uit/link/out_port.hpp>

namespace netuit {

UIT_DEFINE FieldLayer::FieldLayer(const FieldMemory& memory, std::uint64_t type,
                                  const std::vector<std::unique_ptr<Partition>>& partitions, std::uint32_t network, bool is_first)
    : type_(type), slot_bytes_(memory.slot_bytes), network_(network) {
  for (const auto& partition : partitions)
    parts_.push_back(std::make_unique<PublishedPart>(memory, *partition, *partition->networks[network], is_first));
}

UIT_DEFINE PublishedPart& FieldLayer::Part(std::size_t thread) { return *parts_[thread]; }

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
  const auto spec = [&](std::uint32_t source, std::uint32_t destination, const uit::LatestFrame& layout) {
    return uit::ExchangeSpec{
        .key = {.layer = number, .source = source, .destination = destination},
        .type = type_,
        .frame_bytes = layout.MaxBytes() + (site.is_traced ? uit::FrameTrace::num_bytes : 0),
        .slot_bytes = static_cast<std::uint32_t>(layout.slot_bytes),
        .num_channels = static_cast<std::uint32_t>(layout.num_channels),
        .retain = static_cast<std::uint32_t>(uit::Retain::latest)};
  };
  for (std::size_t thread = 0; thread < site.partitions.size(); ++thread) {
    if (site.is_traced) Part(thread).TraceBy(site.partitions[thread]->clock, site.SameClock());
    const std::uint32_t here = site.partitions[thread]->graph.worker;
    for (auto& [there, receiver] : Part(thread).Receivers()) {
      receiver.box = site.fabric.AddIncoming(site.ProcessOf(there), spec(there, here, receiver.layout), uit::FrameBox::Latest());
    }
    for (auto& [there, sender] : Part(thread).Senders()) {
      sender.port =
          site.fabric.AddOutgoing(site.ProcessOf(there), thread, spec(here, there, sender.layout), uit::FrameBox::Latest());
      if (PeerTrace* const trace = Part(thread).TraceOf(there); trace != nullptr) sender.port.TraceBy(&trace->frames);
    }
  }
}

}  // namespace netuit
