#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <netuit/mesh/halo.hpp>
#include <netuit/mesh/layer_base.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/mesh/value_layer.hpp>
#include <uit/exchange/exchange.hpp>
#include <uit/policy.hpp>

namespace netuit {

/// What a layer of a value per node is.
template <typename T>
LayerShape ShapeOfHalo(std::uint64_t period) {
  return {uit::TypeHash<T>(), sizeof(T), 0, 0, static_cast<std::uint64_t>(uit::Retain::latest),
          static_cast<std::uint64_t>(uit::Consolidate::pooled), period};
}

/// A layer of one value per node, heard by all its out-neighbours.
template <typename T>
class HaloLayer final : public ValueLayer {
 public:
  /// With a part for each partition.
  HaloLayer(const std::vector<std::unique_ptr<Partition>>& partitions, std::uint32_t, std::uint64_t period)
      : ValueLayer(uit::TypeHash<T>()) {
    for (const auto& partition : partitions) parts_.push_back(std::make_unique<Halo<T>>(partition->graph, period));
  }

  Halo<T>& Part(std::size_t thread) override { return *parts_[thread]; }
  LayerShape Shape() const override { return ShapeOfHalo<T>(parts_.front()->Period()); }

 private:
  std::vector<std::unique_ptr<Halo<T>>> parts_;  // by thread
};

}  // namespace netuit
