#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <netuit/netuit.hpp>
#include <vector>

#include "demos/digital_evolution/world/kin.hpp"
#include "demos/digital_evolution/world/state.hpp"

namespace digital_evolution {

/// What a program sends to a neighbour's: starts a core at the module that matches the tag best.
struct Packet {
  std::array<std::uint32_t, 2> tag_words{};  ///< lower half first
  std::array<std::int32_t, 3> data{};        ///< the registers that the core begins with
};
static_assert(sizeof(Packet) == 20);

/// Packets from one cell to a neighbour at most in an update in which they are due.
inline constexpr unsigned max_packets = 4;

namespace detail {
inline constexpr uit::Policy every_aggregated{.retain = uit::Retain::every, .consolidate = uit::Consolidate::aggregated};
inline constexpr uit::Policy sum_pooled{.retain = uit::Retain::accumulate, .consolidate = uit::Consolidate::pooled};
}  // namespace detail

/// Offspring on its way: what EncodeBirth makes.
struct Spawn : netuit::Unicast<std::vector<std::uint32_t>, detail::every_aggregated, netuit::LayerOptions{.period = 16}> {};
/// Resource on its way, added up.
struct Transfer : netuit::Unicast<std::int32_t, detail::sum_pooled> {};
/// Packets of programs.
struct Talk : netuit::Unicast<Packet, detail::every_aggregated, netuit::LayerOptions{.period = 16}> {};
/// What can be sensed of a cell.
struct Environment : netuit::Multicast<State, netuit::LayerOptions{.period = 8}> {};
/// Whom a cell is kin to.
struct Kinship : netuit::Multicast<KinSignal> {};

/// The mesh that a world lives on. Compiled in world.cpp, because it takes long.
using WorldMesh = netuit::TaggedMesh<Spawn, Transfer, Talk, Environment, Kinship>;

/// Messages that may wait on an edge, enough that in mode 0 none is ever refused: two updates' packets.
inline constexpr std::size_t world_depth = 2 * std::size_t{max_packets};

}  // namespace digital_evolution

extern template class netuit::TaggedMesh<digital_evolution::Spawn, digital_evolution::Transfer, digital_evolution::Talk,
                                   digital_evolution::Environment, digital_evolution::Kinship>;
