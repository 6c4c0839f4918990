#pragma once

#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <netuit/calls/calls.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node.hpp>

#include "neighbors.hpp"

namespace triangle_count {

/// Some nodes.
struct Chunk {
  std::uint32_t count = 0;
  std::array<netuit::NodeId, 14> nodes{};  // with the rest of a call, 64 bytes
};

/// First, each node tells its neighbours how many it has. Then it sends, to each larger neighbour, those of its neighbours that are
/// larger still. The receiver counts which of them are its neighbours, too.
class ByCalls {
 public:
  explicit ByCalls(netuit::Mesh& mesh)
      : mesh_(mesh), larger_(mesh.AddField<Larger>()), count_(mesh.AddField<std::uint64_t>()),
        tell_(mesh.AddCall<Neighbor>([this](netuit::Node& node, const Neighbor& neighbor) {
          if (AsNeighbor(node) < neighbor) larger_[node].Add(neighbor);
        })),
        close_(mesh.AddCall<Chunk>([this](netuit::Node& node, const Chunk& chunk) {
          count_[node] += larger_[node].NumAmong(std::span(chunk.nodes).first(chunk.count));
        })) {}
  /// Collective. Returns the number of triangles.
  std::uint64_t Count() {
    mesh_.Visit([&](netuit::Node& node) {
      larger_[node].Clear();
      count_[node] = 0;
    });
    mesh_.Finish([&](netuit::Node& node) {
      for (auto edge : node.Out()) tell_(edge, AsNeighbor(node));
    });
    mesh_.Visit([&](netuit::Node& node) { larger_[node].Finish(); });
    mesh_.Finish([&](netuit::Node& node) {
      for (auto rest = larger_[node].List(); rest.size() > 1; rest = rest.subspan(1)) {
        Chunk chunk;
        for (const Neighbor& third : rest.subspan(1)) {
          chunk.nodes[chunk.count++] = third.id;
          if (chunk.count == chunk.nodes.size()) close_(rest[0].id, std::exchange(chunk, {}));
        }
        if (chunk.count != 0) close_(rest[0].id, chunk);
      }
    });
    std::uint64_t sum = 0;
    mesh_.Visit([&](netuit::Node& node) { sum += count_[node]; });
    const std::vector<std::uint64_t> sums = mesh_.GetTeam().GetWorld().AllGatherValue(sum);
    return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
  }

 private:
  static Neighbor AsNeighbor(const netuit::Node& node) { return {static_cast<netuit::NodeId>(node.Out().size()), node.Id()}; }

  netuit::Mesh& mesh_;
  netuit::Field<Larger> larger_;
  netuit::Field<std::uint64_t> count_;
  netuit::Call<Neighbor> tell_;
  netuit::Call<Chunk> close_;
};

}  // namespace triangle_count
