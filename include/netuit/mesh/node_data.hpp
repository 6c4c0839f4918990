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

/// Values that rank 0 has for all nodes, by id; elsewhere nothing is looked at.
template <typename T>
struct RootValues {
  std::vector<T> by_node;  ///< as many as there are nodes
};

/// What a field is to be filled from.
///
///     auto power = mesh.AddField<double>(netuit::FromRoot(std::move(by_node)));
template <typename T>
RootValues<T> FromRoot(std::vector<T> by_node) {
  return {std::move(by_node)};
}

/// The labels of all nodes, by id, on rank 0; elsewhere nothing. Collective.
std::vector<std::string> GatherLabels(const MeshCore& mesh);

namespace detail {

/// The nodes and ghosts of this process, ascending.
std::vector<NodeId> NodesAndGhosts(const MeshCore& mesh);
/// Writes on rank 0 a file of `header` and a line per node, by id; `lines` are those of this process's nodes, by local number.
/// Collective; throws as OnRoot.
void WriteLines(const MeshCore& mesh, const std::filesystem::path& path, const std::string& header,
                const std::vector<std::string>& lines);

}  // namespace detail

/// Gives each process, of the values that rank 0's `make()` returns by node id, those of its nodes and ghosts: as a function of
/// the id. Collective; what `make` throws, rank 0 throws, and the others RootFailed.
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

/// A field as a column of a table that is written.
template <typename F>
struct Column {
  std::string name;  ///< in the table's first line
  const F& field;    ///< a mesh's
};
template <typename F>
Column(std::string, const F&) -> Column<F>;

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/node_data.ipp>
#endif
