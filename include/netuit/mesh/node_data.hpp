#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <netuit/file/table.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh_core.hpp>
#include <netuit/mesh/on_root.hpp>
#include <uit/config.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>
#include <uit/link/world.hpp>

namespace netuit {

/// Values of all nodes by id, on rank 0. The other ranks' vectors are ignored.
template <typename T>
struct RootValues {
  std::vector<T> by_node;  ///< one value per node
};

/// Wraps rank 0's values to fill a field from them.
///
///     auto power = mesh.AddField<double>(netuit::FromRoot(std::move(by_node)));
template <typename T>
RootValues<T> FromRoot(std::vector<T> by_node) {
  return {std::move(by_node)};
}

/// Returns the labels of all nodes by id on rank 0, and an empty vector elsewhere. Collective.
std::vector<std::string> GatherLabels(const MeshCore& mesh);

namespace detail {

/// Returns the ids of this process's nodes and ghosts, ascending.
std::vector<NodeId> NodesAndGhosts(const MeshCore& mesh);
/// Writes a file on rank 0: `header`, then a line per node in order of id. `lines` holds those of this process by local number.
/// Collective; throws like OnRoot.
void WriteLines(const MeshCore& mesh, const std::filesystem::path& path, const std::string& header,
                const std::vector<std::string>& lines);

}  // namespace detail

/// Sends each process the values of its nodes and ghosts, out of those that rank 0's `make()` returns by node id. Returns a
/// function of the id. Collective. If `make` throws, rank 0 throws the same and the others RootFailed.
template <typename T, std::invocable F>
  requires std::is_trivially_copyable_v<T>
std::function<T(NodeId)> ScatterByNode(const MeshCore& mesh, F&& make) {
  const uit::World& world = mesh.GetWorld();
  const std::vector<T> all = OnRoot(world, [&] {
    std::vector<T> made = make();
    if (made.size() != mesh.NumNodes())
      throw uit::InputError(std::to_string(made.size()) + " values for " + std::to_string(mesh.NumNodes()) + " nodes");
    return made;
  });
  std::vector<NodeId> ids = detail::NodesAndGhosts(mesh);
  std::vector<uit::Bytes> parts;
  for (const uit::Bytes& wanted : world.Gather(std::as_bytes(std::span{ids}))) {
    uit::Bytes& part = parts.emplace_back(wanted.size() / sizeof(NodeId) * sizeof(T));
    for (std::size_t i = 0; i < wanted.size() / sizeof(NodeId); ++i) {
      NodeId id = 0;
      std::memcpy(&id, wanted.data() + i * sizeof id, sizeof id);
      const T value = all[id];
      std::memcpy(part.data() + i * sizeof(T), &value, sizeof(T));
    }
  }
  return [ids = std::move(ids), mine = world.Scatter(std::move(parts))](NodeId id) {
    T value{};
    const auto at = static_cast<std::size_t>(std::ranges::lower_bound(ids, id) - ids.begin());
    std::memcpy(&value, mine.data() + at * sizeof(T), sizeof(T));
    return value;
  };
}

/// A field as a column of a table to be written.
template <typename F>
struct Column {
  std::string name;  ///< title in the table's first line
  const F& field;    ///< a field of the mesh
};
/// The type of the field follows from the argument.
template <typename F>
Column(std::string, const F&) -> Column<F>;

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/node_data.ipp>
#endif
