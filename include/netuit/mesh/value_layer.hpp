#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <netuit/mesh/layer_base.hpp>
#include <netuit/mesh/value_part.hpp>
#include <uit/config.hpp>

namespace netuit {

/// A layer of a value per node.
class ValueLayer : public LayerBase {
 public:
  void Wire(const WiringSite& site, std::uint32_t number) final;

 protected:
  /// Of values of the type with this hash.
  explicit ValueLayer(std::uint64_t type) : type_(type) {}
  ValuePart& Part(std::size_t thread) override = 0;
  /// The values' type.
  std::uint64_t Type() const { return type_; }

 private:
  std::uint64_t type_;
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/value_layer.ipp>
#endif
