#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <netuit/mesh/field_layer.hpp>
#include <netuit/mesh/field_memory.hpp>
#include <netuit/mesh/layer_base.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/mesh/published_part.hpp>
#include <uit/config.hpp>
#include <uit/policy.hpp>

namespace netuit {

UIT_DEFINE FieldLayer::FieldLayer(const FieldMemory& memory, std::uint64_t type,
                                  const std::vector<std::unique_ptr<Partition>>& partitions, std::uint32_t network, bool is_first)
    : ValueLayer(type), slot_bytes_(memory.slot_bytes), network_(network) {
  for (const auto& partition : partitions)
    parts_.push_back(std::make_unique<PublishedPart>(memory, *partition, *partition->networks[network], is_first));
}

UIT_DEFINE PublishedPart& FieldLayer::Part(std::size_t thread) { return *parts_[thread]; }

UIT_DEFINE LayerShape FieldLayer::Shape() const {
  return {Type(),
          slot_bytes_,
          std::uint64_t{2} + (std::uint64_t{network_} << 8U),
          0,
          static_cast<std::uint64_t>(uit::Retain::latest),
          static_cast<std::uint64_t>(uit::Consolidate::pooled),
          parts_.front()->Period()};
}

}  // namespace netuit
