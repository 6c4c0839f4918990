#pragma once

#include <cstdint>
#include <vector>

#include <netuit/barrier/reduced.hpp>

namespace netuit {

/// What the updates of some nodes of a worker leave for the worker.
struct NodeNotes {
  std::vector<std::uint32_t> silent{};  ///< nodes that publish nothing in the current update; ascending in each level
  Reduced reduced{};  ///< what nodes have given in the current update; in best effort, extremes also of some updates before
};

}  // namespace netuit
