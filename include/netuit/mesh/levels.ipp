#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <netuit/mesh/levels.hpp>
#include <netuit/mesh/worker_graph.hpp>
#include <uit/config.hpp>

namespace netuit {

UIT_DEFINE std::vector<Level> LevelsOf(const WorkerGraph& graph) {
  std::map<std::uint32_t, Level> by_number;
  for (std::uint32_t node = 0; node < graph.nodes.size(); ++node) {
    const std::uint32_t number = graph.levels.empty() ? 0 : graph.levels[node];
    Level& level = by_number[number];
    level.number = number;
    if (level.nodes.empty() || level.nodes.back().end != node) level.nodes.push_back({node, node});
    ++level.nodes.back().end;
  }
  std::vector<Level> levels;
  for (auto& [number, level] : by_number) levels.push_back(std::move(level));
  return levels;
}

}  // namespace netuit
