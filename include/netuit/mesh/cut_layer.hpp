#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <netuit/mesh/field_memory.hpp>
#include <netuit/mesh/layer_base.hpp>
#include <netuit/mesh/layer_part.hpp>
#include <netuit/mesh/partition.hpp>
#include <uit/config.hpp>

namespace netuit {

class CutPart;

/// The copies of a published field at cuts, in one network.
class CutLayer final : public LayerBase {
 public:
  /// See CutPart. `storage` owns the memory of the copies. `type` is the hash of the value type.
  CutLayer(const FieldMemory& field, const FieldMemory& copy, std::shared_ptr<const void> storage, std::uint64_t type,
           const std::vector<std::unique_ptr<Partition>>& partitions, std::uint32_t network);
  ~CutLayer() override;

  void Join(const LayerSite& site, std::uint32_t number) override;
  LayerPart& Part(std::size_t thread) override;
  /// Returns the same part, for the run.
  CutPart& CopiesOf(std::size_t thread);
  LayerShape Shape() const override;

 private:
  std::shared_ptr<const void> storage_;
  std::uint64_t type_;
  std::size_t slot_bytes_;
  std::uint32_t network_;
  std::vector<std::unique_ptr<CutPart>> parts_;  // by thread
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/cut_layer.ipp>
#endif
