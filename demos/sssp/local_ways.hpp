#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/mesh/edge_field.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node.hpp>

#include "demos/graphs/part.hpp"
#include "demos/graphs/slots.hpp"

namespace sssp {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// The lengths of ways to a process's own nodes, and to those of others to which their edges lead, in steps (Delta-stepping: Meyer,
/// Sanders 2003). In a step the process goes on with its own nodes, the nearest first, until none is left below the step's limit.
class LocalWays {
 public:
  LocalWays(netuit::Mesh& mesh, const graphs::Part& part, const graphs::Slots& slots, double delta)
      : rank_(static_cast<std::uint32_t>(mesh.GetWorld().Rank())), bin_width_(delta / bins_per_step), part_(part), slots_(slots) {
    const netuit::EdgeWeights weight = mesh.GetEdgeWeights();
    mesh.Visit([&](const netuit::Node& node) {
      for (const netuit::OutEdge edge : node.Out()) weights_.push_back(weight[edge]);
    });
  }

  /// Forgets all ways but that of the root to itself.
  void Begin(netuit::NodeId root) {
    lengths_.assign(slots_.Size(), infinite);
    told_.assign(slots_.Size(), infinite);
    if (const graphs::Place place = part_.Find(root); place.rank == rank_) Reach(place.node, 0);
  }
  /// Notes a way to a node, by its slot, if there is no shorter one.
  void Reach(std::uint32_t slot, double length) {
    if (length >= lengths_[slot]) return;
    lengths_[slot] = length;
    if (slot < slots_.NumOwn()) bins_[std::floor(length / bin_width_)].push_back(slot);
    else away_.push_back(slot);
  }
  /// Where the next step can begin, for this process, in bin widths. Infinite if nothing is left.
  double Nearest() const { return bins_.empty() ? infinite : bins_.begin()->first; }
  /// Makes the step that begins there, which is as long as `delta`.
  void Step(double nearest) {
    const double limit = std::max(nearest + bins_per_step, std::nextafter(nearest, infinite));
    while (!bins_.empty() && bins_.begin()->first < limit) {
      const auto bin = bins_.extract(bins_.begin());
      for (const std::uint32_t node : bin.mapped())
        if (IsNews(node)) TellTargets(node);
    }
  }
  /// Calls `take` with each node of another process to which a shorter way is known than was told before, and that way's length.
  /// Meanwhile Reach may be called for own nodes.
  void TellOthers(auto&& take) {
    for (const std::uint32_t slot : away_)
      if (IsNews(slot)) take(slots_.AwayAt(slot), lengths_[slot]);
    away_.clear();
  }
  /// By local number.
  std::vector<double> LengthsOfNodes() const {
    return {lengths_.begin(), lengths_.begin() + static_cast<std::ptrdiff_t>(slots_.NumOwn())};
  }

 private:
  static constexpr double bins_per_step = 4;  // more bins save work, because fewer lengths are replaced, but cost time themselves

  /// Whether a length is to be told. It then counts as told.
  bool IsNews(std::uint32_t slot) {
    if (lengths_[slot] >= told_[slot]) return false;
    told_[slot] = lengths_[slot];
    return true;
  }
  void TellTargets(std::uint32_t node) {
    const double* weight = weights_.data() + slots_.FirstEdge(node);
    for (const std::uint32_t target : slots_.Targets(node)) Reach(target, told_[node] + *weight++);
  }

  std::uint32_t rank_;
  double bin_width_;
  const graphs::Part& part_;
  const graphs::Slots& slots_;
  std::vector<double> weights_;                        // by edge
  std::vector<double> lengths_;                        // by slot
  std::vector<double> told_;                           // by slot: the length that others know
  std::map<double, std::vector<std::uint32_t>> bins_;  // own nodes with news, by length in bin widths
  std::vector<std::uint32_t> away_;                    // slots of others' nodes with news
};

}  // namespace sssp
