#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <netuit/graph/topology.hpp>

#include "demos/graphs/part.hpp"
#include "demos/graphs/slots.hpp"
#include "forests.hpp"

namespace connected_components {

/// The sets of nodes that a process's own edges join. A set has one label, so a smaller one reaches all its nodes at once.
class LocalSets {
 public:
  LocalSets(const graphs::Part& part, const graphs::Slots& slots)
      : part_(part), slots_(slots), sets_(slots.Size()), next_(slots.Size()) {}

  /// Finds the sets. The label of each is the smallest number of its nodes.
  void Find() {
    Join();
    for (auto slot = static_cast<std::uint32_t>(slots_.Size()); slot-- > slots_.NumOwn();) {
      TryGive(sets_[slot], slots_.AwayAt(slot).id);
      next_[slot] = std::exchange(heads_[sets_[slot]], slot);
      if (next_[slot] == none) shared_.push_back(sets_[slot]);
    }
    for (std::uint32_t node = 0; node < slots_.NumOwn(); ++node) TryGive(sets_[node], part_.Id(node));
  }
  std::uint32_t Size() const { return static_cast<std::uint32_t>(labels_.size()); }
  /// Of an own node, by its local number.
  std::uint32_t SetOf(std::uint32_t node) const { return sets_[node]; }
  netuit::NodeId Label(std::uint32_t set) const { return labels_[set]; }
  /// Returns whether the label is smaller than the set's, which then has it.
  bool TryGive(std::uint32_t set, netuit::NodeId label) {
    if (label >= labels_[set]) return false;
    labels_[set] = label;
    return true;
  }
  /// The sets to which nodes of other processes belong.
  const std::vector<std::uint32_t>& Shared() const { return shared_; }
  /// Calls `take` with each node of another process that belongs to a set, except the node whose number is the set's label: it knows
  /// that label. Meanwhile labels may get smaller.
  void ForEachToTell(std::uint32_t set, auto&& take) const {
    for (std::uint32_t slot = heads_[set]; slot != none; slot = next_[slot])
      if (const graphs::Away& away = slots_.AwayAt(slot); away.id != labels_[set]) take(away);
  }
  /// Gets the labels of the own nodes, by local number.
  void GetLabels(std::vector<netuit::NodeId>& labels) const {
    labels.resize(slots_.NumOwn());
    for (std::uint32_t node = 0; node < labels.size(); ++node) labels[node] = labels_[sets_[node]];
  }

 private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  /// Joins own nodes, and others' nodes to which their edges lead, to sets without labels.
  void Join() {
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
    labels_.assign(num_sets, netuit::no_node);
    heads_.assign(num_sets, none);
    shared_.clear();
  }

  const graphs::Part& part_;
  const graphs::Slots& slots_;
  std::vector<std::uint32_t> sets_;     // by slot
  std::vector<std::uint32_t> next_;     // by slot of another's node: the next such slot of its set
  std::vector<std::uint32_t> heads_;    // by set: the first of these slots
  std::vector<netuit::NodeId> labels_;  // by set
  std::vector<std::uint32_t> shared_;
  std::vector<std::uint32_t> waiting_;
};

}  // namespace connected_components
