#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <netuit/checkpoint/block_route.hpp>
#include <netuit/mesh/mesh.hpp>
#include <uit/config.hpp>

namespace netuit::detail {

/// The older values of a published field: what a node published two or more updates before, as far as an edge with a delay above 1
/// may still show it. A node has one for each delay from 2 to the longest of its outputs. They are numbered node by node, from the
/// youngest to the oldest, so that the numbers do not depend on the placement.
class OlderValues {
 public:
  /// Of a field that is published along these networks. `nodes` leads to the mesh's nodes in the order of MeshCore::ForEachNode,
  /// `nodes_and_ghosts` to these and then to the ghosts; `slots` has their slots. Collective.
  OlderValues(const Mesh& mesh, const std::vector<std::uint32_t>& along, const BlockRoute& nodes,
              const BlockRoute& nodes_and_ghosts, const std::vector<std::size_t>& slots);

  /// Returns the number of older values of all nodes.
  std::uint64_t NumValues() const { return num_values_; }
  /// Returns how many each node in this process's block of nodes has.
  const std::vector<std::uint64_t>& Counts() const { return counts_; }
  /// Leads to the values. Only if there are any.
  const BlockRoute& Route() const { return *route_; }
  /// Returns the slot of a position of the route.
  std::size_t Slot(std::size_t position) const { return slots_[position]; }

 private:
  std::uint64_t num_values_ = 0;
  std::vector<std::uint64_t> counts_;
  std::vector<std::size_t> slots_;
  std::optional<BlockRoute> route_;
};

}  // namespace netuit::detail

#if !UIT_COMPILED
#include <netuit/checkpoint/older_values.ipp>
#endif
