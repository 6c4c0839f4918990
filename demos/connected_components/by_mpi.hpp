#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh.hpp>

#include "demos/common/exchange.hpp"
#include "demos/graphs/part.hpp"
#include "demos/graphs/slots.hpp"
#include "forests.hpp"

namespace connected_components {

/// A hand-written bulk synchronous version over MPI. A process first finds the sets of nodes that its own edges join. A set has one
/// label, so a smaller one reaches all its nodes at once. Only labels that have got smaller are sent on to the set's nodes in other
/// processes.
class ByMpi {
 public:
  /// Collective.
  ByMpi(const netuit::Mesh& mesh, const graphs::Part& part)
      : part_(part), slots_(mesh, part), exchange_(mesh.GetWorld().Size()), sets_(slots_.Size()), next_(slots_.Size()),
        labels_(part.NumNodes()) {}

  /// Collective.
  void Solve() {
    FindSets();
    BeginLabels();
    for (;;) {
      for (const std::uint32_t set : changed_) Send(set);
      changed_.clear();
      if (!exchange_.Swap()) break;
      for (const Gift gift : exchange_.Incoming()) Give(sets_[gift.node], gift.label);
    }
    for (std::uint32_t node = 0; node < slots_.NumOwn(); ++node) labels_[node] = set_labels_[sets_[node]];
  }
  /// By local number.
  const std::vector<netuit::NodeId>& Labels() const { return labels_; }

 private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  struct Gift {
    std::uint32_t node = 0;  // its number at its process
    netuit::NodeId label = 0;
  };

  /// Joins own nodes, and others' nodes to which their edges lead, to sets.
  void FindSets() {
    sets_.assign(sets_.size(), none);
    std::uint32_t num_sets = 0;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> joined;  // sets, by nodes of others
    for (std::uint32_t first = 0; first < slots_.NumOwn(); ++first) {
      if (sets_[first] != none) continue;
      const std::uint32_t set = num_sets++;
      sets_[first] = set;
      for (waiting_.push_back(first); !waiting_.empty();) {
        const std::uint32_t node = waiting_.back();
        waiting_.pop_back();
        for (const std::uint32_t target : slots_.Targets(node)) {
          if (sets_[target] == set) continue;
          if (sets_[target] != none) {
            joined.emplace_back(sets_[target], set);
            continue;
          }
          sets_[target] = set;
          if (target < slots_.NumOwn()) waiting_.push_back(target);
        }
      }
    }
    Components components(num_sets);
    for (const auto& [one, other] : joined) components.Join(one, other);
    const std::vector<netuit::NodeId> numbers = components.Labels();
    for (std::uint32_t& set : sets_) set = numbers[set];
    set_labels_.assign(num_sets, netuit::no_node);
    heads_.assign(num_sets, none);
    is_changed_.assign(num_sets, 0);
  }
  /// A set's first label is the smallest number of its nodes. The sets with nodes of others have to send theirs.
  void BeginLabels() {
    for (auto slot = static_cast<std::uint32_t>(slots_.Size()); slot-- > slots_.NumOwn();) {
      Give(sets_[slot], slots_.AwayAt(slot).id);
      next_[slot] = std::exchange(heads_[sets_[slot]], slot);
    }
    for (std::uint32_t node = 0; node < slots_.NumOwn(); ++node)
      set_labels_[sets_[node]] = std::min(set_labels_[sets_[node]], part_.Id(node));
  }
  /// Of a set. It keeps its label if that is smaller.
  void Give(std::uint32_t set, netuit::NodeId label) {
    if (label >= set_labels_[set]) return;
    set_labels_[set] = label;
    if (std::exchange(is_changed_[set], 1) == 0) changed_.push_back(set);
  }
  void Send(std::uint32_t set) {
    is_changed_[set] = 0;
    for (std::uint32_t slot = heads_[set]; slot != none; slot = next_[slot])
      if (const graphs::Away& away = slots_.AwayAt(slot); away.id != set_labels_[set])  // it knows its own number
        exchange_.Put(away.place.rank, {away.place.node, set_labels_[set]});
  }

  const graphs::Part& part_;
  graphs::Slots slots_;
  demo::Exchange<Gift> exchange_;
  std::vector<std::uint32_t> sets_;         // by slot
  std::vector<std::uint32_t> next_;         // by slot of another's node: the next such slot of its set
  std::vector<std::uint32_t> heads_;        // by set: the first of these slots
  std::vector<netuit::NodeId> set_labels_;  // by set
  std::vector<std::uint8_t> is_changed_;    // by set
  std::vector<std::uint32_t> changed_;      // the sets with a label to send
  std::vector<std::uint32_t> waiting_;
  std::vector<netuit::NodeId> labels_;
};

}  // namespace connected_components
