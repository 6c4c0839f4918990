#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <netuit/mesh/cut_layer.hpp>
#include <netuit/mesh/field_memory.hpp>
#include <netuit/mesh/layer_base.hpp>
#include <netuit/mesh/network_part.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/mesh/value_exchange.hpp>
#include <uit/config.hpp>
#include <uit/policy.hpp>

namespace netuit {

UIT_DEFINE CutPart::CutPart(const FieldMemory& field, const FieldMemory& copy, const Partition& partition, const NetworkPart& network)
    : LayerPart(network.period), field_(field), copy_(copy), partition_(partition), network_(network), ends_(copy, network) {}

UIT_DEFINE void CutPart::CopyOwn() {
  const std::size_t slot = network_.first_slot;
  std::memcpy(copy_.Own(slot), field_.Own(slot), partition_.NumNodes() * copy_.slot_bytes);
}

UIT_DEFINE void CutPart::CopyGhosts() {
  for (const NetworkPart::Ghosts& ghosts : network_.ghosts)
    std::memcpy(copy_.Own(ghosts.first), field_.Shown(ghosts.first), ghosts.ids.size() * copy_.slot_bytes);
}

UIT_DEFINE void CutPart::SendCopies(std::uint64_t round) {
  const ShownValues shown{.pack = copy_.pack, .values = copy_.own, .first_slot = network_.first_slot, .puts = uncounted_};
  for (auto& [worker, sender] : ends_.senders) sender.Send(shown, Stamp(round), true);
}

UIT_DEFINE bool CutPart::TryReceive(std::uint64_t round) {
  bool all = true;
  for (auto& [worker, receiver] : ends_.receivers) {
    if (receiver.last_update == Stamp(round)) continue;
    receiver.Pull(copy_.own, false);
    all &= receiver.last_update == Stamp(round);
  }
  return all;
}

UIT_DEFINE CutLayer::CutLayer(const FieldMemory& field, const FieldMemory& copy, std::shared_ptr<const void> storage,
                              std::uint64_t type, const std::vector<std::unique_ptr<Partition>>& partitions, std::uint32_t network)
    : storage_(std::move(storage)), type_(type), slot_bytes_(copy.slot_bytes), network_(network) {
  for (const auto& partition : partitions)
    parts_.push_back(std::make_unique<CutPart>(field, copy, *partition, *partition->networks[network]));
}

UIT_DEFINE void CutLayer::Join(const LayerSite& site, std::uint32_t number) {
  for (std::size_t thread = 0; thread < parts_.size(); ++thread) Part(thread).Ends().Join(site, thread, number, type_, nullptr);
}

UIT_DEFINE LayerShape CutLayer::Shape() const {
  return {type_,
          slot_bytes_,
          std::uint64_t{3} + (std::uint64_t{network_} << 8U),
          0,
          static_cast<std::uint64_t>(uit::Retain::latest),
          static_cast<std::uint64_t>(uit::Consolidate::pooled),
          parts_.front()->Period()};
}

}  // namespace netuit
