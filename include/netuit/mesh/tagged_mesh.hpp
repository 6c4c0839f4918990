#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <utility>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/mesh/channel_layer.hpp>
#include <netuit/mesh/halo_layer.hpp>
#include <netuit/mesh/layer.hpp>
#include <netuit/mesh/gather.hpp>
#include <netuit/mesh/mesh_core.hpp>
#include <netuit/placement/placement.hpp>
#include <uit/wire/world.hpp>

namespace netuit {

namespace detail {

template <Layer L>
struct BaseOfLayer;
template <MulticastLayer L>
struct BaseOfLayer<L> {
  using Type = HaloLayer<typename L::Message>;
};
template <UnicastLayer L>
struct BaseOfLayer<L> {
  using Type = ChannelLayer<typename L::Message, L::policy>;
};

}  // namespace detail

/// A mesh whose layers are named by tags.
///
///     struct Color : netuit::Multicast<unsigned> {};
///     netuit::TaggedMesh<Color> mesh{topology, placement, session.World()};
///     mesh.Initialize<Color>([](netuit::NodeId node) { return node % 3; });
///     netuit::Run(mesh, {.duration = 5s}, [&](auto& node) { … });
template <Layer... Ls>
class TaggedMesh : public MeshCore {
 public:
  /// Wires. Collective; throws on every process if the placement does not fit, or the options cannot be.
  TaggedMesh(const Topology& topology, const Placement& placement, const uit::World& world = {}, MeshOptions options = {})
      : MeshCore(world, {.networks = {&topology}, .periods = {1}, .placement = &placement}, std::move(options)), layers_{Make<Ls>()...} {
    Connect();
  }

  /// A layer's part of a worker.
  template <Layer L>
  auto& Of(std::size_t thread) {
    return std::get<IndexOf<L>()>(layers_)->Part(thread);
  }
  /// The number of a layer.
  template <Layer L>
  static constexpr std::size_t IndexOf() {
    constexpr bool is_it[] = {std::is_same_v<L, Ls>...};
    static_assert((std::is_same_v<L, Ls> || ...), "the mesh has no such layer");
    return static_cast<std::size_t>(std::find(std::begin(is_it), std::end(is_it), true) - std::begin(is_it));
  }

  /// Sets what is read of each node until its first message arrives: `initial(node id)`, the same function on every
  /// process. Not during a run.
  template <Layer L, std::invocable<NodeId> F>
  void Initialize(F&& initial) {
    for (std::size_t thread = 0; thread < Partitions().size(); ++thread) {
      auto& layer = Of<L>(thread);
      const PlaceGraph& graph = Partitions()[thread]->graph;
      if constexpr (MulticastLayer<L>) {
        for (std::size_t node = 0; node < layer.NumNodes(); ++node) layer.Current()[node] = initial(graph.nodes[node]);
        for (std::size_t ghost = 0; ghost < layer.GhostIds().size(); ++ghost)
          layer.Current()[layer.NumNodes() + ghost] = initial(layer.GhostIds()[ghost]);
      } else {
        for (std::size_t input = 0; input < layer.Outlets().size(); ++input) {
          layer.Outlets()[input].Bound().Visit([&](auto* duct) {
            if (duct != nullptr) duct->Get() = initial(graph.sources[input]);
          });
        }
      }
    }
  }
  /// See GatherByNode.
  template <typename T>
  std::vector<T> Gather(std::span<const T> values) const {
    return GatherByNode<T>(*this, {values.begin(), values.end()});
  }

 private:
  template <Layer L>
  auto* Make() {
    auto layer = std::make_unique<typename detail::BaseOfLayer<L>::Type>(Partitions(), 0, L::period);
    auto* const made = layer.get();
    AddLayer(std::move(layer));
    return made;
  }

  std::tuple<typename detail::BaseOfLayer<Ls>::Type*...> layers_;
};

}  // namespace netuit
