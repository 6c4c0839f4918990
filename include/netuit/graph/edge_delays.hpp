#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <uit/config.hpp>

namespace netuit {

/// The largest delay that an edge may have. Each node's value is kept once for every unit of the delays of its outputs.
inline constexpr std::uint16_t max_edge_delay = 1000;

/// How many updates later the edges of a network show what their sources have published, in a run by the schedule Dataflow: in
/// update t, an edge with delay d shows what its source published in update t - d. Before update d, it shows the source's value
/// at the start of the run, unless the run goes on from one before; see RunOptions::first_update.
///
/// An edge with delay 0 shows what its source publishes in the same update, so the source is updated first. Edges with delay 0
/// must not form a cycle.
///
///     netuit::Mesh mesh{team, {{"grid", netuit::MakeGrid(64, 64), {.delays = netuit::GaussSeidel()}}}};
class EdgeDelays {
 public:
  /// Delay 1 on every edge.
  EdgeDelays() = default;
  /// Delays that `of(source, target)` returns, for each edge once on rank 0. They must be between 0 and max_edge_delay.
  template <std::invocable<NodeId, NodeId> F>
    requires std::integral<std::invoke_result_t<F, NodeId, NodeId>>
  EdgeDelays(F of)  // NOLINT(google-explicit-constructor): a function of an edge's ends is a way to tell delays
      : find_([of = std::move(of)](const Topology& graph) {
          std::vector<std::int64_t> delays;
          for (EdgeId edge = 0; edge < graph.NumEdges(); ++edge)
            delays.push_back(static_cast<std::int64_t>(of(graph.Source(edge), graph.Target(edge))));
          return delays;
        }) {}
  /// Delays by edge, as `of(graph)` returns them.
  template <std::invocable<const Topology&> F>
  EdgeDelays(F of)  // NOLINT(google-explicit-constructor): as above
      : find_(std::move(of)) {}

  /// Returns the delays by edge, or nothing if all are 1. Throws uit::InputError if one of them is not allowed.
  std::vector<std::uint16_t> Of(const Topology& graph) const;

 private:
  std::function<std::vector<std::int64_t>(const Topology&)> find_;
};

/// Delays for which a run by Dataflow does what a serial loop over the nodes does that writes each value in place: an edge has
/// delay 0 if its source has the smaller number, else 1.
EdgeDelays GaussSeidel();
/// The same order of colours in place of numbers: nodes that are joined by an edge have different colours, and those of one colour
/// are updated at once. A graph whose nodes fall into two classes without edges inside, such as a grid, gets two colours.
EdgeDelays GaussSeidelByColor();

/// Returns a colour for each node, from 0, so that the ends of every edge differ, unless it is a loop. Takes the smallest that is
/// free, breadth first.
std::vector<std::uint32_t> ColorNodes(const Topology& graph);

/// Returns each node's level: the number of edges of the longest path that ends there and has edges with delay 0 only. `delays` are
/// by network and edge; the networks have the same nodes. Returns nothing if no edge has delay 0. Throws uit::InputError if such
/// edges form a cycle, and names its nodes.
std::vector<std::uint32_t> FindLevels(const std::vector<const Topology*>& networks,
                                      const std::vector<std::vector<std::uint16_t>>& delays);

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/graph/edge_delays.ipp>
#endif
