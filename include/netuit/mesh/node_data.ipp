#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <netuit/file/atomic_file.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh_core.hpp>
#include <netuit/mesh/node_data.hpp>
#include <netuit/mesh/on_root.hpp>
#include <uit/config.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>
#include <uit/support/function_ref.hpp>
#include <uit/link/world.hpp>

namespace netuit {

namespace detail {

/// Collects a text per node on rank 0. `text_of` gives those of this process by local number. Returns the texts by node id on
/// rank 0, and an empty vector elsewhere. Collective.
UIT_DEFINE std::vector<std::string> GatherTexts(const MeshCore& mesh, const std::function<std::string(std::size_t)>& text_of) {
  uit::Bytes mine;
  mesh.ForEachNode([&](std::size_t local, std::size_t, NodeId id) {
    const std::string text = text_of(local);
    const std::uint64_t head[]{id, text.size()};
    const uit::ByteView bytes = std::as_bytes(std::span(head));
    mine.insert(mine.end(), bytes.begin(), bytes.end());
    const uit::ByteView letters = std::as_bytes(std::span(text));
    mine.insert(mine.end(), letters.begin(), letters.end());
  });
  const std::vector<uit::Bytes> parts = mesh.GetWorld().Gather(mine);
  std::vector<std::string> texts(mesh.GetWorld().IsRoot() ? mesh.NumNodes() : 0);
  for (const uit::Bytes& part : parts) {
    uit::ByteReader reader(part);
    std::uint64_t id = 0;
    std::uint64_t length = 0;
    uit::ByteView letters;
    while (reader.TryRead(id) && reader.TryRead(length) && reader.TryTake(length, letters))
      texts[id].assign(reinterpret_cast<const char*>(letters.data()), letters.size());
  }
  return texts;
}

UIT_DEFINE std::vector<NodeId> NodesAndGhosts(const MeshCore& mesh) {
  std::vector<NodeId> ids;
  mesh.ForEachNode([&](std::size_t, std::size_t, NodeId id) { ids.push_back(id); });
  mesh.ForEachGhost([&](std::size_t, NodeId id) { ids.push_back(id); });
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

UIT_DEFINE const std::byte* ScatteredBytes::Of(NodeId id) const {
  return values.data() + static_cast<std::size_t>(std::ranges::lower_bound(ids, id) - ids.begin()) * num_bytes;
}

UIT_DEFINE void CheckNumValues(const MeshCore& mesh, std::size_t num_values) {
  if (num_values != mesh.NumNodes())
    throw uit::InputError(std::to_string(num_values) + " values for " + std::to_string(mesh.NumNodes()) + " nodes");
}

UIT_DEFINE ScatteredBytes ScatterBytes(const MeshCore& mesh, std::size_t num_bytes,
                                       uit::FunctionRef<void(NodeId, std::byte*)> copy) {
  const uit::World& world = mesh.GetWorld();
  std::vector<NodeId> ids = NodesAndGhosts(mesh);
  std::vector<uit::Bytes> parts;
  for (const uit::Bytes& wanted : world.Gather(std::as_bytes(std::span{ids}))) {
    uit::Bytes& part = parts.emplace_back(wanted.size() / sizeof(NodeId) * num_bytes);
    for (std::size_t i = 0; i < wanted.size() / sizeof(NodeId); ++i) {
      NodeId id = 0;
      std::memcpy(&id, wanted.data() + i * sizeof id, sizeof id);
      copy(id, part.data() + i * num_bytes);
    }
  }
  return {.ids = std::move(ids), .num_bytes = num_bytes, .values = world.Scatter(std::move(parts))};
}

UIT_DEFINE void WriteLines(const MeshCore& mesh, const std::filesystem::path& path, const std::string& header,
                           const std::vector<std::string>& lines) {
  const std::vector<std::string> all = GatherTexts(mesh, [&](std::size_t local) { return lines[local]; });
  OnRoot(mesh.GetWorld(), [&] {
    WriteFileAtomically(path, [&](std::ostream& out) {
      out << header;
      for (const std::string& line : all) out << line;
    });
    return true;
  });
}

}  // namespace detail

UIT_DEFINE std::vector<std::string> GatherLabels(const MeshCore& mesh) {
  return detail::GatherTexts(mesh, [&](std::size_t local) { return mesh.Label(local); });
}

}  // namespace netuit
