#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <ostream>
#include <vector>

#include <netuit/graph/edge_delays.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/placement/placement.hpp>
#include <uit/config.hpp>

namespace netuit {

/// What each update of a run by Dataflow does on networks with edge delays: which worker updates which nodes in which order, and
/// which values it sends to which other. It follows from graphs and placement alone, so it can be worked out for any number of
/// workers, without processes.
///
///     const netuit::DataflowPlan plan{graph, netuit::GaussSeidel(), placement};
///     std::printf("%zu messages of %zu bytes; at best %.1f node updates after one another\n", plan.Messages().size(),
///                 plan.NumBytes(sizeof(double)), plan.TimePerUpdate());
class DataflowPlan {
 public:
  /// Returns what the update of a node costs, in any unit of time.
  using NodeCost = std::function<double(NodeId)>;

  /// The nodes of one level on one worker. A worker updates its groups in order of level.
  struct Group {
    std::uint32_t worker = 0;     ///< its number
    std::uint32_t level = 0;      ///< see FindLevels
    std::vector<NodeId> nodes{};  ///< ascending
  };
  /// One frame of a published field.
  struct Message {
    std::size_t group = 0;       ///< whose values it has, by its position among the groups
    std::uint32_t to = 0;        ///< the worker that receives it
    std::size_t num_values = 0;  ///< one for each node that `to` reads
    std::uint32_t network = 0;   ///< along which it goes
  };
  /// Groups that wait for each other: each for the one before it, and the first for the last, in a later update.
  struct Cycle {
    std::vector<std::size_t> groups{};  ///< by position among the groups, in the order in which they are updated
    double time = 0;                    ///< that it takes
    std::uint64_t num_updates = 1;      ///< by how many updates its groups are further then

    /// Returns the time between two updates.
    double TimePerUpdate() const { return time / static_cast<double>(num_updates); }
  };

  /// Throws uit::InputError if the delays are not allowed; see EdgeDelays and FindLevels.
  DataflowPlan(const Topology& graph, const EdgeDelays& delays, const Placement& placement)
      : DataflowPlan({&graph}, {delays}, placement) {}
  /// The same for several networks over the same nodes, with period 1. `delays` are by network. Throws likewise.
  DataflowPlan(const std::vector<const Topology*>& networks, const std::vector<EdgeDelays>& delays, const Placement& placement);

  /// Returns the groups, by worker and level.
  const std::vector<Group>& Groups() const { return groups_; }
  /// Returns the messages of each update, by group, network and receiver.
  const std::vector<Message>& Messages() const { return messages_; }
  /// Returns the number of values in all messages of an update.
  std::size_t NumValues() const;
  /// Returns the number of bytes that an update of one field sends, with all that belongs to frames: a header each and, if every
  /// edge has delay 1, a note. Once a node has stayed silent, its worker's frames have 8 bytes more for each value.
  std::size_t NumBytes(std::size_t value_bytes) const { return NumValues() * value_bytes + messages_.size() * frame_bytes_; }
  /// Returns the cycle that takes the longest time per update; if there are several, one of them. A node takes `node_cost(id)`, 1 if
  /// it is empty, and a message takes `message_cost` to arrive. So this is the critical path of a long run in which each worker waits
  /// for what it needs and for nothing else. To make the run faster, make this cycle faster. Throws uit::InputError if a cost is
  /// negative, infinite or no number.
  Cycle CriticalCycle(const NodeCost& node_cost = {}, double message_cost = 0) const;
  /// Returns the time between two updates in such a run, that is, CriticalCycle().TimePerUpdate().
  double TimePerUpdate(const NodeCost& node_cost = {}, double message_cost = 0) const {
    return CriticalCycle(node_cost, message_cost).TimePerUpdate();
  }
  /// Writes a graph of the groups in DOT, for Graphviz: a box per group, an arrow for what it needs. Dashed arrows are of an earlier
  /// update.
  void WriteDot(std::ostream& to) const;

 private:
  struct Need {
    std::size_t from = 0;    // a group on another worker
    std::uint32_t back = 0;  // how many updates before
    auto operator<=>(const Need&) const = default;
  };

  void AddGroups(const std::vector<std::uint32_t>& levels, const Placement& placement);
  void AddMessages(const std::vector<const Topology*>& networks, const Placement& placement);
  void AddNeeds(const Topology& network, const std::vector<std::uint16_t>& delays, const Placement& placement);
  /// Returns what each group waits for, with `back`: the groups that it needs, and the one before it on its worker.
  std::vector<std::vector<Need>> Waits() const;
  /// Follows groups, each to the one because of which it waits. Returns the groups of a cycle, from one that waits for an earlier
  /// update on; nothing if there is none.
  static std::vector<std::size_t> FindCycle(const std::vector<const Need*>& because);

  std::vector<Group> groups_;
  std::vector<std::size_t> group_of_;     // by node
  std::vector<Message> messages_;
  std::vector<std::vector<Need>> needs_;  // by group, ascending
  std::size_t frame_bytes_ = 0;           // of a frame beside its values
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/placement/dataflow_plan.ipp>
#endif
