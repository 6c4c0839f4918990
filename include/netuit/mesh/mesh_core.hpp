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
#include <netuit/mesh/place_graph.hpp>
#include <netuit/mesh/status_board.hpp>
#include <netuit/mesh/surroundings.hpp>
#include <netuit/placement/placement.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/team/thread_pool.hpp>
#include <uit/transport/process.hpp>
#include <uit/wire/world.hpp>

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
  MeshCore(const uit::World& world, const PlacedNetworks& placed, MeshOptions options)
      : world_(world), options_(std::move(options)) {
    CheckOptions(options_);
    std::vector<ProcessGraph> graphs;
    for (const Topology* const topology : placed.networks) graphs.push_back(ScatterGraph(*topology, *placed.placement, world_));
    num_threads_ = static_cast<std::uint32_t>(graphs.front().num_threads);
    num_nodes_ = static_cast<NodeId>(graphs.front().num_nodes);
    for (const ProcessGraph& graph : graphs) num_edges_ += graph.num_edges;
    MakePartitions(graphs, placed.periods);
    fabric_ = std::make_unique<uit::Fabric>(
        world_, uit::FabricOptions{.num_workers = num_threads_,
                                   .num_slots = options_.num_slots,
                                   .max_pace = options_.max_pace,
                                   .shares_memory = options_.shares_memory});
    surroundings_ = Surroundings(world_, options_.shares_memory, options_.is_traced);
    private_world_ = world_.Duplicate();
    barrier_ = std::make_unique<ProcessBarrier>(private_world_, *fabric_, options_.shares_memory);
    if (options_.is_watched) board_ = std::make_unique<StatusBoard>(*fabric_, num_threads_);
  }
  MeshCore(const MeshCore&) = delete;
  MeshCore& operator=(const MeshCore&) = delete;
  /// Closes, if that has not been done.
  ~MeshCore() {
    try {
      Close();
    } catch (const std::exception& trouble) {  // a destructor has nobody to tell; Close() has
      world_.Process()->Fail(trouble.what());
    } catch (...) {
      world_.Process()->Fail("a close threw what is no std::exception");
    }
  }

  /// Says goodbye to the other processes and gives the links back. Collective. False if one of them did not answer
  /// within ten seconds, two while an exception is on its way, or, at once, if one had been lost before or has ended.
  bool Close() {
    if (is_closed_) return is_clean_;
    is_closed_ = true;
    if (is_broken_) {  // nobody is waited for
      fabric_->Close(uit::Now());
      barrier_->Close(uit::Now());
    } else {
      const std::chrono::seconds patience(std::uncaught_exceptions() == 0 ? 10 : 2);
      is_clean_ = fabric_->Close(uit::After(patience)) && barrier_->Close(uit::After(patience)) && private_world_.Release();
    }
    return is_clean_;
  }

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
  NodeId Id(std::size_t local) const {
    const Partition& part = PartitionOf(local);
    return part.graph.nodes[local - part.first_local];
  }
  /// What the graph's file calls a node of this process.
  std::string Label(std::size_t local) const {
    const Partition& part = PartitionOf(local);
    return part.graph.Label(local - part.first_local);
  }

  /// Adds a layer and wires it. The same layers in the same order on every process, between runs.
  void AddLayer(std::unique_ptr<LayerBase> layer) {
    const WiringSite site{.partitions = partitions_,
                          .fabric = *fabric_,
                          .rank = world_.Rank(),
                          .edge = {.depth = options_.depth,
                                   .buffer_bytes = options_.buffer_bytes,
                                   .max_message_bytes = options_.max_message_bytes,
                                   .max_age = options_.max_age},
                          .surroundings = surroundings_,
                          .is_traced = options_.is_traced};
    layer->Wire(site, static_cast<std::uint32_t>(layers_.size()));
    for (std::size_t thread = 0; thread < partitions_.size(); ++thread)
      partitions_[thread]->layers.push_back(&layer->Part(thread));
    layers_.push_back(std::move(layer));
    is_connected_ = false;
  }
  /// Opens the links that layers need which have been added since the last time. Collective. Throws on every process if
  /// that cannot be. A run begins with it.
  void Connect() {
    if (is_connected_) return;
    fabric_->Connect();
    is_connected_ = true;
  }

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
  uit::ThreadPool& Threads() {
    if (!threads_) {
      const std::vector<std::size_t> here = world_.NodeRanks();
      const auto position = static_cast<std::size_t>(std::ranges::find(here, world_.Rank()) - here.begin());
      threads_.emplace(num_threads_, position == here.size() ? 0 : position * num_threads_);
    }
    return *threads_;
  }
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
  static void CheckOptions(const MeshOptions& options) {
    constexpr std::size_t max_depth = 65'535;  // what every duct holds to in mode 0
    if (options.depth == 0 || options.depth > max_depth)
      throw uit::InputError("a mesh has a depth between 1 and " + std::to_string(max_depth));
    if (options.num_slots == 0 || options.num_slots > uit::Fabric::max_requests / 4)
      throw uit::InputError("a mesh has between 1 and " + std::to_string(uit::Fabric::max_requests / 4) + " slots per peer");
  }
  /// A partition for each thread, with its part of every network.
  void MakePartitions(std::vector<ProcessGraph>& graphs, const std::vector<std::uint64_t>& periods) {
    num_inputs_.resize(graphs.size());
    num_outputs_.resize(graphs.size());
    for (std::size_t thread = 0; thread < num_threads_; ++thread) {
      for (std::size_t number = 0; number < graphs.size(); ++number) {
        PlaceGraph& graph = graphs[number].places[thread];
        const std::size_t num_inputs = RoundUpSlots(graph.sources.size());
        const std::size_t num_outputs = RoundUpSlots(graph.targets.size());
        auto part = std::make_unique<NetworkPart>(std::move(graph), periods[number], num_own_slots_, num_inputs_[number],
                                                  num_outputs_[number]);
        num_inputs_[number] += num_inputs;
        num_outputs_[number] += num_outputs;
        if (number == 0) partitions_.push_back(std::make_unique<Partition>(std::move(part), num_local_));
        else partitions_.back()->networks.push_back(std::move(part));
      }
      num_local_ += partitions_.back()->NumNodes();
      num_own_slots_ += RoundUpSlots(partitions_.back()->NumNodes());
    }
    num_slots_ = num_own_slots_;
    for (std::size_t number = 0; number < graphs.size(); ++number) {
      for (const auto& partition : partitions_) {
        NetworkPart& part = *partition->networks[number];
        part.PlaceGhosts(num_slots_);
        num_slots_ += RoundUpSlots(part.NumGhosts());
      }
    }
  }
  const Partition& PartitionOf(std::size_t local) const {
    UIT_ASSERT(local < num_local_, "there are only so many local nodes");
    const auto after = std::ranges::upper_bound(partitions_, local, {}, [](const auto& part) { return part->first_local; });
    return **std::prev(after);
  }

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
  std::unique_ptr<uit::Fabric> fabric_;
  std::unique_ptr<ProcessBarrier> barrier_;
  std::unique_ptr<StatusBoard> board_;
  std::vector<std::unique_ptr<Partition>> partitions_;
  std::vector<std::unique_ptr<LayerBase>> layers_;  // destroyed before what they refer to: partitions and fabric
  std::optional<uit::ThreadPool> threads_;
  std::uint64_t num_runs_ = 0;
  std::map<std::size_t, std::size_t> told_unshared_;  // see TakeUnsharedExchanges
  bool is_connected_ = false;
  bool is_broken_ = false;
  bool is_closed_ = false;
  bool is_clean_ = false;
};

}  // namespace netuit
