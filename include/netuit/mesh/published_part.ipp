#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <netuit/mesh/field_memory.hpp>
#include <netuit/mesh/network_part.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/mesh/published_part.hpp>
#include <uit/config.hpp>

namespace netuit {

UIT_DEFINE PublishedPart::PublishedPart(const FieldMemory& memory, const Partition& partition, const NetworkPart& network,
                                        bool is_first)
    : ValuePart(network.period), memory_(memory), partition_(partition), network_(network), is_first_(is_first) {
  for (const NetworkPart::Heard& heard : network.heard) {
    if (heard.worker == network.graph.worker) continue;
    Senders()[heard.worker] = ValueSender{.nodes = heard.nodes, .layout = {heard.nodes.size(), memory.slot_bytes}};
  }
  for (const NetworkPart::Ghosts& ghosts : network.ghosts) {
    if (ghosts.worker == network.graph.worker) {
      own_ghosts_ = &ghosts;
      continue;
    }
    ValueReceiver& receiver = Receivers()[ghosts.worker];
    receiver.first_slot = ghosts.first;
    receiver.ids = ghosts.ids;
    receiver.layout = {ghosts.ids.size(), memory.slot_bytes};
  }
}

UIT_DEFINE std::byte* PublishedPart::Shown() { return memory_.shown; }

UIT_DEFINE void PublishedPart::Send(std::uint64_t update) {
  if (IsDueNext(update)) SendShown(update, false);
}

UIT_DEFINE void PublishedPart::FinishUpdate(std::uint64_t update) {
  if (is_first_ && memory_.IsByUpdate()) ShowOwnValues(partition_.silent);
  if (!IsDueNext(update)) return;
  ShowOwnGhosts();
  Counting().AddOneEach();
  for (const std::uint32_t node : partition_.silent) Counting().Deviate(node, -1, partition_.NumNodes());
}

UIT_DEFINE void PublishedPart::BeginEnd(std::uint64_t update) {
  if (update == drain_update) {
    if (is_first_ && memory_.IsByUpdate()) ShowOwnValues({});
    ShowOwnGhosts();
  }
  if (IsDueNext(update)) SendShown(update, true);
}

UIT_DEFINE bool PublishedPart::TryPullLast(std::uint64_t update) {
  return !IsDueNext(update) || TryPullAllLast(memory_.shown, update);
}

UIT_DEFINE void PublishedPart::ShowOwnValues(std::span<const std::uint32_t> silent) {
  std::size_t next = 0;  // the first node that is yet to be shown
  const auto show_up_to = [&](std::size_t end) {
    const std::size_t slot = network_.first_slot + next;
    std::memcpy(memory_.Shown(slot), memory_.Own(slot), (end - next) * memory_.slot_bytes);
    next = end + 1;
  };
  for (const std::uint32_t node : silent) show_up_to(node);
  show_up_to(partition_.NumNodes());
}

UIT_DEFINE void PublishedPart::ShowOwnGhosts() {
  if (own_ghosts_ == nullptr) return;
  const auto heard = std::ranges::find(network_.heard, network_.graph.worker, &NetworkPart::Heard::worker);
  memory_.pack(memory_.shown, network_.first_slot, heard->nodes, memory_.Shown(own_ghosts_->first));
}

}  // namespace netuit
