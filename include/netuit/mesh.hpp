#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <netuit/barrier.hpp>
#include <netuit/edge_conduits.hpp>
#include <netuit/halo.hpp>
#include <netuit/layer.hpp>
#include <netuit/placement.hpp>
#include <netuit/place_graph.hpp>
#include <netuit/topology.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/support/assert.hpp>

namespace netuit {

/// What can be chosen when a mesh is wired. The same on every process.
struct MeshOptions {
  std::size_t depth = 2;       ///< messages that may wait on an edge of a unicast layer that keeps every one; at most 65 535
  std::size_t num_slots = 16;  ///< frames per peer that may be sent and not acknowledged
};

namespace detail {

template <Layer L>
struct ShareOfLayer;
template <MulticastLayer L>
struct ShareOfLayer<L> {
  using Type = Halo<typename L::Message>;
};
template <UnicastLayer L>
struct ShareOfLayer<L> {
  using Type = EdgeConduits<L>;
};

}  // namespace detail

/// One place's share of a layer.
template <Layer L>
using LayerShare = typename detail::ShareOfLayer<L>::Type;

/// One thread's share of a mesh: its part of the graph, and of every layer.
template <Layer... Ls>
struct PlaceShare {
  PlaceGraph graph;  ///< its nodes and their edges
  std::size_t first_local = 0;  ///< its nodes are numbered from here within the process
  std::tuple<LayerShare<Ls>...> layers;  ///< in the mesh's order

  /// Of a part of the graph whose nodes are numbered from `first` within the process.
  explicit PlaceShare(PlaceGraph part, std::size_t first)
      : graph(std::move(part)), first_local(first), layers(LayerShare<Ls>(graph)...) {}
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
template <Layer... Ls>
class Mesh {
 public:
  using Share = PlaceShare<Ls...>;  ///< what one thread has of it

  /// Wires. Collective; throws on every process if the placement does not fit, or the options cannot be.
  Mesh(const Topology& topology, const Placement& placement, const uit::World& world = {}, MeshOptions options = {})
      : world_(world), options_(options) {
    CheckOptions(options);
    ProcessGraph graph = ScatterGraph(topology, placement, world);
    num_nodes_ = static_cast<NodeId>(graph.num_nodes);
    num_edges_ = graph.num_edges;
    num_threads_ = static_cast<std::uint32_t>(graph.num_threads);
    fabric_ = std::make_unique<uit::Fabric>(
        world_, uit::FabricOptions{.num_workers = num_threads_, .num_slots = options.num_slots});
    for (PlaceGraph& part : graph.places) {
      const std::size_t num_nodes = part.nodes.size();
      places_.push_back(std::make_unique<Share>(std::move(part), num_local_));
      num_local_ += num_nodes;
    }
    private_world_ = world_.Duplicate();
    barrier_ = std::make_unique<ProcessBarrier>(private_world_, *fabric_);
    WireLayers(std::index_sequence_for<Ls...>{});
    fabric_->Connect();
  }
  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;
  /// Closes, if that has not been done.
  ~Mesh() {
    try {
      Close();
    } catch (...) {  // a destructor has nobody to tell; Close() has
    }
  }

  /// Says goodbye to the other processes and gives the links back. Collective. False if one of them did not answer
  /// within ten seconds, or, at once, if one had been lost before.
  bool Close() {
    if (is_closed_) return is_clean_;
    is_closed_ = true;
    if (is_broken_) {  // nobody is waited for
      fabric_->Close(uit::Now());
      barrier_->Close(uit::Now());
    } else {
      is_clean_ = fabric_->Close() && barrier_->Close(uit::After(std::chrono::seconds(10))) && private_world_.Release();
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
    const Share& share = ShareOf(local);
    return share.graph.nodes[local - share.first_local];
  }
  /// What the graph's file calls a node of this process.
  std::string Label(std::size_t local) const {
    const Share& share = ShareOf(local);
    return share.graph.Label(local - share.first_local);
  }

  /// Sets what is read of each node until its first message arrives: `initial(node id)`, the same function on every
  /// process. Not during a run.
  template <Layer L, std::invocable<NodeId> F>
  void Initialize(F&& initial) {
    for (auto& place : places_) {
      auto& layer = LayerOf<L>(*place);
      if constexpr (MulticastLayer<L>) {
        for (std::size_t node = 0; node < layer.NumNodes(); ++node) layer.Current()[node] = initial(place->graph.nodes[node]);
        for (std::size_t ghost = 0; ghost < layer.GhostIds().size(); ++ghost)
          layer.Current()[layer.NumNodes() + ghost] = initial(layer.GhostIds()[ghost]);
      } else {
        for (std::size_t input = 0; input < layer.Outlets().size(); ++input) {
          layer.Outlets()[input].Bound().Visit([&](auto* duct) {
            if (duct != nullptr) duct->Get() = initial(place->graph.sources[input]);
          });
        }
      }
    }
  }

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
    const std::vector<uit::Bytes> parts = world_.Gather(std::move(mine));
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

  /// For the runner: the places of this process by thread, what moves frames, and what processes meet at.
  std::vector<std::unique_ptr<Share>>& Places() { return places_; }
  /// For the runner: what moves frames between processes.
  uit::Fabric& GetFabric() { return *fabric_; }
  /// For the runner: where processes meet.
  ProcessBarrier& GetBarrier() { return *barrier_; }
  /// For the runner: a number that no run of this mesh has had.
  std::uint64_t NextRun() { return ++num_runs_; }
  /// For the runner: a peer was lost, so nobody is told goodbye.
  void Break() {
    is_broken_ = true;
    world_.Process()->Break();
  }
  /// Whether it can run: not closed, and no peer was lost.
  bool IsOpen() const { return !is_closed_ && !is_broken_; }

  /// For the runner: one thread's share of a layer.
  template <Layer L>
  static auto& LayerOf(Share& share) {
    return std::get<IndexOf<L>()>(share.layers);
  }
  /// The number of a layer.
  template <Layer L>
  static constexpr std::size_t IndexOf() {
    constexpr bool is_it[] = {std::is_same_v<L, Ls>...};
    static_assert((std::is_same_v<L, Ls> || ...), "the mesh has no such layer");
    return static_cast<std::size_t>(std::find(std::begin(is_it), std::end(is_it), true) - std::begin(is_it));
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
  const Share& ShareOf(std::size_t local) const {
    UIT_ASSERT(local < num_local_, "there are only so many local nodes");
    const auto after = std::ranges::upper_bound(places_, local, {}, [](const auto& place) { return place->first_local; });
    return **std::prev(after);
  }
  std::size_t ProcessOf(std::uint32_t worker) const { return worker / num_threads_; }
  std::uint32_t ThreadOf(std::uint32_t worker) const { return worker % num_threads_; }
  bool IsHere(std::uint32_t worker) const { return ProcessOf(worker) == world_.Rank(); }

  template <std::size_t... I>
  void WireLayers(std::index_sequence<I...>) {
    (WireLayer<Ls>(static_cast<std::uint32_t>(I)), ...);
  }

  template <MulticastLayer L>
  void WireLayer(std::uint32_t number) {
    const auto spec = [&](std::uint32_t source, std::uint32_t destination, const uit::LatestFrame& layout) {
      return uit::ExchangeSpec{
          .key = {.layer = number, .source = source, .destination = destination},
          .type = uit::TypeHash<typename L::Message>(),
          .frame_bytes = layout.MaxBytes(),
          .slot_bytes = static_cast<std::uint32_t>(layout.slot_bytes),
          .num_channels = static_cast<std::uint32_t>(layout.num_channels),
          .retain = static_cast<std::uint32_t>(uit::Retain::latest)};
    };
    for (auto& place : places_) {
      const std::uint32_t here = place->graph.worker;
      for (auto& [there, receiver] : LayerOf<L>(*place).Receivers()) {
        receiver.box = IsHere(there) ? uit::FrameBox::Latest()
                                     : fabric_->AddIncoming(ProcessOf(there), spec(there, here, receiver.layout),
                                                            uit::FrameBox::Latest());
      }
    }
    for (auto& place : places_) {
      const std::uint32_t here = place->graph.worker;
      for (auto& [there, sender] : LayerOf<L>(*place).Senders()) {
        if (IsHere(there)) {
          sender.port = uit::OutPort{LayerOf<L>(*places_[ThreadOf(there)]).Receivers().at(here).box};
        } else {
          sender.port = fabric_->AddOutgoing(ProcessOf(there), ThreadOf(here), spec(here, there, sender.layout),
                                             uit::FrameBox::Latest());
        }
      }
    }
  }

  template <UnicastLayer L>
  void WireLayer(std::uint32_t number) {
    const EdgeWirer<L> wirer{*this, number};
    for (auto& place : places_) wirer.JoinOutputs(*place);
    for (auto& place : places_) wirer.JoinInputs(*place);
  }

  /// Joins the edges of a unicast layer.
  template <UnicastLayer L>
  class EdgeWirer {
   public:
    using T = typename L::Message;

    EdgeWirer(Mesh& mesh, std::uint32_t number) : mesh_(mesh), number_(number), input_of_(mesh.places_.size()) {
      for (std::size_t thread = 0; thread < input_of_.size(); ++thread) {
        const auto& edges = mesh_.places_[thread]->graph.in_edges;
        for (std::uint32_t input = 0; input < edges.size(); ++input) input_of_[thread].emplace_back(edges[input], input);
        std::ranges::sort(input_of_[thread]);
      }
    }

    /// Within the process both ends; beyond it the inlets.
    void JoinOutputs(Share& place) const {
      auto& layer = LayerOf<L>(place);
      const PlaceGraph& graph = place.graph;
      auto reaches = PoolReaches(graph.target_workers, graph.out_edges);
      for (std::uint32_t output = 0; output < graph.targets.size(); ++output) {
        const std::uint32_t there = graph.target_workers[output];
        const EdgeId edge = graph.out_edges[output];
        if (there != graph.worker) layer.CrossingOutputs().push_back(output);
        if (!mesh_.IsHere(there)) {
          layer.Inlets()[output] = typename EdgeConduits<L>::Inlet(ReachOf(reaches, graph.worker, there, graph.worker, there, edge));
        } else {
          const std::size_t thread = mesh_.ThreadOf(there);
          auto& outlet = LayerOf<L>(*mesh_.places_[thread]).Outlets()[InputOf(thread, edge)];
          if (there == graph.worker) Join(layer.Inlets()[output], outlet, uit::Intra{.depth = mesh_.options_.depth});
          else Join(layer.Inlets()[output], outlet, uit::Thread{.depth = mesh_.options_.depth});
        }
      }
      CollectHalves(layer.Inlets(), layer.Senders());
    }
    /// Beyond the process, the outlets.
    void JoinInputs(Share& place) const {
      auto& layer = LayerOf<L>(place);
      const PlaceGraph& graph = place.graph;
      auto reaches = PoolReaches(graph.source_workers, graph.in_edges);
      for (std::uint32_t input = 0; input < graph.sources.size(); ++input) {
        const std::uint32_t there = graph.source_workers[input];
        if (there != graph.worker) layer.CrossingInputs().push_back(input);
        if (mesh_.IsHere(there)) continue;
        layer.Outlets()[input] = typename EdgeConduits<L>::Outlet(
            ReachOf(reaches, graph.worker, there, there, graph.worker, graph.in_edges[input]));
      }
      CollectHalves(layer.Outlets(), layer.Receivers());
      layer.Hold(false);
    }

   private:
    /// The edges to or from each worker of another process, ascending: an edge's place is its channel.
    using Pools = std::map<std::uint32_t, std::vector<EdgeId>>;

    Pools PoolReaches(const std::vector<std::uint32_t>& workers, const std::vector<EdgeId>& edges) const {
      Pools pools;
      for (std::size_t i = 0; i < workers.size(); ++i) {
        if (!mesh_.IsHere(workers[i])) pools[workers[i]].push_back(edges[i]);
      }
      for (auto& [worker, pool] : pools) std::ranges::sort(pool);
      return pools;
    }
    uit::Process ReachOf(const Pools& pools, std::uint32_t here, std::uint32_t there, std::uint32_t source,
                         std::uint32_t destination, EdgeId edge) const {
      uit::Process reach{.fabric = mesh_.fabric_.get(),
                         .peer = mesh_.ProcessOf(there),
                         .key = {.layer = number_, .source = source, .destination = destination},
                         .depth = mesh_.options_.depth,
                         .worker = mesh_.ThreadOf(here)};
      if constexpr (L::policy.consolidate == uit::Consolidate::none) {
        reach.key.channel = edge;
      } else {
        const auto& pool = pools.at(there);
        reach.channel = static_cast<std::size_t>(std::ranges::lower_bound(pool, edge) - pool.begin());
        reach.num_channels = pool.size();
      }
      return reach;
    }
    std::uint32_t InputOf(std::size_t thread, EdgeId edge) const {
      return std::ranges::lower_bound(input_of_[thread], edge, {}, [](const auto& entry) { return entry.first; })->second;
    }
    template <typename Inlet, typename Outlet, typename Transport>
    static void Join(Inlet& inlet, Outlet& outlet, const Transport& transport) {
      auto ends = transport.template OpenPair<T, L::policy>(T{});
      inlet = Inlet(typename Inlet::End(std::move(ends.first)));
      outlet = Outlet(typename Outlet::End(std::move(ends.second)));
    }
    template <typename End, typename Half>
    static void CollectHalves(const std::vector<End>& ends, std::vector<std::shared_ptr<Half>>& halves) {
      for (const End& end : ends) {
        end.Bound().Visit([&halves]<typename D>(D* duct) {
          if constexpr (requires { duct->Exchange(); }) {
            if (duct != nullptr) halves.push_back(duct->Exchange());
          }
        });
      }
      std::ranges::sort(halves);
      halves.erase(std::unique(halves.begin(), halves.end()), halves.end());
    }

    Mesh& mesh_;
    std::uint32_t number_;
    std::vector<std::vector<std::pair<EdgeId, std::uint32_t>>> input_of_;  // by thread, ascending by edge
  };

  uit::World world_;
  uit::World private_world_;  // whose streams are the barrier's
  MeshOptions options_;
  NodeId num_nodes_ = 0;
  EdgeId num_edges_ = 0;
  std::uint32_t num_threads_ = 1;
  std::size_t num_local_ = 0;
  std::unique_ptr<uit::Fabric> fabric_;
  std::unique_ptr<ProcessBarrier> barrier_;
  std::vector<std::unique_ptr<Share>> places_;
  std::uint64_t num_runs_ = 0;
  bool is_broken_ = false;
  bool is_closed_ = false;
  bool is_clean_ = false;
};

}  // namespace netuit
