#pragma once

#include <cstdint>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node_random.hpp>
#include <tuple>
#include <uit/policy.hpp>

#include "tests/netuit/run/chaos.hpp"
#include "tests/netuit/run/policies.hpp"

namespace netuit::testing {

/// A published field, and channels of some policies. A node's state depends on all that it reads, in order, and on which of
/// its puts were accepted. So a lost or wrong message soon changes all nodes.
template <uit::Policy... policies>
class MixedTraffic {
 public:
  using Word = std::uint64_t;

  explicit MixedTraffic(Mesh& mesh)
      : states_{mesh.AddPublishedField<Word>()}, channels_{mesh.AddChannels<Word, policies>()...} {}

  /// By node.
  const PublishedField<Word>& States() const { return states_; }

  /// Reads some of what has come, puts none to three messages to each output, flushes now and then, and sometimes stays
  /// silent.
  void Update(Node& node) const {
    NodeRandom random = node.Random();
    Word state = states_[node];
    for (const auto edge : node.In()) state = Mix(state, states_[edge]);
    std::apply([&](const auto&... channels) {
      (ReadSome(node, channels, random, state), ...);
      (WriteSome(node, channels, random, state), ...);
    }, channels_);
    states_[node] = state;
    if (random() % 4 == 0) node.StaySilent();
  }

 private:
  static void ReadSome(const Node& node, const auto& channels, NodeRandom& random, Word& state) {
    for (const auto edge : node.In()) {
      auto& outlet = channels[edge];
      const auto appetite = random() % 4;
      for (std::uint32_t i = 0; i < appetite && i < 2; ++i) state = Mix(state, outlet.TryStep());
      if (appetite == 3) state = Mix(state, outlet.Jump());
      state = Mix(state, outlet.Get());
    }
  }
  static void WriteSome(const Node& node, const auto& channels, NodeRandom& random, Word& state) {
    for (const auto edge : node.Out()) {
      auto& inlet = channels[edge];
      const auto zeal = random() % 4;
      for (std::uint32_t i = 0; i < zeal; ++i) {
        state = Mix(state, inlet.TryPut(Mix(state, i)));
        if (state % 4 == 0) inlet.TryFlush();
      }
    }
  }

  PublishedField<Word> states_;
  std::tuple<Channels<Word, policies>...> channels_;
};

}  // namespace netuit::testing
