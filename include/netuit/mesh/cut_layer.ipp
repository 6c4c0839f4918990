#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <netuit/mesh/cut_layer.hpp>
#include <netuit/mesh/cut_part.hpp>
#include <netuit/mesh/field_memory.hpp>
#include <netuit/mesh/layer_base.hpp>
#include <netuit/mesh/partition.hpp>
#include <uit/config.hpp>
#include <uit/policy.hpp>

namespace netuit {

UIT_DEFINE CutLayer::CutLayer(const FieldMemory& field, const FieldMemory& copy, std::shared_ptr<const void> storage,
                              std::uint64_t type, const std::vector<std::unique_ptr<Partition>>& partitions, std::uint32_t network)
    : storage_(std::move(storage)), type_(type), slot_bytes_(copy.slot_bytes), network_(network) {
  for (const auto& partition : partitions)
    parts_.push_back(std::make_unique<CutPart>(field, copy, *partition, *partition->networks[network]));
}

UIT_DEFINE CutLayer::~CutLayer() = default;

UIT_DEFINE LayerPart& CutLayer::Part(std::size_t thread) { return *parts_[thread]; }

UIT_DEFINE CutPart& CutLayer::CopiesOf(std::size_t thread) { return *parts_[thread]; }

UIT_DEFINE void CutLayer::Join(const LayerSite& site, std::uint32_t number) {
  for (std::size_t thread = 0; thread < parts_.size(); ++thread) parts_[thread]->Ends().Join(site, thread, number, type_, nullptr);
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
