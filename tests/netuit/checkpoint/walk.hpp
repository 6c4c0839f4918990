#pragma once

#include <cstdint>

#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node.hpp>
#include <uit/policy.hpp>
#include <uit/team/team.hpp>

namespace netuit::testing {

/// Nodes that hand on parts of what they hold. In best effort nothing is lost: what nodes hold and what is under way adds up to
/// 3600.
struct Walk {
  explicit Walk(const uit::Team& team, const MeshOptions& options = {}) : mesh(team, MakeTorus(6, 6), options) {}

  void Update(Node& node) {
    for (const auto edge : node.In()) {
      if (node.Random().Below(2) == 0) held[node] += flow[edge].JumpGet();
    }
    for (const auto edge : node.Out()) {
      const std::uint64_t part = held[node] / 8;
      if (flow[edge].TryPut(part)) held[node] -= part;
    }
  }
  /// Returns what all nodes hold, with the messages that wait, which it takes. Collective.
  std::uint64_t Sum() {
    std::uint64_t sum = 0;
    mesh.Visit([&](Node& node) {
      sum += held[node];
      for (const auto edge : node.In()) sum += flow[edge].JumpGet();
    });
    std::uint64_t all = 0;
    for (const std::uint64_t theirs : mesh.GetWorld().AllGatherValue(sum)) all += theirs;
    return all;
  }

  Mesh mesh;
  Field<std::uint64_t> held = mesh.AddField<std::uint64_t>(100);
  Channels<std::uint64_t, uit::summed> flow = mesh.AddChannels<std::uint64_t, uit::summed>();
};

}  // namespace netuit::testing
