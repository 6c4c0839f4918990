#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node_random.hpp>
#include <string>
#include <type_traits>
#include <uit/policy.hpp>
#include <utility>
#include <vector>

#include "tests/netuit/run/odd_graph.hpp"
#include "tests/netuit/run/policies.hpp"
#include "tests/netuit/run/serial_mesh.hpp"

namespace netuit::testing {

/// A message made from a number: the number itself, or a row whose length and values depend on it.
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

/// What a node of type N does with one kind of layer. Each function takes the node's state and returns the next state, which
/// depends on what the node has read.
template <typename N>
struct Habit {
  std::function<Word(N&, NodeRandom&, Word)> read;
  std::function<Word(N&, NodeRandom&, Word)> write;
  std::function<void(N&)> restart;  // see Chaos::Restart
};

template <typename M>
using NodeOf = std::conditional_t<std::is_same_v<M, SerialMesh>, SerialNode, Node>;

/// A published field: reads all neighbours' values, and writes one or stays silent.
template <typename M>
Habit<NodeOf<M>> AddChaoticField(M& mesh, Network network, Word seed) {
  using N = NodeOf<M>;
  const auto field = mesh.template AddPublishedField<Word>([seed](NodeId id) { return Mix(1 + seed, id); }, {network});
  return {.read = [=](N& node, NodeRandom&, Word state) {
            for (const auto& edge : node.In(network)) state = Mix(state, field[edge]);
            return state;
          },
          .write = [=](N& node, NodeRandom& random, Word state) {
            const auto zeal = random() % 4;
            if (zeal == 0) node.StaySilent();
            if (zeal != 1) field[node] = Mix(state, 0);
            return state;
          },
          .restart = [=](N& node) { field[node] = Mix(1 + seed, node.Id()); }};
}

/// Channels: steps through every message of some inputs, and through at most one of others. Puts none to three messages to
/// each output, uses which were accepted, and flushes now and then.
template <typename M, typename T, uit::Policy policy>
Habit<NodeOf<M>> AddChaoticChannels(M& mesh, Network network, Word seed) {
  using N = NodeOf<M>;
  const auto first = [seed](NodeId id) { return MessageOf<T>(Mix(1 + seed, id)); };
  const auto channels = mesh.template AddChannels<T, policy>(network, first);
  return {.read = [=](N& node, NodeRandom& random, Word state) {
            for (const auto& edge : node.In(network)) {
              auto& outlet = channels[edge];
              const auto appetite = random() % 4;
              for (std::uint32_t i = 0; i < appetite && i < 2; ++i) state = Mix(state, outlet.TryStep());
              if (appetite == 3) state = Mix(state, outlet.Jump());
              state = Mix(state, DigestOf(outlet.Get()));
            }
            return state;
          },
          .write = [=](N& node, NodeRandom& random, Word state) {
            for (const auto& edge : node.Out(network)) {
              auto& inlet = channels[edge];
              const auto zeal = random() % 4;
              for (std::uint32_t i = 0; i < zeal; ++i) {
                state = Mix(state, inlet.TryPut(MessageOf<T>(Mix(state, i))));
                if (state % 4 == 0) inlet.TryFlush();
              }
            }
            return state;
          },
          .restart = [=](N& node) {
            for (const auto& edge : node.In(network)) channels[edge].Jump();
            for (const auto& edge : node.Out(network))
              if (node.Update() == 1) channels[edge].TryPut(first(node.Id()));
          }};
}

// Each of these takes seconds to compile. Several tests use them, so chaos.cpp compiles them for all.
extern template Habit<Node> AddChaoticChannels<Mesh, Word, uit::every>(Mesh&, Network, Word);
extern template Habit<SerialNode> AddChaoticChannels<SerialMesh, Word, uit::every>(SerialMesh&, Network, Word);
extern template Habit<Node> AddChaoticChannels<Mesh, Word, uit::latest>(Mesh&, Network, Word);
extern template Habit<SerialNode> AddChaoticChannels<SerialMesh, Word, uit::latest>(SerialMesh&, Network, Word);
extern template Habit<Node> AddChaoticChannels<Mesh, Word, uit::summed>(Mesh&, Network, Word);
extern template Habit<SerialNode> AddChaoticChannels<SerialMesh, Word, uit::summed>(SerialMesh&, Network, Word);
extern template Habit<Node> AddChaoticChannels<Mesh, Word, pooled>(Mesh&, Network, Word);
extern template Habit<SerialNode> AddChaoticChannels<SerialMesh, Word, pooled>(SerialMesh&, Network, Word);
extern template Habit<Node> AddChaoticChannels<Mesh, Word, newest_pooled>(Mesh&, Network, Word);
extern template Habit<SerialNode> AddChaoticChannels<SerialMesh, Word, newest_pooled>(SerialMesh&, Network, Word);
extern template Habit<Node> AddChaoticChannels<Mesh, Word, sum_pooled>(Mesh&, Network, Word);
extern template Habit<SerialNode> AddChaoticChannels<SerialMesh, Word, sum_pooled>(SerialMesh&, Network, Word);
extern template Habit<Node> AddChaoticChannels<Mesh, std::vector<Word>, aggregated>(Mesh&, Network, Word);
extern template Habit<SerialNode> AddChaoticChannels<SerialMesh, std::vector<Word>, aggregated>(SerialMesh&, Network, Word);
extern template Habit<Node> AddChaoticChannels<Mesh, std::vector<Word>, newest_aggregated>(Mesh&, Network, Word);
extern template Habit<SerialNode> AddChaoticChannels<SerialMesh, std::vector<Word>, newest_aggregated>(SerialMesh&, Network, Word);

/// A layer of a mesh, or of the serial mesh, along a network with some period.
struct Kind {
  Word period;
  Habit<Node> (*add)(Mesh&, Network, Word seed);
  Habit<SerialNode> (*add_serially)(SerialMesh&, Network, Word seed);
};
inline Kind ValuesOfNodes(Word period = 1) {
  return {period, &AddChaoticField<Mesh>, &AddChaoticField<SerialMesh>};
}
template <typename T, uit::Policy policy>
Kind ChannelsOf(Word period = 1) {
  return {period, &AddChaoticChannels<Mesh, T, policy>, &AddChaoticChannels<SerialMesh, T, policy>};
}

/// Returns the periods of the networks that some kinds of layers need, ascending.
inline std::vector<Word> PeriodsOf(const std::vector<Kind>& kinds) {
  std::vector<Word> periods;
  for (const Kind& kind : kinds) periods.push_back(kind.period);
  std::ranges::sort(periods);
  periods.erase(std::unique(periods.begin(), periods.end()), periods.end());
  return periods;
}
/// Returns those networks, each with all edges of a graph.
inline std::vector<NamedNetwork> NetworksOf(const Topology& graph, const std::vector<Kind>& kinds) {
  std::vector<NamedNetwork> networks;
  for (const Word period : PeriodsOf(kinds)) networks.push_back({"every " + std::to_string(period), graph, {.period = period}});
  return networks;
}

/// An update that uses every verb, so that a difference from a serial run soon spreads to all nodes. The new state of a node
/// depends on all that it read, in order, and on which of its puts were accepted.
template <typename M>
class Chaos {
 public:
  using N = NodeOf<M>;

  /// For a mesh with the networks of these kinds.
  Chaos(M& mesh, const std::vector<Kind>& kinds, Word seed = 0) : state(mesh.template AddField<Word>()) {
    const std::vector<Word> periods = PeriodsOf(kinds);
    for (const Kind& kind : kinds) {
      const Network network{static_cast<std::uint32_t>(std::ranges::find(periods, kind.period) - periods.begin())};
      if constexpr (std::is_same_v<M, SerialMesh>) habits_.push_back(kind.add_serially(mesh, network, seed));
      else habits_.push_back(kind.add(mesh, network, seed));
    }
  }
  void Update(N& node) const {
    auto random = node.Random();
    Read(node, random);
    for (const auto& habit : habits_) state[node] = habit.write(node, random, state[node]);
  }
  /// Reads and writes nothing.
  void Look(N& node) const {
    auto random = node.Random();
    Read(node, random);
  }

  /// An update for that many updates of mode 0, which restores the initial state of the layers: reads what waits, then puts
  /// and reads what nodes saw at first. The networks must have a period of one update.
  void Restart(N& node) const {
    state[node] = 0;
    for (const auto& habit : habits_) habit.restart(node);
  }
  static constexpr Word num_restarts = 3;

  decltype(std::declval<M&>().template AddField<Word>()) state;  ///< of a node

 private:
  void Read(N& node, NodeRandom& random) const {
    for (const auto& habit : habits_) state[node] = habit.read(node, random, state[node]);
  }

  std::vector<Habit<N>> habits_;
};

}  // namespace netuit::testing
