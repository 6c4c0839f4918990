#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <netuit/graph/drawn_links.hpp>
#include <netuit/graph/topology.hpp>
#include <uit/config.hpp>

namespace netuit {

UIT_DEFINE void detail::SortOnce(std::vector<std::uint64_t>& edges) {
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
}

UIT_DEFINE Topology MakeTopology(const DrawnLinks& links) {
  std::vector<std::uint64_t> both_ways;
  both_ways.reserve(2 * links.num_drawn);
  for (std::uint64_t number = 0; number < links.num_drawn; ++number) {
    const Edge link = links.draw(number);
    if (link.source == link.target) continue;
    both_ways.push_back(detail::PackEnds(link.source, link.target));
    both_ways.push_back(detail::PackEnds(link.target, link.source));
  }
  detail::SortOnce(both_ways);
  std::vector<Edge> edges;
  edges.reserve(both_ways.size());
  for (const std::uint64_t ends : both_ways) edges.push_back({detail::SourceOf(ends), detail::TargetOf(ends)});
  return Topology{links.num_nodes, std::move(edges)};
}

}  // namespace netuit
