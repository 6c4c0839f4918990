#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <netuit/checkpoint/block_route.hpp>
#include <netuit/checkpoint/manifest.hpp>
#include <netuit/checkpoint/older_values.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/worker_graph.hpp>
#include <uit/config.hpp>
#include <uit/link/world.hpp>

namespace netuit::detail {

/// Where the values of a mesh's nodes and edges are in this process, and how they get to and from the blocks of a file. Routes are
/// made when they are first asked for, which is collective.
class CheckpointSite {
 public:
  explicit CheckpointSite(const Mesh& mesh) : CheckpointSite(mesh, mesh.GetWorld()) {}
  /// For a mesh that has lost processes: `world` has those that are left. Other processes' nodes and edges are then nowhere.
  CheckpointSite(const Mesh& mesh, const uit::World& world);

  const BlockRoute& Nodes();
  /// Those of the nodes come first.
  const BlockRoute& NodesAndGhosts();
  /// Returns the slot of a position of Nodes or NodesAndGhosts.
  std::size_t Slot(std::size_t position) const { return slots_[position]; }
  std::size_t NumNodes() const { return mesh_.NumLocalNodes(); }

  /// Returns where the older values are of fields that are published along these networks.
  const OlderValues& Older(const std::vector<std::uint32_t>& along);

  const BlockRoute& Inputs(std::uint32_t network);
  BlockRoute Outputs(std::uint32_t network) const { return Edges(network, &WorkerGraph::out_edges); }
  /// Returns the process's number of the input at a position of Inputs.
  std::size_t Input(std::uint32_t network, std::size_t position) const { return input_numbers_[network][position]; }

  /// Returns the size and digest of a network of the mesh. Collective.
  SavedNetwork Describe(std::uint32_t network) const;

 private:
  BlockRoute Edges(std::uint32_t network, std::vector<EdgeId> WorkerGraph::*edges) const;

  const Mesh& mesh_;
  uit::World world_;
  std::vector<std::uint64_t> ids_;  // of nodes, then of ghosts
  std::vector<std::size_t> slots_;  // likewise
  std::vector<std::vector<std::size_t>> input_numbers_;  // by network
  std::optional<BlockRoute> nodes_;
  std::optional<BlockRoute> nodes_and_ghosts_;
  std::vector<std::optional<BlockRoute>> inputs_;  // by network
  std::map<std::vector<std::uint32_t>, OlderValues> older_;  // by networks
};

/// Returns what a checkpoint says of a field, but for what depends on its values.
SavedValues DescribeField(const Mesh& mesh, std::size_t number);
/// Returns what a checkpoint says of a layer's messages, likewise, or nothing if the layer carries none.
std::optional<SavedValues> DescribeMessages(const Mesh& mesh, std::size_t number);

}  // namespace netuit::detail

#if !UIT_COMPILED
#include <netuit/checkpoint/checkpoint_site.ipp>
#endif
