#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <ostream>
#include <utility>
#include <vector>

#include <netuit/graph/edge_delays.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/placement/placement.hpp>
#include <uit/config.hpp>

namespace netuit {

/// What each update of a run by Dataflow does on a network with edge delays: who updates what in which order, and who sends what to
/// whom. It follows from the graph and the placement alone, so it can be worked out for any number of workers, without processes.
///
///     const netuit::DataflowPlan plan{graph, netuit::GaussSeidel(), placement};
///     std::printf("%zu messages of %zu values; at best %.1f node updates after one another\n", plan.Messages().size(),
///                 plan.NumValues(), plan.TimePerUpdate());
class DataflowPlan {
 public:
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
  };

  /// Throws uit::InputError if the delays are not allowed; see EdgeDelays and FindLevels.
  DataflowPlan(const Topology& graph, const EdgeDelays& delays, const Placement& placement);

  /// Returns the groups, by worker and level.
  const std::vector<Group>& Groups() const { return groups_; }
  /// Returns the messages of each update, by group and receiver.
  const std::vector<Message>& Messages() const { return messages_; }
  /// Returns the number of values in all messages of an update.
  std::size_t NumValues() const;
  /// Returns the time between two updates of a worker in the long run, if each worker waits for what it needs and for nothing else:
  /// on average over 64 updates after 64 others. A node takes `node_cost(id)`, 1 if it is empty, and a message takes `message_cost`
  /// to arrive.
  double TimePerUpdate(const std::function<double(NodeId)>& node_cost = {}, double message_cost = 0) const;
  /// Writes a graph of the groups in DOT, for Graphviz: a box per group, an arrow for what it needs. Dashed arrows are of an earlier
  /// update.
  void WriteDot(std::ostream& to) const;

 private:
  struct Need {
    std::size_t from = 0;    // a group on another worker
    std::uint32_t back = 0;  // how many updates before
    auto operator<=>(const Need&) const = default;
  };

  std::vector<Group> groups_;
  std::vector<Message> messages_;
  std::vector<std::vector<Need>> needs_;  // by group
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/placement/dataflow_plan.ipp>
#endif
