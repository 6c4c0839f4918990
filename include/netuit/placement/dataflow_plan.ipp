#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <ostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <netuit/graph/edge_delays.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/placement/dataflow_plan.hpp>
#include <netuit/placement/placement.hpp>
#include <uit/config.hpp>
#include <uit/support/error.hpp>

namespace netuit {

UIT_DEFINE DataflowPlan::DataflowPlan(const std::vector<const Topology*>& networks, const std::vector<EdgeDelays>& delays,
                                      const Placement& placement) {
  if (networks.empty() || networks.size() != delays.size()) {
    throw uit::InputError("a plan is for at least one network and needs delays for each; there are " + std::to_string(networks.size()) +
                          " networks and delays for " + std::to_string(delays.size()));
  }
  std::vector<std::vector<std::uint16_t>> by_edge;
  for (std::size_t i = 0; i < networks.size(); ++i) {
    if (placement.NumNodes() != networks[i]->NumNodes()) {
      throw uit::InputError("the placement is of " + std::to_string(placement.NumNodes()) + " nodes, the graph has " +
                            std::to_string(networks[i]->NumNodes()));
    }
    by_edge.push_back(delays[i].Of(*networks[i]));
  }
  std::vector<std::uint32_t> levels = FindLevels(networks, by_edge);
  levels.resize(placement.NumNodes());
  AddGroups(levels, placement);
  AddMessages(networks, placement);
  needs_.resize(groups_.size());
  for (std::size_t i = 0; i < networks.size(); ++i) AddNeeds(*networks[i], by_edge[i], placement);
  for (std::vector<Need>& needs : needs_) {
    std::ranges::sort(needs);
    needs.erase(std::ranges::unique(needs).begin(), needs.end());
  }
  constexpr std::size_t header_bytes = 32;  // of a uit::FrameHeader
  constexpr std::size_t note_bytes = 16;    // of a FrameNote, which only frames of values of a whole update have
  const bool has_note = std::ranges::all_of(by_edge, &std::vector<std::uint16_t>::empty);
  frame_bytes_ = header_bytes + (has_note ? note_bytes : 0);
}

UIT_DEFINE void DataflowPlan::AddGroups(const std::vector<std::uint32_t>& levels, const Placement& placement) {
  std::vector<NodeId> nodes(levels.size());
  std::iota(nodes.begin(), nodes.end(), NodeId{0});
  std::ranges::sort(nodes, {}, [&](NodeId node) { return std::tuple(placement.WorkerOf(node), levels[node], node); });
  group_of_.resize(nodes.size());
  for (const NodeId node : nodes) {
    const std::uint32_t worker = placement.WorkerOf(node);
    if (groups_.empty() || groups_.back().worker != worker || groups_.back().level != levels[node])
      groups_.push_back({.worker = worker, .level = levels[node]});
    groups_.back().nodes.push_back(node);
    group_of_[node] = groups_.size() - 1;
  }
}

UIT_DEFINE void DataflowPlan::AddMessages(const std::vector<const Topology*>& networks, const Placement& placement) {
  std::vector<std::uint32_t> readers;  // of a group: other workers, each once for every value that it reads
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    for (std::uint32_t network = 0; network < networks.size(); ++network) {
      readers.clear();
      for (const NodeId node : groups_[group].nodes) {
        const auto of_node = static_cast<std::ptrdiff_t>(readers.size());
        for (const NodeId target : networks[network]->OutNeighbors(node))
          if (placement.WorkerOf(target) != groups_[group].worker) readers.push_back(placement.WorkerOf(target));
        std::sort(readers.begin() + of_node, readers.end());
        readers.erase(std::unique(readers.begin() + of_node, readers.end()), readers.end());
      }
      std::ranges::sort(readers);
      for (std::size_t i = 0; i < readers.size(); ++i) {
        if (i == 0 || readers[i] != readers[i - 1]) messages_.push_back({.group = group, .to = readers[i], .network = network});
        ++messages_.back().num_values;
      }
    }
  }
}

UIT_DEFINE void DataflowPlan::AddNeeds(const Topology& network, const std::vector<std::uint16_t>& delays,
                                       const Placement& placement) {
  struct Lag {
    std::size_t to = ~std::size_t{0};  // the worker that receives
    std::uint32_t least = 0;           // of the delays of all edges to there
  };
  std::vector<Lag> lags(placement.Shape().Count());  // by worker that sends
  std::vector<std::pair<std::size_t, Need>> found;   // of a worker: a group and what it reads, with the delay in place of `back`
  std::size_t end = 0;
  for (std::size_t first = 0; first < groups_.size(); first = end) {
    const std::uint32_t worker = groups_[first].worker;
    found.clear();
    for (end = first; end < groups_.size() && groups_[end].worker == worker; ++end) {
      for (const NodeId node : groups_[end].nodes) {
        for (const EdgeId edge : network.InEdges(node)) {
          const NodeId source = network.Source(edge);
          const std::uint32_t from = placement.WorkerOf(source);
          if (from == worker) continue;
          const std::uint32_t delay = delays.empty() ? 1 : delays[edge];
          lags[from] = {worker, lags[from].to == worker ? std::min(lags[from].least, delay) : delay};
          found.push_back({end, {group_of_[source], delay}});
        }
      }
    }
    for (auto& [group, need] : found) {
      if (need.back != 0) need.back = std::max<std::uint32_t>(1, lags[groups_[need.from].worker].least);
      needs_[group].push_back(need);
    }
  }
}

UIT_DEFINE std::size_t DataflowPlan::NumValues() const {
  std::size_t num_values = 0;
  for (const Message& message : messages_) num_values += message.num_values;
  return num_values;
}

UIT_DEFINE std::vector<std::vector<DataflowPlan::Need>> DataflowPlan::Waits() const {
  std::vector<std::vector<Need>> waits = needs_;
  std::size_t first = 0;  // group of the worker
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    if (groups_[i].worker != groups_[first].worker) first = i;
    if (i != first) waits[i].push_back({i - 1, 0});
    if (i + 1 == groups_.size() || groups_[i + 1].worker != groups_[i].worker) waits[first].push_back({i, 1});
  }
  return waits;
}

UIT_DEFINE std::vector<std::size_t> DataflowPlan::FindCycle(const std::vector<const Need*>& because) {
  std::vector<std::size_t> seen_from(because.size(), because.size());  // by group: where the walk that has seen it began
  for (std::size_t first = 0; first < because.size(); ++first) {
    std::size_t at = first;
    for (; because[at] != nullptr && seen_from[at] == because.size(); at = because[at]->from) seen_from[at] = first;
    if (because[at] == nullptr || seen_from[at] != first) continue;
    while (because[at]->back == 0) at = because[at]->from;
    std::vector<std::size_t> cycle{at};
    while ((at = because[at]->from) != cycle.front()) cycle.push_back(at);
    std::reverse(cycle.begin() + 1, cycle.end());
    return cycle;
  }
  return {};
}

UIT_DEFINE DataflowPlan::Cycle DataflowPlan::CriticalCycle(const NodeCost& node_cost, double message_cost) const {
  if (groups_.empty()) return {};
  std::vector<double> costs(groups_.size());
  for (std::size_t i = 0; i < groups_.size(); ++i)
    for (const NodeId node : groups_[i].nodes) costs[i] += node_cost ? node_cost(node) : 1;
  const auto is_cost = [](double cost) { return cost >= 0 && std::isfinite(cost); };
  if (!is_cost(message_cost) || !std::ranges::all_of(costs, is_cost))
    throw uit::InputError("costs of nodes and messages must be finite numbers that are not negative");
  std::vector<std::size_t> order(groups_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [this](std::size_t i) { return std::pair{groups_[i].level, i}; });
  const std::vector<std::vector<Need>> waits = Waits();
  const auto cost_of = [&](std::size_t i, const Need& wait) {
    return costs[i] + (groups_[i].worker == groups_[wait.from].worker ? 0 : message_cost);
  };
  const double tolerance = 1e-9 * (std::ranges::max(costs) + message_cost);

  Cycle longest{.time = -1};  // shorter than all
  for (;;) {
    // The algorithm of Bellman and Ford. If each update may begin one period after the one before, how late is a group? If a cycle
    // takes longer than the period, its groups get later and later, until each is late because of the one before.
    const double period = longest.TimePerUpdate();
    std::vector<double> late(groups_.size());
    std::vector<const Need*> because(groups_.size());
    Cycle longer{.num_updates = 0};
    for (bool has_changed = true; has_changed && longer.groups.empty();) {
      has_changed = false;
      for (const std::size_t i : order) {
        for (const Need& wait : waits[i]) {
          const double at_least = late[wait.from] + cost_of(i, wait) - period * wait.back;
          if (at_least <= late[i] + tolerance) continue;
          late[i] = at_least;
          because[i] = &wait;
          has_changed = true;
        }
      }
      longer.groups = FindCycle(because);
    }
    for (const std::size_t i : longer.groups) {
      longer.time += cost_of(i, *because[i]);
      longer.num_updates += because[i]->back;
    }
    if (longer.groups.empty() || longer.TimePerUpdate() <= period) return longest;
    longest = std::move(longer);
  }
}

UIT_DEFINE void DataflowPlan::WriteDot(std::ostream& to) const {
  to << "digraph plan {\n  rankdir=LR;\n  node [shape=box];\n";
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    to << "  g" << i << " [label=\"worker " << groups_[i].worker << "\\nlevel " << groups_[i].level << ": "
       << groups_[i].nodes.size() << (groups_[i].nodes.size() == 1 ? " node" : " nodes") << "\"];\n";
    if (i != 0 && groups_[i].worker == groups_[i - 1].worker) to << "  g" << i - 1 << " -> g" << i << " [weight=10];\n";
  }
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    for (const Need& need : needs_[i]) {
      to << "  g" << need.from << " -> g" << i;
      if (need.back != 0) to << " [style=dashed, label=\"-" << need.back << "\"]";
      to << ";\n";
    }
  }
  to << "}\n";
}

}  // namespace netuit
