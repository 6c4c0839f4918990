#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <netuit/barrier/process_barrier.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/layer_base.hpp>
#include <netuit/mesh/mesh_options.hpp>
#include <netuit/mesh/network_part.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/mesh/worker_graph.hpp>
#include <netuit/mesh/status_board.hpp>
#include <netuit/mesh/surroundings.hpp>
#include <netuit/placement/placement.hpp>
#include <uit/config.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/team/thread_pool.hpp>
#include <uit/transport/process.hpp>
#include <uit/link/world.hpp>

namespace netuit {

/// Networks over the same nodes, and where each node is updated. Only rank 0's topologies and placement are looked at.
struct PlacedNetworks {
  std::vector<const Topology*> networks;  ///< as many everywhere
  std::vector<std::uint64_t> periods;     ///< by network, in updates
  const Placement* placement;             ///< of the nodes
};

/// What a mesh is made of, whatever its nodes hold: the partitions of this process, the layers that join them to others,
/// and what moves frames. The run loop knows meshes by this alone.
class MeshCore {
 public:
  /// Scatters the networks. Collective; throws on every process if the placement does not fit, or the options cannot be.
  MeshCore(const uit::World& world, const PlacedNetworks& placed, MeshOptions options);
  MeshCore(const MeshCore&) = delete;
  MeshCore& operator=(const MeshCore&) = delete;
  /// Closes, if that has not been done.
  ~MeshCore();

  /// Says goodbye to the other processes and gives the links back. Collective. False if one of them did not answer
  /// within ten seconds, two while an exception is on its way, or, at once, if one had been lost before or has ended.
  bool Close();

  /// Nodes of the whole graph.
  NodeId NumNodes() const { return num_nodes_; }
  /// Directed edges of the whole graph, in all networks.
  EdgeId NumEdges() const { return num_edges_; }
  /// Nodes of this process.
  std::size_t NumLocalNodes() const { return num_local_; }
  /// Threads of each process.
  std::uint32_t NumThreads() const { return num_threads_; }
  /// How many sets of edges there are.
  std::uint32_t NumNetworks() const { return static_cast<std::uint32_t>(num_inputs_.size()); }
  /// The processes it is on.
  const uit::World& GetWorld() const { return world_; }

  /// The global number of a node of this process.
  NodeId Id(std::size_t local) const;
  /// What the graph's file calls a node of this process.
  std::string Label(std::size_t local) const;

  /// Adds a layer and wires it. The same layers in the same order on every process, between runs.
  void AddLayer(std::unique_ptr<LayerBase> layer);
  /// Opens the links that layers need which have been added since the last time. Collective. Throws on every process if
  /// that cannot be. A run begins with it.
  void Connect();

  /// What Fabric::UnsharedExchanges says, or nothing if it is the same as at the last call: so that users are told once.
  std::map<std::size_t, std::size_t> TakeUnsharedExchanges() {
    const auto& unshared = fabric_->UnsharedExchanges();
    if (unshared == told_unshared_) return {};
    return told_unshared_ = unshared;
  }

  /// The partitions of this process, by thread.
  const std::vector<std::unique_ptr<Partition>>& Partitions() const { return partitions_; }
  /// The layers, in the order in which they were added.
  const std::vector<std::unique_ptr<LayerBase>>& Layers() const { return layers_; }
  /// The threads that update the nodes; they live as long as the mesh. Throws uit::Error if they cannot be started.
  uit::ThreadPool& Threads();
  /// What moves frames between processes.
  uit::Fabric& GetFabric() { return *fabric_; }
  /// Where processes meet.
  ProcessBarrier& GetBarrier() { return *barrier_; }
  /// What carries messages to other processes.
  const Surroundings& GetSurroundings() const { return surroundings_; }
  /// What was chosen for the mesh.
  const MeshOptions& Options() const { return options_; }
  /// Whether frames bear stamps.
  bool IsTraced() const { return options_.is_traced; }
  /// Where workers say how they are doing; null unless the mesh is watched.
  StatusBoard* Board() { return board_.get(); }
  /// A number that no run of this mesh has had.
  std::uint64_t NextRun() { return ++num_runs_; }
  /// A replay did not bring the messages that the recorded run left unread, or it did.
  void SetLacksUnread(bool lacks) { lacks_unread_ = lacks; }
  /// Whether the last replay of a best-effort run did not.
  bool LacksUnread() const { return lacks_unread_; }
  /// A peer was lost, so nobody is told goodbye.
  void Break() {
    is_broken_ = true;
    world_.Process()->Break();
  }
  /// Whether it can run: not closed, and no peer was lost.
  bool IsOpen() const { return !is_closed_ && !is_broken_; }

  /// Slots of nodes in this process; see slot_grain.
  std::size_t NumOwnSlots() const { return num_own_slots_; }
  /// Slots of nodes and ghosts in this process.
  std::size_t NumSlots() const { return num_slots_; }
  /// How many values a value per input of a network takes in this process.
  std::size_t NumInputs(Network network) const { return num_inputs_[network.number]; }
  /// Likewise per output.
  std::size_t NumOutputs(Network network) const { return num_outputs_[network.number]; }
  /// Calls `visit(local number, slot, id)` for each node of this process.
  template <std::invocable<std::size_t, std::size_t, NodeId> F>
  void ForEachNode(F&& visit) const {
    for (const auto& partition : partitions_) {
      for (std::size_t i = 0; i < partition->NumNodes(); ++i)
        visit(partition->first_local + i, partition->networks.front()->first_slot + i, partition->graph.nodes[i]);
    }
  }
  /// Calls `visit(slot, id)` for each ghost of this process.
  template <std::invocable<std::size_t, NodeId> F>
  void ForEachGhost(F&& visit) const {
    for (const auto& partition : partitions_) {
      for (const auto& network : partition->networks) {
        for (const NetworkPart::Ghosts& ghosts : network->ghosts)
          for (std::size_t i = 0; i < ghosts.ids.size(); ++i) visit(ghosts.first + i, ghosts.ids[i]);
      }
    }
  }
  /// Calls `visit(part)` for each worker's part of a network.
  template <std::invocable<const NetworkPart&> F>
  void ForEachPart(Network network, F&& visit) const {
    for (const auto& partition : partitions_) visit(*partition->networks[network.number]);
  }

 private:
  /// What would fail only where there are edges, and leave the other processes waiting.
  static void CheckOptions(const MeshOptions& options);
  /// A partition for each thread, with its part of every network.
  void MakePartitions(std::vector<ProcessGraph>& graphs, const std::vector<std::uint64_t>& periods);
  const Partition& PartitionOf(std::size_t local) const;

  uit::World world_;
  uit::World private_world_;  // whose streams are the barrier's
  MeshOptions options_;
  Surroundings surroundings_;
  NodeId num_nodes_ = 0;
  EdgeId num_edges_ = 0;
  std::uint32_t num_threads_ = 1;
  std::size_t num_local_ = 0;
  std::size_t num_own_slots_ = 0;
  std::size_t num_slots_ = 0;
  std::vector<std::size_t> num_inputs_;   // by network
  std::vector<std::size_t> num_outputs_;  // by network
  std::vector<std::unique_ptr<std::uint32_t[]>> in_slots_;  // by network, then by input: see NetworkPart
  std::unique_ptr<uit::Fabric> fabric_;
  std::unique_ptr<ProcessBarrier> barrier_;
  std::unique_ptr<StatusBoard> board_;
  std::vector<std::unique_ptr<Partition>> partitions_;
  std::vector<std::unique_ptr<LayerBase>> layers_;  // destroyed before what they refer to: partitions and fabric
  std::optional<uit::ThreadPool> threads_;
  std::uint64_t num_runs_ = 0;
  std::map<std::size_t, std::size_t> told_unshared_;  // see TakeUnsharedExchanges
  bool lacks_unread_ = false;
  bool is_connected_ = false;
  bool is_broken_ = false;
  bool is_closed_ = false;
  bool is_clean_ = false;
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/mesh_core.ipp>
#endif
