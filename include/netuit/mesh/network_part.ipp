#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <netuit/mesh/delayed_slots.hpp>
#include <netuit/mesh/network_part.hpp>
#include <netuit/mesh/worker_graph.hpp>
#include <uit/config.hpp>
#include <uit/support/error.hpp>

namespace netuit {

UIT_DEFINE NetworkPart::NetworkPart(WorkerGraph part, std::uint64_t num_updates, std::size_t slot, std::size_t first_in,
                                    std::size_t first_out)
    : graph(std::move(part)), period(num_updates), first_slot(slot), first_input(first_in), first_output(first_out),
      common_in_degree(FindCommonInDegree()) {
  std::vector<std::pair<std::uint32_t, NodeId>> found;
  for (std::size_t input = 0; input < graph.sources.size(); ++input) {
    if (IsGhost(input)) found.emplace_back(graph.source_workers[input], graph.sources[input]);
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  for (const auto& [worker, id] : found) {
    if (ghosts.empty() || ghosts.back().worker != worker) ghosts.push_back({.worker = worker});
    ghosts.back().ids.push_back(id);
  }
  for (std::uint32_t node = 0; node < graph.nodes.size(); ++node) {
    for (std::uint32_t output = graph.first_out[node]; output < graph.first_out[node + 1]; ++output) {
      const std::uint32_t worker = graph.target_workers[output];
      if (worker == graph.worker && period == 1) continue;
      auto to = std::ranges::find(recipients, worker, &Recipients::worker);
      if (to == recipients.end()) to = recipients.insert(recipients.end(), Recipients{.worker = worker});
      if (to->nodes.empty() || to->nodes.back() != node) to->nodes.push_back(node);
    }
  }
  std::ranges::sort(recipients, {}, &Recipients::worker);
}

UIT_DEFINE NetworkPart::~NetworkPart() = default;

UIT_DEFINE void NetworkPart::UseDelays(bool is_on) { in_slots = is_on ? delayed->in_slots : undelayed_slots_; }

UIT_DEFINE std::size_t NetworkPart::NumGhosts() const {
  std::size_t count = 0;
  for (const Ghosts& of : ghosts) count += of.ids.size();
  return count;
}

UIT_DEFINE void NetworkPart::PlaceGhosts(std::size_t first, std::uint32_t* slots) {
  for (Ghosts& of : ghosts) {
    of.first = first;
    first += of.ids.size();
  }
  for (std::size_t input = 0; input < graph.sources.size(); ++input) slots[first_input + input] = SlotOfInput(input);
  in_slots = undelayed_slots_ = slots;
}

[[noreturn]] UIT_NOINLINE UIT_DEFINE void NetworkPart::RefuseDegree(std::size_t degree) const {
  std::uint32_t node = 0;
  while (node + 1 < graph.nodes.size() && graph.first_in[node + 1] - graph.first_in[node] == degree) ++node;
  throw uit::InputError("In<" + std::to_string(degree) + "> needs " + std::to_string(degree) + " in-edges at every node, but node " +
                        graph.Label(node) + " has " + std::to_string(graph.first_in[node + 1] - graph.first_in[node]));
}

UIT_DEFINE std::size_t NetworkPart::FindCommonInDegree() const {
  if (graph.nodes.empty()) return no_common_degree;
  const std::size_t degree = graph.first_in[1];
  for (std::size_t node = 1; node < graph.nodes.size(); ++node)
    if (graph.first_in[node + 1] - graph.first_in[node] != degree) return no_common_degree;
  return degree;
}

UIT_DEFINE std::uint32_t NetworkPart::SlotOfInput(std::size_t input) const {
  if (!IsGhost(input)) return static_cast<std::uint32_t>(first_slot + graph.LocalIndex(graph.sources[input]));
  const auto of = std::ranges::lower_bound(ghosts, graph.source_workers[input], {}, &Ghosts::worker);
  const auto at = std::ranges::lower_bound(of->ids, graph.sources[input]);
  return static_cast<std::uint32_t>(of->first + static_cast<std::size_t>(at - of->ids.begin()));
}

}  // namespace netuit
