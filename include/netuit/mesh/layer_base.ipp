#pragma once

#include <netuit/mesh/layer_base.hpp>
#include <uit/config.hpp>

namespace netuit {

UIT_DEFINE LayerBase::LayerBase() = default;

UIT_DEFINE LayerBase::~LayerBase() = default;

}  // namespace netuit
