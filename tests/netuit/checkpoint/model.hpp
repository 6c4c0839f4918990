#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include <netuit/graph/edge_delays.hpp>
#include <netuit/graph/random_stream.hpp>
#include <netuit/graph/small_world.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/run/run.hpp>
#include <uit/policy.hpp>
#include <uit/team/team.hpp>

namespace netuit::testing {

/// A value that numpy has no name for.
struct Pair {
  float first = 0;
  std::int32_t second = 0;
};

/// What nodes do with all that a mesh can hold. The result depends on every value and on every message, also on those that wait and
/// on puts that find no room.
class CheckpointModel {
 public:
  static constexpr std::uint64_t period = 2;
  static constexpr NodeId num_nodes = 61;

  explicit CheckpointModel(const uit::Team& team, MeshOptions options = WithDepth(3), const EdgeDelays& delays = {})
      : mesh(team,
             std::vector<NamedNetwork>{{"near", MakeSmallWorld(num_nodes, 4, 0.2, 7), {.delays = delays}},
                                       {"far", MakeSmallWorld(num_nodes, 2, 0.5, 8), {.period = period}}},
             options),
        far(mesh.GetNetwork("far")),
        state(mesh.AddPublishedField<std::uint64_t>([](NodeId id) { return MixBits(id); })),
        seldom(mesh.AddPublishedField<Pair>(Pair{1, 2}, {far})),
        place(mesh.AddField<std::array<float, 2>>()),
        note(mesh.AddField<std::string>(std::string("none"))),
        trust(mesh.AddEdgeField<float>(0.5F)),
        every(mesh.AddChannels<std::uint32_t, uit::every>()),
        pooled(mesh.AddChannels<std::uint32_t, uit::Policy{.consolidate = uit::Consolidate::pooled}>()),
        newest(mesh.AddChannels<std::uint32_t, uit::latest>(Network{}, Initial<std::uint32_t>([](NodeId id) { return id; }))),
        sum(mesh.AddChannels<std::uint64_t, uit::summed>()),
        text(mesh.AddChannels<std::string, uit::every>(far)),
        newest_text(mesh.AddChannels<std::string, uit::latest>()) {
    mesh.SetName(state, "state");
    mesh.SetName(note, "note");
    mesh.SetName(trust, "trust");
  }

  static MeshOptions WithDepth(std::size_t depth) {
    MeshOptions options;
    options.depth = depth;
    return options;
  }

  void Update(Node& node) {
    auto random = node.Random();
    std::uint64_t h = MixBits(state[node] ^ random()) + note[node].size();
    const auto add = [&h](std::uint64_t value) { h = MixBits(h ^ value) + 1; };
    add(node.Update());
    add(std::bit_cast<std::uint32_t>(place[node][0]));
    for (const auto edge : node.In()) {
      add(state[edge]);
      trust[edge] += static_cast<float>(h % 8) / 16;
      add(std::bit_cast<std::uint32_t>(trust[edge]));
      if (random.Below(3) == 0) {
        while (every[edge].TryStep() != 0) add(every[edge].Get());
      }
      add(every[edge].Get());
      if (random.Below(2) == 0) add(pooled[edge].TryStep());
      add(pooled[edge].Get());
      if (random.Below(2) == 0) add(newest[edge].JumpGet());
      add(newest[edge].Get());
      if (random.Below(3) == 0) add(sum[edge].JumpGet());
      if (random.Below(3) == 0) newest_text[edge].TryStep();
      for (const char c : newest_text[edge].Get()) add(static_cast<std::uint64_t>(c));
    }
    for (const auto edge : node.In(far)) {
      const Pair& theirs = seldom[edge];
      add(std::bit_cast<std::uint32_t>(theirs.first) + static_cast<std::uint64_t>(theirs.second));
      if (random.Below(4) == 0) {
        if (const auto taken = text[edge].TryTake()) note[node] = *taken;
      }
    }
    for (const auto edge : node.Out()) {
      for (std::uint32_t i = random.Below(3); i != 0; --i) add(every[edge].TryPut(static_cast<std::uint32_t>(h)) ? 1 : 0);
      if (random.Below(2) == 0) add(pooled[edge].TryPut(static_cast<std::uint32_t>(h)) ? 1 : 0);
      if (random.Below(2) == 0) newest[edge].TryPut(static_cast<std::uint32_t>(h));
      add(sum[edge].TryPut(h % 100) ? 1 : 0);
      if (random.Below(2) == 0) newest_text[edge].TryPut(std::string(h % 5, 'x'));
    }
    for (const auto edge : node.Out(far)) add(text[edge].TryPut(std::to_string(h % 10'000)) ? 1 : 0);
    place[node] = {static_cast<float>(h % 1000), place[node][0]};
    if (random.Below(4) == 0) return node.StaySilent();
    seldom[node] = {static_cast<float>(h % 77), static_cast<std::int32_t>(h % 99)};
    state[node] = h;
  }

  /// Runs `num_updates` more.
  template <ScheduleValue S>
  RunReport Run(const S& schedule, RunOptions options = {}) {
    options.first_update = mesh.NumUpdates();
    return mesh.Run(schedule, [this](Node& node) { Update(node); }, options);
  }

  /// Returns a hash of the nodes' values on rank 0.
  std::uint64_t Hash() {
    const auto hash = mesh.Gather(state);
    std::uint64_t all = 0;
    for (const std::uint64_t value : hash) all = MixBits(all ^ value);
    return all;
  }

  Mesh mesh;
  Network far;
  PublishedField<std::uint64_t> state;
  PublishedField<Pair> seldom;
  Field<std::array<float, 2>> place;
  Field<std::string> note;
  EdgeField<float> trust;
  Channels<std::uint32_t, uit::every> every;
  Channels<std::uint32_t, uit::Policy{.consolidate = uit::Consolidate::pooled}> pooled;
  Channels<std::uint32_t, uit::latest> newest;
  Channels<std::uint64_t, uit::summed> sum;
  Channels<std::string, uit::every> text;
  Channels<std::string, uit::latest> newest_text;
};

}  // namespace netuit::testing
