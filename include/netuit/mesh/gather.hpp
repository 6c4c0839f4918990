#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh_core.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/bytes.hpp>
#include <uit/link/world.hpp>

namespace netuit {

/// Collects a value per node on rank 0. `values` holds those of this process by local number. Returns the values by node id on
/// rank 0, and an empty vector elsewhere. Collective.
template <typename T>
  requires std::is_trivially_copyable_v<T>
std::vector<T> GatherByNode(const MeshCore& mesh, const std::vector<T>& values) {
  UIT_ASSERT(values.size() == mesh.NumLocalNodes(), "a gather needs a value per local node");
  uit::Bytes mine(values.size() * (sizeof(NodeId) + sizeof(T)));
  std::byte* to = mine.data();
  mesh.ForEachNode([&](std::size_t local, std::size_t, NodeId id) {
    const T value = values[local];
    std::memcpy(to, &id, sizeof id);
    std::memcpy(to + sizeof id, &value, sizeof(T));
    to += sizeof id + sizeof(T);
  });
  const std::vector<uit::Bytes> parts = mesh.GetWorld().Gather(mine);
  std::vector<T> all(mesh.GetWorld().IsRoot() ? mesh.NumNodes() : 0);
  for (const uit::Bytes& part : parts) {
    for (std::size_t at = 0; at + sizeof(NodeId) + sizeof(T) <= part.size(); at += sizeof(NodeId) + sizeof(T)) {
      NodeId id = 0;
      T value{};
      std::memcpy(&id, part.data() + at, sizeof id);
      std::memcpy(&value, part.data() + at + sizeof id, sizeof(T));
      all[id] = value;
    }
  }
  return all;
}

}  // namespace netuit
