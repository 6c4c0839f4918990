#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/mesh/gather.hpp>
#include <netuit/mesh/mesh_core.hpp>
#include <uit/config.hpp>
#include <uit/link/world.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/function_ref.hpp>

namespace netuit::detail {

UIT_DEFINE void GatherBytes(const MeshCore& mesh, std::size_t num_bytes, uit::FunctionRef<void(std::size_t, std::byte*)> copy,
                            uit::FunctionRef<void(NodeId, const std::byte*)> store) {
  const std::size_t size = sizeof(NodeId) + num_bytes;
  uit::Bytes mine(mesh.NumLocalNodes() * size);
  std::byte* to = mine.data();
  mesh.ForEachNode([&](std::size_t local, std::size_t, NodeId id) {
    std::memcpy(to, &id, sizeof id);
    copy(local, to + sizeof id);
    to += size;
  });
  const std::vector<uit::Bytes> parts = mesh.GetWorld().Gather(mine);
  for (const uit::Bytes& part : parts) {
    for (std::size_t at = 0; at + size <= part.size(); at += size) {
      NodeId id = 0;
      std::memcpy(&id, part.data() + at, sizeof id);
      store(id, part.data() + at + sizeof id);
    }
  }
}

}  // namespace netuit::detail
