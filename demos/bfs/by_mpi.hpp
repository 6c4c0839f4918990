#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <uit/link/world.hpp>

#include "demos/common/exchange.hpp"
#include "demos/graphs/part.hpp"

namespace bfs {

/// A hand-written version over MPI, level by level. A process visits its own nodes at once, and collects visits to others' nodes.
/// At the end of a level all exchange them.
class ByMpi {
 public:
  /// Collective.
  ByMpi(const uit::World& world, const graphs::Part& part)
      : rank_(static_cast<std::uint32_t>(world.Rank())), part_(part), exchange_(world.Size()), parents_(part.NumNodes()) {}

  /// Collective.
  void Search(netuit::NodeId root) {
    parents_.assign(parents_.size(), netuit::no_node);
    next_.clear();
    if (const graphs::Place place = part_.Find(root); place.rank == rank_) Visit({place.node, root});
    for (;;) {
      std::swap(level_, next_);
      next_.clear();
      for (const std::uint32_t node : level_)
        for (const graphs::Place target : part_.Targets(node)) {
          const Step step{target.node, part_.Id(node)};
          if (target.rank == rank_) Visit(step);
          else exchange_.Put(target.rank, step);
        }
      if (!exchange_.Swap(!next_.empty())) return;
      for (const Step step : exchange_.Incoming()) Visit(step);
    }
  }
  /// By local number.
  const std::vector<netuit::NodeId>& Parents() const { return parents_; }

 private:
  struct Step {
    std::uint32_t node = 0;  // its number at its process
    netuit::NodeId from = 0;
  };
  void Visit(Step step) {
    if (parents_[step.node] != netuit::no_node) return;
    parents_[step.node] = step.from;
    next_.push_back(step.node);
  }

  std::uint32_t rank_;
  const graphs::Part& part_;
  demo::Exchange<Step> exchange_;
  std::vector<netuit::NodeId> parents_;
  std::vector<std::uint32_t> level_;
  std::vector<std::uint32_t> next_;
};

}  // namespace bfs
