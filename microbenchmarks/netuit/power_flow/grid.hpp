#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <netuit/graph/topology.hpp>

namespace bench {

/// A power grid that is made up, of the size of PEGASE's grid of Europe: a ring, and lines that shorten it here and there.
namespace grid {

inline constexpr netuit::NodeId num_buses = 13'658;
inline constexpr std::size_t num_shortcuts = 4'966;
inline constexpr std::uint64_t longest_shortcut = 60;  // in buses

/// Returns the number of the bus at a place of the ring. Neighbours have numbers of the same region, but not in order.
inline netuit::NodeId BusAt(netuit::NodeId place) {
  constexpr netuit::NodeId region = 256;
  return place / region == num_buses / region ? place : place / region * region + place % region * 101 % region;
}
/// Returns the grid as a graph; weights are susceptances.
inline netuit::Topology Make() {
  std::vector<netuit::Edge> edges;
  const auto add = [&edges](netuit::NodeId one, netuit::NodeId other, double susceptance) {
    edges.push_back({BusAt(one), BusAt(other), susceptance});
    edges.push_back({BusAt(other), BusAt(one), susceptance});
  };
  std::uint64_t state = 1;
  const auto draw = [&state](std::uint64_t below) {
    state = state * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;  // Knuth's MMIX
    return (state >> 33U) % below;
  };
  const auto susceptance = [&draw] { return 1 + static_cast<double>(draw(1000)) / 10; };
  for (netuit::NodeId bus = 0; bus < num_buses; ++bus) add(bus, (bus + 1) % num_buses, susceptance());
  for (std::size_t i = 0; i < num_shortcuts; ++i) {
    const auto from = static_cast<netuit::NodeId>(draw(num_buses));
    const auto to = static_cast<netuit::NodeId>((from + 2 + draw(longest_shortcut)) % num_buses);
    add(from, to, susceptance());
  }
  return {num_buses, std::move(edges)};
}

/// The power that flows in at a bus.
inline double Power(netuit::NodeId bus) { return 1 + bus % 3; }
/// What Jacobi's iteration needs to know of a bus: the power, and the diagonal of its equation.
struct Bus {
  double power, diagonal;
};
/// The part of a bus's diagonal that its lines leave.
inline constexpr double shunt = 1.02;

}  // namespace grid

}  // namespace bench
