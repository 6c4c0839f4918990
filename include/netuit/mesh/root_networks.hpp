#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <netuit/graph/edge_delays.hpp>
#include <netuit/graph/graph.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh_core.hpp>
#include <netuit/mesh/worker_graph.hpp>
#include <netuit/placement/placement.hpp>
#include <uit/config.hpp>
#include <uit/link/world.hpp>
#include <uit/team/team.hpp>

namespace netuit {

/// Options of a network.
struct NetworkOptions {
  std::uint64_t period = 1;  ///< in updates: the network is due when the update's number is a multiple of it
  EdgeDelays delays{};       ///< for runs by Dataflow, which others ignore; only with period 1
};

/// One of a mesh's networks, with its name.
struct NamedNetwork {
  std::string name;          ///< as given to Mesh::GetNetwork
  Graph graph;               ///< its edges; nodes of two networks are the same if they have the same label
  NetworkOptions options{};  ///< when its edges show new values
};

namespace detail {

/// The networks of a mesh after rank 0 has read, aligned and placed them. Empty on the other ranks.
class RootNetworks {
 public:
  /// Collective. If reading, aligning or placing fails, every process throws: rank 0 throws the cause, the others RootFailed.
  /// METIS places the nodes unless a placement is given; see MeshOptions::placement.
  RootNetworks(const uit::Team& team, const std::vector<NamedNetwork>& networks, const std::optional<Placement>& placement);

  /// Sends each process its part. Collective. Throws on every process if the placement does not fit.
  DistributedNetworks Distribute() const;

 private:
  bool HaveSameNodes() const;
  void FindDelays(const std::vector<NamedNetwork>& networks);

  uit::World world_;
  Topology nothing_;
  std::vector<Topology> aligned_;
  std::vector<const Topology*> graphs_;
  std::vector<std::uint64_t> periods_;
  std::vector<std::string> names_;
  std::vector<NetworkDelays> delays_;
  Placement placement_;
};

}  // namespace detail

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/root_networks.ipp>
#endif
