#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node.hpp>

#include "demos/graphs/part.hpp"

namespace graphs {

/// A node of another process to which an edge leads.
struct Away {
  Place place{};
  netuit::NodeId id = 0;
};

/// Numbers a process's own nodes, and those of other processes to which its edges lead, for programs that combine what
/// they send to a node. The own nodes have their local numbers. The others follow, each once, by place.
class Slots {
 public:
  Slots(const netuit::Mesh& mesh, const Part& part) : num_own_(part.NumNodes()) {
    const std::size_t here = mesh.GetWorld().Rank();
    const auto visit_targets = [&](auto&& take) {
      mesh.Visit([&](const netuit::Node& node) {
        for (const netuit::OutEdge edge : node.Out()) take(Away{part.Find(edge.Target()), edge.Target()});
      });
    };
    visit_targets([&](const Away& target) {
      if (target.place.rank != here) away_.push_back(target);
    });
    std::ranges::sort(away_, {}, &Away::place);
    const auto rest = std::ranges::unique(away_, {}, &Away::place);
    away_.erase(rest.begin(), rest.end());
    visit_targets([&](const Away& target) {
      const auto found = std::ranges::lower_bound(away_, target.place, {}, &Away::place);
      const std::size_t slot = num_own_ + static_cast<std::size_t>(found - away_.begin());
      targets_.push_back(target.place.rank == here ? target.place.node : static_cast<std::uint32_t>(slot));
    });
    for (std::uint32_t node = 0; node < num_own_; ++node) first_.push_back(first_.back() + part.Targets(node).size());
  }

  std::size_t Size() const { return num_own_ + away_.size(); }
  std::size_t NumOwn() const { return num_own_; }
  /// The node of a slot that no own node has.
  const Away& AwayAt(std::uint32_t slot) const { return away_[slot - num_own_]; }
  /// By slot, from the first that no own node has.
  std::span<const Away> AllAway() const { return away_; }
  /// The slots to which an own node's edges lead, in the order of its edges.
  std::span<const std::uint32_t> Targets(std::uint32_t node) const {
    return std::span(targets_).subspan(first_[node], first_[node + 1] - first_[node]);
  }
  /// The number of a node's first edge among those of all own nodes.
  std::size_t FirstEdge(std::uint32_t node) const { return first_[node]; }

 private:
  std::size_t num_own_;
  std::vector<Away> away_;
  std::vector<std::uint32_t> targets_;
  std::vector<std::size_t> first_{0};
};

}  // namespace graphs
