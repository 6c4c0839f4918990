#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <netuit/barrier/process_barrier.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/layer_base.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/mesh/place_graph.hpp>
#include <netuit/mesh/status_board.hpp>
#include <netuit/mesh/surroundings.hpp>
#include <netuit/placement/placement.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/transport/process.hpp>
#include <uit/wire/world.hpp>

namespace netuit {

/// What can be chosen when a mesh is wired. The same on every process.
struct MeshOptions {
  /// Messages that may wait on an edge of a unicast layer that keeps every one, or frames of one that accumulates; at
  /// most 65 535.
  std::size_t depth = 2;
  std::size_t num_slots = 16;  ///< frames per peer that may be sent and not acknowledged; see uit::FabricOptions
  std::uint32_t max_pace = uit::Wire::default_max_pace;  ///< polls left out at most between values for a peer that lags
  bool shares_memory = true;   ///< processes of one node talk through shared memory, not MPI
  bool is_traced = false;      ///< frames bear stamps, from which a run tells latencies: see RunOptions::quality
  bool is_watched = false;     ///< process 0 can be told how all workers are doing: see RunOptions::on_status

  // Of unicast layers that are aggregated, or whose messages have sizes of their own.
  std::size_t buffer_bytes = 65'536;       ///< of a frame to another process; see uit::Process
  std::size_t max_message_bytes = 65'536;  ///< of a message to another process, encoded; a larger one throws
  std::chrono::nanoseconds max_age{0};     ///< without barriers, frames leave when older; 0: at the end of each update
};

/// A topology, placed on threads and processes, and wired with one or more layers of messages.
///
///     struct Color : netuit::Multicast<unsigned> {};
///     netuit::Mesh<Color> mesh{topology, placement, session.World()};
///     mesh.Initialize<Color>([](netuit::NodeId node) { return node % 3; });
///     netuit::Run(mesh, {.duration = 5s}, [&](auto& node) { … });
///
/// Only rank 0's topology and placement are looked at; each process gets its own part. Nodes of this process are
/// numbered from 0 without gaps, those of a thread in a row, ascending by id.
class Mesh {
 public:
  /// Scatters the graph. Collective; throws on every process if the placement does not fit, or the options cannot be.
  Mesh(const Topology& topology, const Placement& placement, const uit::World& world = {}, MeshOptions options = {})
      : world_(world), options_(options) {
    CheckOptions(options);
    ProcessGraph graph = ScatterGraph(topology, placement, world);
    num_nodes_ = static_cast<NodeId>(graph.num_nodes);
    num_edges_ = graph.num_edges;
    num_threads_ = static_cast<std::uint32_t>(graph.num_threads);
    fabric_ = std::make_unique<uit::Fabric>(
        world_, uit::FabricOptions{.num_workers = num_threads_,
                                   .num_slots = options.num_slots,
                                   .max_pace = options.max_pace,
                                   .shares_memory = options.shares_memory});
    for (PlaceGraph& part : graph.places) {
      const std::size_t num_nodes = part.nodes.size();
      partitions_.push_back(std::make_unique<Partition>(std::move(part), num_local_));
      num_local_ += num_nodes;
    }
    surroundings_ = Surroundings(world_, options.shares_memory, options.is_traced);
    private_world_ = world_.Duplicate();
    barrier_ = std::make_unique<ProcessBarrier>(private_world_, *fabric_, options.shares_memory);
    if (options.is_watched) board_ = std::make_unique<StatusBoard>(*fabric_, num_threads_);
  }
  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;
  /// Closes, if that has not been done.
  ~Mesh() {
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
  /// Directed edges of the whole graph.
  EdgeId NumEdges() const { return num_edges_; }
  /// Nodes of this process.
  std::size_t NumLocalNodes() const { return num_local_; }
  /// Threads of each process.
  std::uint32_t NumThreads() const { return num_threads_; }
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

  /// Adds a layer and wires it. The same layers in the same order on every process, before Connect.
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
  }
  /// Opens the links that the layers need. Collective. Throws on every process if that cannot be.
  void Connect() { fabric_->Connect(); }

  /// Brings a value per node of this process to rank 0: there the result is by global node number, elsewhere it is
  /// empty. Collective. Wants as many values as there are local nodes.
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  std::vector<T> Gather(std::span<const T> values) const {
    UIT_ASSERT(values.size() == num_local_, "a gather needs a value per local node");
    uit::Bytes mine(num_local_ * (sizeof(NodeId) + sizeof(T)));
    std::byte* to = mine.data();
    for (std::size_t local = 0; local < num_local_; ++local) {
      const NodeId id = Id(local);
      std::memcpy(to, &id, sizeof id);
      std::memcpy(to + sizeof id, &values[local], sizeof(T));
      to += sizeof id + sizeof(T);
    }
    const std::vector<uit::Bytes> parts = world_.Gather(mine);
    std::vector<T> all(world_.IsRoot() ? num_nodes_ : 0);
    for (const uit::Bytes& part : parts) {
      for (std::size_t at = 0; at + sizeof(NodeId) + sizeof(T) <= part.size(); at += sizeof(NodeId) + sizeof(T)) {
        NodeId id = 0;
        std::memcpy(&id, part.data() + at, sizeof id);
        std::memcpy(&all[id], part.data() + at + sizeof id, sizeof(T));
      }
    }
    return all;
  }

  /// For the runner: the partitions of this process, by thread.
  std::vector<std::unique_ptr<Partition>>& Partitions() { return partitions_; }
  /// The layers, in the order in which they were added.
  const std::vector<std::unique_ptr<LayerBase>>& Layers() const { return layers_; }
  /// For the runner: what moves frames between processes.
  uit::Fabric& GetFabric() { return *fabric_; }
  /// For the runner: where processes meet.
  ProcessBarrier& GetBarrier() { return *barrier_; }
  /// What carries messages to other processes.
  const Surroundings& GetSurroundings() const { return surroundings_; }
  /// What was chosen for the mesh.
  const MeshOptions& Options() const { return options_; }
  /// Whether frames bear stamps.
  bool IsTraced() const { return options_.is_traced; }
  /// For the runner: where workers say how they are doing; null unless the mesh is watched.
  StatusBoard* Board() { return board_.get(); }
  /// For the runner: a number that no run of this mesh has had.
  std::uint64_t NextRun() { return ++num_runs_; }
  /// For the runner: a peer was lost, so nobody is told goodbye.
  void Break() {
    is_broken_ = true;
    world_.Process()->Break();
  }
  /// Whether it can run: not closed, and no peer was lost.
  bool IsOpen() const { return !is_closed_ && !is_broken_; }

 private:
  /// What would fail only where there are edges, and leave the other processes waiting.
  static void CheckOptions(const MeshOptions& options) {
    constexpr std::size_t max_depth = 65'535;  // what every duct holds to in mode 0
    if (options.depth == 0 || options.depth > max_depth)
      throw uit::InputError("a mesh has a depth between 1 and " + std::to_string(max_depth));
    if (options.num_slots == 0 || options.num_slots > uit::Fabric::max_requests / 4)
      throw uit::InputError("a mesh has between 1 and " + std::to_string(uit::Fabric::max_requests / 4) + " slots per peer");
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
  std::unique_ptr<uit::Fabric> fabric_;
  std::unique_ptr<ProcessBarrier> barrier_;
  std::unique_ptr<StatusBoard> board_;
  std::vector<std::unique_ptr<Partition>> partitions_;
  std::vector<std::unique_ptr<LayerBase>> layers_;  // destroyed first: they refer to partitions and fabric
  std::uint64_t num_runs_ = 0;
  bool is_broken_ = false;
  bool is_closed_ = false;
  bool is_clean_ = false;
};

}  // namespace netuit
