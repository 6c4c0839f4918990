#pragma once

#include <concepts>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh_core.hpp>
#include <netuit/mesh/on_root.hpp>
#include <uit/config.hpp>
#include <uit/link/world.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/function_ref.hpp>

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

/// The values of a process's nodes and ghosts.
struct ScatteredBytes {
  std::vector<NodeId> ids{};  // ascending
  std::size_t num_bytes = 0;  // of a value
  uit::Bytes values{};        // in the order of the ids

  /// Returns the address of a node's value.
  const std::byte* Of(NodeId id) const;
};
/// Throws uit::InputError unless there is a value per node.
void CheckNumValues(const MeshCore& mesh, std::size_t num_values);
/// Sends each process the values of its nodes and ghosts, which rank 0 copies with `copy(id, to)`. Collective.
ScatteredBytes ScatterBytes(const MeshCore& mesh, std::size_t num_bytes, uit::FunctionRef<void(NodeId, std::byte*)> copy);
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
  const std::vector<T> all = OnRoot(mesh.GetWorld(), [&] {
    std::vector<T> made = make();
    detail::CheckNumValues(mesh, made.size());
    return made;
  });
  const auto copy = [&all](NodeId id, std::byte* to) {
    const T value = all[id];
    std::memcpy(to, &value, sizeof(T));
  };
  return [mine = detail::ScatterBytes(mesh, sizeof(T), copy)](NodeId id) {
    T value{};
    std::memcpy(&value, mine.Of(id), sizeof(T));
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
