#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>

#include <netuit/mesh/edge_conduits.hpp>
#include <netuit/mesh/halo.hpp>
#include <netuit/mesh/layer.hpp>
#include <netuit/mesh/place_graph.hpp>
#include <uit/wire/frame_trace.hpp>

namespace netuit {

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
  uit::TraceClock clock{};               ///< what frames are stamped with

  /// Of a part of the graph whose nodes are numbered from `first` within the process.
  explicit PlaceShare(PlaceGraph part, std::size_t first)
      : graph(std::move(part)), first_local(first), layers(LayerShare<Ls>(graph)...) {}

  /// Its share of a layer.
  template <Layer L>
  auto& Of() {
    return std::get<IndexOf<L>()>(layers);
  }
  /// The number of a layer.
  template <Layer L>
  static constexpr std::size_t IndexOf() {
    constexpr bool is_it[] = {std::is_same_v<L, Ls>...};
    static_assert((std::is_same_v<L, Ls> || ...), "the mesh has no such layer");
    return static_cast<std::size_t>(std::find(std::begin(is_it), std::end(is_it), true) - std::begin(is_it));
  }
};

}  // namespace netuit
