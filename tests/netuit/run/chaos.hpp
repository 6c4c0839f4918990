#pragma once

#include <cstddef>
#include <cstdint>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/layer.hpp>
#include <type_traits>

#include "tests/netuit/run/serial_mesh.hpp"

namespace netuit::testing {

inline std::uint64_t Mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a * 0x9e3779b97f4a7c15U ^ b;
  x = (x ^ x >> 31U) * 0xbf58476d1ce4e5b9U;
  return x ^ x >> 29U;
}

/// A message of a layer that follows from a number: itself, or a row of some length made of it.
template <typename T>
T MessageOf(std::uint64_t number) {
  if constexpr (std::is_integral_v<T>) return number;
  else return T(number % 5, number);
}
inline std::uint64_t DigestOf(std::uint64_t message) { return message; }
template <typename T>
std::uint64_t DigestOf(const T& message) {
  std::uint64_t digest = message.size();
  for (const std::uint64_t word : message) digest = Mix(digest, word);
  return digest;
}

/// Reads some of what a node has received in a layer: every message of some inputs, no more than one of others.
template <Layer L>
std::uint64_t ReadSome(auto& node, auto& random, std::uint64_t state) {
  if constexpr (MulticastLayer<L>) {
    for (const std::uint64_t value : node.template In<L>()) state = Mix(state, value);
  } else {
    for (auto&& input : node.template In<L>()) {
      auto& outlet = Plain(input);
      const auto appetite = random() % 4;
      for (std::uint32_t i = 0; i < appetite && i < 2; ++i) state = Mix(state, outlet.TryStep());
      if (appetite == 3) state = Mix(state, outlet.Jump());
      state = Mix(state, DigestOf(outlet.Get()));
    }
  }
  return state;
}

/// Puts between none and three messages to each output, heeds which are accepted, and flushes now and then.
template <Layer L>
std::uint64_t WriteSome(auto& node, auto& random, std::uint64_t state) {
  const auto write = [&](auto&& out) {
    const auto zeal = random() % 4;
    for (std::uint32_t i = 0; i < zeal; ++i) {
      const bool is_accepted = out.TryPut(MessageOf<typename L::Message>(Mix(state, i)));
      state = Mix(state, is_accepted);
      if constexpr (UnicastLayer<L>) {
        if (state % 4 == 0) Plain(out).TryFlush();
      }
    }
  };
  if constexpr (MulticastLayer<L>) {
    write(node.template Out<L>());
  } else {
    for (auto&& inlet : node.template Out<L>()) write(inlet);
  }
  return state;
}

/// An update that does a little of everything, so that whatever differs from a serial run soon shows everywhere: the new
/// state of a node depends on all that it read, in order, and on which of its puts were accepted.
template <Layer... Ls>
std::uint64_t UpdateChaotically(auto& node, std::uint64_t state) {
  auto random = node.Random();
  ((state = ReadSome<Ls>(node, random, state)), ...);
  ((state = WriteSome<Ls>(node, random, state)), ...);
  return state;
}

/// Directed, with loops, parallel edges, nodes that none or one edge touches, and degrees from 0 to 40.
inline Topology MakeOddGraph(NodeId num_nodes, std::uint64_t seed) {
  std::vector<Edge> edges;
  std::uint64_t state = seed;
  const auto draw = [&](NodeId below) { return static_cast<NodeId>((state = Mix(state, below)) % below); };
  const NodeId num_busy = num_nodes - num_nodes / 8;  // the last have no edge
  for (NodeId i = 0; i < 2 * num_nodes; ++i) {
    const NodeId source = draw(num_busy);
    const NodeId target = draw(8) == 0 ? source : draw(num_busy);
    edges.push_back({source, target});
    if (draw(4) == 0) edges.push_back({source, target});
    if (draw(3) == 0) edges.push_back({target, source});
  }
  for (NodeId i = 0; i < 40; ++i) edges.push_back({draw(num_busy), 0});
  return Topology{num_nodes, std::move(edges)};
}

}  // namespace netuit::testing
