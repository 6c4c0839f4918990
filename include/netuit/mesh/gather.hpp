#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh_core.hpp>
#include <uit/config.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/function_ref.hpp>

namespace netuit {

namespace detail {

/// Sends rank 0 a value of `num_bytes` bytes for each node of this process, which `copy(local, to)` writes. Calls `store(id, from)`
/// there for each. Collective.
void GatherBytes(const MeshCore& mesh, std::size_t num_bytes, uit::FunctionRef<void(std::size_t, std::byte*)> copy,
                 uit::FunctionRef<void(NodeId, const std::byte*)> store);

}  // namespace detail

/// Collects a value per node on rank 0. `values` holds those of this process by local number. Returns the values by node id on
/// rank 0, and an empty vector elsewhere. Collective.
template <typename T>
  requires std::is_trivially_copyable_v<T>
std::vector<T> GatherByNode(const MeshCore& mesh, const std::vector<T>& values) {
  UIT_ASSERT(values.size() == mesh.NumLocalNodes(), "a gather needs a value per local node");
  std::vector<T> all;
  const auto copy = [&values](std::size_t local, std::byte* to) {
    const T value = values[local];
    std::memcpy(to, &value, sizeof(T));
  };
  const auto store = [&](NodeId id, const std::byte* from) {
    if (all.empty()) all.resize(mesh.NumNodes());  // not before the others have sent theirs: if it throws, they do not wait
    T value{};
    std::memcpy(&value, from, sizeof(T));
    all[id] = value;
  };
  detail::GatherBytes(mesh, sizeof(T), copy, store);
  return all;
}

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/gather.ipp>
#endif
