#pragma once

#include <cstdint>
#include <vector>

#include <netuit/mesh/worker_graph.hpp>
#include <uit/config.hpp>

namespace netuit {

/// Nodes with consecutive local numbers.
struct NodeRange {
  std::uint32_t begin = 0;  ///< the first
  std::uint32_t end = 0;    ///< one past the last
};

/// A worker's nodes of one level. In a run by Dataflow, a worker updates its nodes level by level; see FindLevels.
struct Level {
  std::uint32_t number = 0;         ///< the level
  std::vector<NodeRange> nodes{};   ///< ascending
};

/// Returns the levels of a worker's nodes, ascending.
std::vector<Level> LevelsOf(const WorkerGraph& graph);

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/levels.ipp>
#endif
