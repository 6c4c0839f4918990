#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh.hpp>

#include "demos/common/exchange.hpp"
#include "demos/graphs/part.hpp"
#include "demos/graphs/slots.hpp"
#include "local_sets.hpp"

namespace connected_components {

/// A hand-written bulk synchronous version over MPI. A process first finds the sets of nodes that its own edges join. Only labels
/// that have got smaller are sent on to the set's nodes in other processes.
class ByMpi {
 public:
  ByMpi(const netuit::Mesh& mesh, const graphs::Part& part, const graphs::Slots& slots)
      : sets_(part, slots), exchange_(mesh.GetWorld().Size()) {}

  /// Collective.
  void Solve() {
    sets_.Find();
    changed_ = sets_.Shared();
    is_changed_.assign(sets_.Size(), 0);
    for (const std::uint32_t set : changed_) is_changed_[set] = 1;
    for (;;) {
      for (const std::uint32_t set : changed_) Send(set);
      changed_.clear();
      if (!exchange_.Swap()) break;
      for (const Gift gift : exchange_.Incoming()) {
        const std::uint32_t set = sets_.SetOf(gift.node);
        if (sets_.TryGive(set, gift.label) && std::exchange(is_changed_[set], 1) == 0) changed_.push_back(set);
      }
    }
    sets_.GetLabels(labels_);
  }
  /// By local number.
  const std::vector<netuit::NodeId>& Labels() const { return labels_; }

 private:
  struct Gift {
    std::uint32_t node = 0;  // its number at its process
    netuit::NodeId label = 0;
  };

  void Send(std::uint32_t set) {
    is_changed_[set] = 0;
    sets_.ForEachToTell(set, [&](const graphs::Away& away) { exchange_.Put(away.place.rank, {away.place.node, sets_.Label(set)}); });
  }

  LocalSets sets_;
  demo::Exchange<Gift> exchange_;
  std::vector<std::uint8_t> is_changed_;  // by set
  std::vector<std::uint32_t> changed_;    // the sets with a label to send
  std::vector<netuit::NodeId> labels_;
};

}  // namespace connected_components
