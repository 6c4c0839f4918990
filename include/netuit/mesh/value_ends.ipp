#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include <netuit/mesh/field_memory.hpp>
#include <netuit/mesh/frame_note.hpp>
#include <netuit/mesh/layer_base.hpp>
#include <netuit/mesh/network_part.hpp>
#include <netuit/mesh/value_ends.hpp>
#include <netuit/mesh/value_exchange.hpp>
#include <netuit/quality/peer_trace.hpp>
#include <uit/config.hpp>
#include <uit/exchange/exchange.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/exchange/pooled/latest_frame.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/frame_trace.hpp>
#include <uit/policy.hpp>

namespace netuit {

UIT_DEFINE ValueEnds::ValueEnds(const FieldMemory& memory, const NetworkPart& network) {
  const auto layout_of = [&](std::size_t num_nodes) {
    return uit::LatestFrame{.num_channels = num_nodes, .slot_bytes = memory.slot_bytes, .note_bytes = sizeof(FrameNote)};
  };
  for (const NetworkPart::Recipients& to : network.recipients) {
    if (to.worker != network.graph.worker)
      senders.push_back({.worker = to.worker, .nodes = to.nodes, .layout = layout_of(to.nodes.size())});
  }
  for (const NetworkPart::Ghosts& ghosts : network.ghosts) {
    if (ghosts.worker == network.graph.worker) continue;
    ValueReceiver& receiver = receivers.emplace_back();
    receiver.worker = ghosts.worker;
    receiver.first_slot = ghosts.first;
    receiver.ids = ghosts.ids;
    receiver.layout = layout_of(ghosts.ids.size());
  }
}

UIT_DEFINE uit::ExchangeSpec SpecOfValues(const uit::ExchangeKey& key, const uit::LatestFrame& layout, std::uint64_t type,
                                          bool is_traced) {
  return {.key = key,
          .type = type,
          .frame_bytes = layout.MaxBytes() + (is_traced ? uit::FrameTrace::num_bytes : 0),
          .slot_bytes = static_cast<std::uint32_t>(layout.slot_bytes),
          .num_channels = static_cast<std::uint32_t>(layout.num_channels),
          .retain = static_cast<std::uint32_t>(uit::Retain::latest)};
}

UIT_DEFINE void ValueEnds::Join(const LayerSite& site, std::size_t thread, std::uint32_t layer, std::uint64_t type,
                                std::map<std::uint32_t, PeerTrace>* traces) {
  const std::uint32_t here = site.partitions[thread]->graph.worker;
  for (ValueReceiver& receiver : receivers) {
    const std::uint32_t there = receiver.worker;
    const uit::ExchangeKey key{.layer = layer, .source = there, .destination = here};
    auto box = uit::FrameBox::Latest();
    if (traces != nullptr) receiver.trace = &traces->at(there);
    else box->LendFrom(1);  // values are copied from there to the ghosts
    receiver.box = site.fabric.AddIncoming(site.ProcessOf(there), SpecOfValues(key, receiver.layout, type, traces != nullptr),
                                           std::move(box));
  }
  for (ValueSender& sender : senders) {
    const std::uint32_t there = sender.worker;
    const uit::ExchangeKey key{.layer = layer, .source = here, .destination = there};
    sender.port = site.fabric.AddOutgoing(site.ProcessOf(there), thread, SpecOfValues(key, sender.layout, type, traces != nullptr),
                                          uit::FrameBox::Latest());
    if (traces != nullptr) sender.port.TraceBy(&traces->at(there).frames);
  }
}

}  // namespace netuit
