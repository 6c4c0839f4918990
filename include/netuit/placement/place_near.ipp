#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/placement/diffusion.hpp>
#include <netuit/placement/metis.hpp>
#include <netuit/placement/place_near.hpp>
#include <netuit/placement/placement.hpp>
#include <uit/config.hpp>

namespace netuit {

namespace detail {

/// Numbers of nodes by pairs of parts: one of the new placement, one of the present.
using Overlaps = std::map<std::pair<std::uint32_t, std::uint32_t>, NodeId>;

/// Returns a present part for each new one: pair after pair, the one with most common nodes first.
UIT_DEFINE std::vector<std::uint32_t> MatchParts(const Overlaps& overlaps, std::size_t num_parts) {
  constexpr std::uint32_t none = ~std::uint32_t{0};
  std::vector<std::tuple<NodeId, std::uint32_t, std::uint32_t>> pairs;
  for (const auto& [parts, count] : overlaps) pairs.emplace_back(count, parts.first, parts.second);
  std::ranges::sort(pairs, std::ranges::greater{});
  std::vector<std::uint32_t> names(num_parts, none);
  std::vector<bool> is_taken(num_parts);
  for (const auto& [count, part, name] : pairs) {
    if (names[part] != none || is_taken[name]) continue;
    names[part] = name;
    is_taken[name] = true;
  }
  std::uint32_t free = 0;
  for (std::uint32_t& name : names) {
    if (name != none) continue;
    while (is_taken[free]) ++free;
    name = free++;
  }
  return names;
}

}  // namespace detail

UIT_DEFINE Placement KeepNames(const Placement& present, const Placement& next) {
  const Workers workers = present.Shape();
  detail::Overlaps processes;
  for (NodeId node = 0; node < present.NumNodes(); ++node) ++processes[{next.Of(node).process, present.Of(node).process}];
  const std::vector<std::uint32_t> process_names = detail::MatchParts(processes, workers.processes);
  std::vector<detail::Overlaps> threads(workers.processes);  // by new process
  for (NodeId node = 0; node < present.NumNodes(); ++node) {
    const WorkerId to = next.Of(node);
    if (present.Of(node).process == process_names[to.process]) ++threads[to.process][{to.thread, present.Of(node).thread}];
  }
  std::vector<std::vector<std::uint32_t>> thread_names;
  for (const detail::Overlaps& of : threads) thread_names.push_back(detail::MatchParts(of, workers.threads));
  std::vector<std::uint32_t> worker_of;
  for (NodeId node = 0; node < present.NumNodes(); ++node) {
    const WorkerId to = next.Of(node);
    const std::size_t first_worker = process_names[to.process] * workers.threads;
    worker_of.push_back(static_cast<std::uint32_t>(first_worker) + thread_names[to.process][to.thread]);
  }
  return {workers, std::move(worker_of)};
}

UIT_DEFINE Placement PlaceNear(const Topology& topology, const Placement& present, double goal) {
  std::vector<double> loads;
  for (NodeId node = 0; node < topology.NumNodes(); ++node) loads.push_back(topology.NodeWeight(node));
  Placement moved = PlaceByDiffusion(topology, present);
  const double imbalance = Imbalance(loads, moved);
  if (imbalance <= goal) return moved;
  Placement anew = KeepNames(present, PlaceByMetis(topology, present.Shape()));
  return Imbalance(loads, anew) < imbalance ? anew : moved;
}

}  // namespace netuit
