#pragma once

#include <cstdint>

#include <netuit/mesh/layer_part.hpp>
#include <uit/config.hpp>
#include <uit/support/assert.hpp>

namespace netuit {

UIT_DEFINE LayerPart::LayerPart(std::uint64_t period) : period_(period) {
  UIT_ASSERT(period >= 1, "a layer's period is at least one update");
}

UIT_DEFINE LayerPart::~LayerPart() = default;

}  // namespace netuit
