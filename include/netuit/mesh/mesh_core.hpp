#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh_options.hpp>
#include <netuit/mesh/network_part.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/mesh/worker_graph.hpp>
#include <netuit/mesh/peer_table.hpp>
#include <uit/config.hpp>
#include <uit/link/world.hpp>
#include <uit/team/team.hpp>

namespace uit {
class Fabric;
}  // namespace uit

namespace netuit {

class CutLayer;
class LayerBase;
struct LayerSite;
class ProcessBarrier;
class StatusBoard;

namespace detail {

class CaptureStore;
struct CutRule;
class SharedBase;
class TurnOrder;

}  // namespace detail

/// Networks over the same nodes, of each of which this process has its part.
struct DistributedNetworks {
  std::vector<ProcessGraph> graphs;    ///< by network; at least one
  std::vector<std::uint64_t> periods;  ///< by network, in updates
  std::vector<std::string> names;      ///< by network
};

/// The part of a mesh that does not depend on value types: the partitions of this process, the layers that connect them to
/// others, and the transport of frames. The run loop uses meshes only through this class.
class MeshCore {
 public:
  /// Takes the graphs of the networks. Collective. Throws on every process if an option is invalid.
  MeshCore(const uit::Team& team, DistributedNetworks& networks, MeshOptions options);
  MeshCore(const MeshCore&) = delete;
  MeshCore& operator=(const MeshCore&) = delete;
  /// Closes the mesh if Close has not been called.
  ~MeshCore();

  /// Ends the connections to the other processes and releases the links. Collective. Returns false if a process does not answer
  /// within ten seconds (two during stack unwinding). Returns false at once if a process was lost before or has ended.
  bool Close();

  /// Returns the number of nodes of the whole graph.
  NodeId NumNodes() const { return num_nodes_; }
  /// Returns the number of directed edges of the whole graph, over all networks.
  EdgeId NumEdges() const { return num_edges_; }
  /// Returns the number of directed edges of a network of the whole graph.
  EdgeId NumEdges(Network network) const { return num_edges_by_network_[network.number]; }
  /// Returns the number of nodes of this process.
  std::size_t NumLocalNodes() const { return num_local_; }
  /// Returns the number of threads of each process.
  std::uint32_t NumThreads() const { return num_threads_; }
  /// Returns the number of networks.
  std::uint32_t NumNetworks() const { return static_cast<std::uint32_t>(num_inputs_.size()); }
  /// Returns the processes of the mesh.
  const uit::World& GetWorld() const { return world_; }

  /// Returns the id of a node of this process.
  NodeId Id(std::size_t local) const;
  /// Returns the label of a node of this process in the graph's file.
  std::string Label(std::size_t local) const;

  /// Adds a layer and joins its edges. Every process adds the same layers in the same order, between runs.
  void AddLayer(std::unique_ptr<LayerBase> layer);
  /// Opens the links for layers added since the last call. Collective. Throws on every process if it fails. A run begins with
  /// it.
  void Connect();

  /// Opens what carries awaited frames, in layers that have not got it yet. Call it before Connect. Every process calls it
  /// between the same runs.
  void JoinAwaited();

  /// Returns Fabric::UnsharedExchanges, or nothing if it is unchanged since the last call. So users are told once.
  std::map<std::size_t, std::size_t> TakeUnsharedExchanges();

  /// Returns the partitions of this process, by thread.
  const std::vector<std::unique_ptr<Partition>>& Partitions() const { return partitions_; }
  /// Returns the layers in the order in which they were added.
  const std::vector<std::unique_ptr<LayerBase>>& Layers() const { return layers_; }
  /// Returns the team on which the mesh was made.
  const uit::Team& GetTeam() const { return team_; }
  /// Returns the threads that update the nodes: the team's. Throws uit::Error if they cannot be started.
  uit::ThreadPool& Threads() { return team_.Threads(); }
  /// Returns the object that moves frames between processes.
  uit::Fabric& GetFabric() { return *fabric_; }
  /// Returns the barrier between processes.
  ProcessBarrier& GetBarrier() { return *barrier_; }
  /// Returns the transports that lead to the other processes.
  const PeerTable& GetPeerTable() const { return peer_table_; }
  /// Returns the mesh's options.
  const MeshOptions& Options() const { return options_; }
  /// Whether frames carry time stamps.
  bool IsTraced() const { return options_.is_traced; }
  /// Adds copies of a field; see Mesh::Capture.
  detail::CaptureStore& AddCapture(const std::byte* values, std::size_t num_bytes, std::uint64_t every, std::size_t most);
  /// Returns the copies of fields, in the order in which they were added.
  const std::vector<std::unique_ptr<detail::CaptureStore>>& Captures() const { return captures_; }
  /// Forgets copies that only some workers have made. Collective.
  void AlignCaptures();

  /// Adds a reduction over cuts; see Mesh::AddCutReduction.
  detail::CutRule& AddCutRule(detail::CutRule rule);
  /// Returns the reductions over cuts, in the order in which they were added.
  const std::vector<std::unique_ptr<detail::CutRule>>& CutRules() const { return cut_rules_; }
  /// Adds a layer that copies a field at cuts.
  void AddCutLayer(std::unique_ptr<CutLayer> layer);
  /// Returns those layers.
  const std::vector<CutLayer*>& CutLayers() const { return cut_layers_; }

  /// Adds an object that the nodes of this process share; see Mesh::AddShared.
  void AddShared(std::unique_ptr<detail::SharedBase> object);
  /// Returns those objects.
  const std::vector<std::unique_ptr<detail::SharedBase>>& SharedObjects() const { return shared_; }
  /// Returns the turns for objects that nodes use in sequence. The first call makes them.
  detail::TurnOrder& AddTurns();
  /// Returns those turns, or null if there are none.
  detail::TurnOrder* Turns() { return turns_.get(); }

  /// Returns the board where workers post their status, or null unless MeshOptions::is_watched.
  StatusBoard* Board() { return board_.get(); }
  /// Returns a number that no earlier run of this mesh has had.
  std::uint64_t NextRun() { return ++num_runs_; }
  /// Returns the first stamp of the next run: above all those of earlier runs, and the same on every process.
  std::uint64_t NextStamp() const { return next_stamp_; }
  /// For runs: sets that stamp.
  void SetNextStamp(std::uint64_t stamp) { next_stamp_ = stamp; }
  /// Returns the number of updates made so far, with those before the checkpoint that the mesh was loaded from: in each run, those of
  /// the worker that made the most. The same on every process, unless one was lost.
  std::uint64_t NumUpdates() const { return num_updates_; }
  /// For runs and checkpoints: sets that number.
  void SetNumUpdates(std::uint64_t num_updates) { num_updates_ = num_updates; }
  /// Returns the seed of the last run, or of the checkpoint that the mesh was loaded from; 1 if there was none.
  std::uint64_t Seed() const { return seed_; }
  /// For runs and checkpoints: sets that seed, if one is given. Returns it.
  std::uint64_t UseSeed(std::optional<std::uint64_t> seed) { return seed_ = seed.value_or(seed_); }
  /// Whether the older values that edges with delays above 1 show are those of the last run, so that a run by Dataflow can go on.
  bool HasOlderValues() const { return has_older_values_; }
  /// For runs and checkpoints: sets that.
  void SetHasOlderValues(bool has_some) { has_older_values_ = has_some; }
  /// Sets whether a replay lacks messages that the recorded run left unread.
  void SetLacksUnread(bool lacks) { lacks_unread_ = lacks; }
  /// Whether the last replay of a best-effort run lacks such messages.
  bool LacksUnread() const { return lacks_unread_; }
  /// Notes that a peer was lost. Close will then not wait for any process.
  void Break();
  /// Whether the mesh can run: it is not closed and has lost no peer.
  bool IsOpen() const { return !is_closed_ && !is_broken_; }

  /// Returns the number of slots of nodes in this process; see slot_grain.
  std::size_t NumOwnSlots() const { return num_own_slots_; }
  /// Returns the number of slots of nodes and ghosts in this process.
  std::size_t NumSlots() const { return num_slots_; }
  /// Returns the number of slots with those that runs by Dataflow use besides; see DelayedSlots.
  std::size_t NumSlotsByUpdate() const { return num_slots_by_update_; }
  /// Chooses whether edges show values with their delays. Between runs.
  void UseDelays(bool is_on);
  /// Returns the array length for a value per input of a network in this process.
  std::size_t NumInputs(Network network) const { return num_inputs_[network.number]; }
  /// Returns the array length for a value per output of a network in this process.
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
  /// Checks options that would otherwise fail only on processes that have edges, and leave the others waiting.
  static void CheckOptions(const MeshOptions& options);
  /// Returns where layers join their edges.
  LayerSite Site();
  /// Makes a partition for each thread, with its part of every network.
  void MakePartitions(std::vector<ProcessGraph>& graphs, const std::vector<std::uint64_t>& periods);
  /// Lays out the slots for delays. `max_delay` is the longest of the mesh.
  void LayOutDelays(std::uint64_t max_delay);
  const Partition& PartitionOf(std::size_t local) const;

  uit::Team team_;
  uit::World world_;
  uit::World private_world_;  // the barrier's streams belong to it
  MeshOptions options_;
  PeerTable peer_table_;
  NodeId num_nodes_ = 0;
  EdgeId num_edges_ = 0;
  std::vector<EdgeId> num_edges_by_network_;
  std::uint32_t num_threads_ = 1;
  std::size_t num_local_ = 0;
  std::size_t num_own_slots_ = 0;
  std::size_t num_slots_ = 0;
  std::size_t num_slots_by_update_ = 0;
  std::vector<std::size_t> num_inputs_;   // by network
  std::vector<std::size_t> num_outputs_;  // by network
  std::vector<std::unique_ptr<std::uint32_t[]>> in_slots_;  // by network, then by input; see NetworkPart
  std::vector<std::unique_ptr<std::uint32_t[]>> delayed_slots_;  // likewise; see DelayedSlots
  std::unique_ptr<uit::Fabric> fabric_;
  std::unique_ptr<ProcessBarrier> barrier_;
  std::unique_ptr<StatusBoard> board_;
  std::vector<std::unique_ptr<Partition>> partitions_;
  std::vector<std::unique_ptr<LayerBase>> layers_;  // destroyed before the partitions and fabric, to which they refer
  std::vector<std::unique_ptr<detail::CaptureStore>> captures_;
  std::vector<std::unique_ptr<detail::CutRule>> cut_rules_;
  std::vector<CutLayer*> cut_layers_;
  std::vector<std::unique_ptr<detail::SharedBase>> shared_;
  std::unique_ptr<detail::TurnOrder> turns_;
  std::size_t num_awaited_ = 0;  // layers that can carry awaited frames
  std::uint64_t num_runs_ = 0;
  std::uint64_t next_stamp_ = 1;  // 0: no run
  std::uint64_t num_updates_ = 0;
  std::uint64_t seed_ = 1;
  std::map<std::size_t, std::size_t> told_unshared_;  // see TakeUnsharedExchanges
  bool lacks_unread_ = false;
  bool has_older_values_ = false;
  bool is_connected_ = false;
  bool is_broken_ = false;
  bool is_closed_ = false;
  bool is_clean_ = false;
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/mesh_core.ipp>
#endif
