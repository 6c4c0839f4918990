#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <netuit/mesh/field_memory.hpp>
#include <netuit/mesh/layer_base.hpp>
#include <netuit/mesh/published_part.hpp>
#include <uit/config.hpp>

namespace netuit {

/// A field that is published along one network.
class FieldLayer final : public LayerBase {
 public:
  /// Refers to the field's memory and to the partitions. `type` is the hash of the value type. `is_first`: see PublishedPart.
  FieldLayer(const FieldMemory& memory, std::uint64_t type, const std::vector<std::unique_ptr<Partition>>& partitions,
             std::uint32_t network, bool is_first);

  void Join(const LayerSite& site, std::uint32_t number) override;
  PublishedPart& Part(std::size_t thread) override;
  LayerShape Shape() const override;

 private:
  std::uint64_t type_;
  std::size_t slot_bytes_;
  std::uint32_t network_;
  std::vector<std::unique_ptr<PublishedPart>> parts_;  // by thread
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/field_layer.ipp>
#endif
