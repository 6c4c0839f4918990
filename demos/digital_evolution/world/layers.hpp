#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <netuit/graph/graph.hpp>
#include <netuit/mesh/channels.hpp>
#include <netuit/mesh/field.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node.hpp>
#include <uit/policy.hpp>
#include <vector>

#include "demos/digital_evolution/world/kin.hpp"
#include "demos/digital_evolution/world/resource.hpp"
#include "demos/digital_evolution/world/state.hpp"

namespace digital_evolution {

/// A message from a program to a neighbour's: it starts a core at the module that matches the tag best.
struct Packet {
  std::array<std::uint32_t, 2> tag_words{};  ///< lower half first
  std::array<std::int32_t, 3> data{};        ///< the registers that the core begins with
};
static_assert(sizeof(Packet) == 20);

/// The maximum number of packets from a cell to one neighbour, in an update in which they are due.
inline constexpr unsigned max_packets = 4;

/// The period of births and packets, in updates.
inline constexpr std::uint64_t mail_period = 16;
/// The period of neighbours' states, in updates.
inline constexpr std::uint64_t view_period = 8;

/// Messages that may wait on an edge: the packets of two updates, so that in mode 0 no put is refused.
inline constexpr std::size_t world_depth = 2 * std::size_t{max_packets};

/// The networks of a world's mesh: three with the same edges and different periods.
inline std::vector<netuit::NamedNetwork> WorldNetworks(const netuit::Graph& torus) {
  return {{"touch", torus}, {"view", torus, {.period = view_period}}, {"mail", torus, {.period = mail_period}}};
}

namespace detail {
inline constexpr uit::Policy every_aggregated{.retain = uit::Retain::every, .consolidate = uit::Consolidate::aggregated};
inline constexpr uit::Policy sum_pooled{.retain = uit::Retain::accumulate, .consolidate = uit::Consolidate::pooled};
}  // namespace detail

/// The layers of messages between neighbours, on a mesh of WorldNetworks.
struct Layers {
  /// Adds them to the mesh. Defined in world.cpp: the channels take seconds to compile.
  explicit Layers(netuit::Mesh& mesh);

  netuit::Network view;  ///< of states
  netuit::Network mail;  ///< of births and packets

  // Results number them in this order.
  netuit::Channels<std::vector<std::uint32_t>, detail::every_aggregated> spawn;  ///< births, as EncodeBirth writes them
  /// Resource. Amounts are added up in the channel.
  netuit::Channels<Resource, detail::sum_pooled> transfer;
  netuit::Channels<Packet, detail::every_aggregated> talk;                       ///< packets of programs
  /// The values of a cell that neighbours can sense.
  netuit::PublishedField<State> environment;
  netuit::PublishedField<KinSignal> kinship;                                     ///< whom a cell is kin to
};

}  // namespace digital_evolution
