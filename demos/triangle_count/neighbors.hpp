#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/quality/quality.hpp>

namespace triangle_count {

/// A node as its neighbours know it. The smaller of two nodes is the one with fewer neighbours, or else with the smaller number. If
/// each node keeps only its larger neighbours, its list is short, and a triangle is found once: at its smallest node.
struct Neighbor {
  netuit::NodeId degree = 0;
  netuit::NodeId id = 0;
  /// By degree, then by number.
  auto operator<=>(const Neighbor&) const = default;
};

/// The larger neighbours of a node.
class Larger {
 public:
  /// Begins anew.
  void Clear() { list_.clear(); }
  /// Adds a neighbour, in any order. Links may be repeated.
  void Add(const Neighbor& neighbor) { list_.push_back(neighbor); }
  /// After the last Add.
  void Finish() {
    std::ranges::sort(list_);
    const auto rest = std::ranges::unique(list_);
    list_.erase(rest.begin(), rest.end());
    std::size_t num_buckets = std::bit_ceil(list_.size() / 4);
    while (!TryFill(list_.empty() ? 0 : num_buckets)) num_buckets *= 2;
  }
  /// From the smallest to the largest.
  std::span<const Neighbor> List() const { return list_; }
  /// How many of some nodes are among them.
  std::uint64_t NumAmong(std::span<const netuit::NodeId> some) const {
    if (buckets_.empty()) return 0;
    std::uint64_t count = 0;
    for (const netuit::NodeId id : some) {
      bool is_found = false;  // without branches, because they would often be mispredicted
      for (const netuit::NodeId each : buckets_[Hash(id)]) is_found |= each == id;
      count += is_found ? 1 : 0;
    }
    return count;
  }

 private:
  using Bucket = std::array<netuit::NodeId, 8>;

  std::size_t Hash(netuit::NodeId id) const { return (id * 2'654'435'769U >> 7U) & (buckets_.size() - 1); }
  /// Returns false if a bucket has too little room.
  bool TryFill(std::size_t num_buckets) {
    Bucket empty;
    empty.fill(netuit::no_node);
    buckets_.assign(num_buckets, empty);
    return std::ranges::all_of(list_, [&](const Neighbor& neighbor) {
      Bucket& bucket = buckets_[Hash(neighbor.id)];
      const auto place = std::ranges::find(bucket, netuit::no_node);
      if (place != bucket.end()) *place = neighbor.id;
      return place != bucket.end();
    });
  }

  std::vector<Neighbor> list_{};
  std::vector<Bucket> buckets_{};  // a hash table of their numbers
};

/// The number of triangles, on one process. Marks the larger neighbours of a node, and looks which of theirs are marked.
inline std::uint64_t CountSerially(const netuit::Topology& graph) {
  std::vector<Larger> larger(graph.NumNodes());
  const auto as_neighbor = [&](netuit::NodeId id) {
    return Neighbor{static_cast<netuit::NodeId>(graph.OutNeighbors(id).size()), id};
  };
  for (netuit::NodeId node = 0; node < graph.NumNodes(); ++node) {
    for (const netuit::NodeId target : graph.OutNeighbors(node))
      if (as_neighbor(node) < as_neighbor(target)) larger[node].Add(as_neighbor(target));
    larger[node].Finish();
  }
  std::vector<netuit::NodeId> mark(graph.NumNodes(), netuit::no_node);
  std::uint64_t count = 0;
  for (netuit::NodeId first = 0; first < graph.NumNodes(); ++first) {
    for (const Neighbor& second : larger[first].List()) mark[second.id] = first;
    for (const Neighbor& second : larger[first].List())
      for (const Neighbor& third : larger[second.id].List()) count += mark[third.id] == first ? 1 : 0;
  }
  return count;
}

}  // namespace triangle_count
