#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <netuit/checkpoint/block_route.hpp>
#include <netuit/checkpoint/data_folder.hpp>
#include <netuit/checkpoint/manifest.hpp>
#include <netuit/checkpoint/mesh_state.hpp>
#include <netuit/checkpoint/saved_data.hpp>
#include <netuit/checkpoint/saved_files.hpp>
#include <netuit/checkpoint/take_over.hpp>
#include <netuit/checkpoint/value_store.hpp>
#include <netuit/file/numpy_format.hpp>
#include <netuit/mesh/mesh.hpp>
#include <uit/config.hpp>
#include <uit/link/world.hpp>
#include <uit/support/bytes.hpp>

namespace netuit {

namespace detail {

/// Keeps values of which some are missing, in memory. What is read has the missing ones from another store.
class PatchedStore final : public ValueStore {
 public:
  /// Refers to the other store.
  explicit PatchedStore(const ValueStore& base) : base_(base) {}

  std::uint64_t Write(const std::string& name, const NumpyType&, std::size_t, const BlockRoute& route,
                      uit::ByteView block) override {
    Note(name, route);
    blocks_[name].assign(block.begin(), block.end());
    return 0;
  }
  std::uint64_t WriteVaried(const std::string& name, const BlockRoute& route, VariedBlock block) override {
    Note(name, route);
    varied_[name] = std::move(block);
    return 0;
  }
  uit::Bytes Read(const std::string& name, const NumpyType& type, std::size_t num_bytes, const BlockRoute& route,
                  std::uint64_t digest) const override {
    uit::Bytes block = base_.Read(name, type, num_bytes, route, digest);
    const uit::Bytes& newer = blocks_.at(name);
    for (std::size_t i = 0; i < route.Count(); ++i)
      if (Has(name, i) && num_bytes != 0) std::memcpy(block.data() + i * num_bytes, newer.data() + i * num_bytes, num_bytes);
    return block;
  }
  VariedBlock ReadVaried(const std::string& name, const BlockRoute& route, std::uint64_t digest) const override {
    const VariedBlock older = base_.ReadVaried(name, route, digest);
    const VariedBlock& newer = varied_.at(name);
    VariedBlock block;
    uit::ByteReader in_older(older.bytes);
    uit::ByteReader in_newer(newer.bytes);
    for (std::size_t i = 0; i < route.Count(); ++i) {
      uit::ByteView values[2];
      if (!in_older.TryTake(older.sizes[i], values[0]) || !in_newer.TryTake(newer.sizes[i], values[1])) break;
      const uit::ByteView value = values[Has(name, i) ? 1 : 0];
      block.sizes.push_back(value.size());
      block.bytes.insert(block.bytes.end(), value.begin(), value.end());
    }
    block.sizes.resize(route.Count());
    return block;
  }

 private:
  /// Notes which values of this process's block some process has. Collective.
  void Note(const std::string& name, const BlockRoute& route) {
    present_[name] = route.Collect(1, [](std::size_t, std::byte* to) { *to = std::byte{1}; });
  }
  bool Has(const std::string& name, std::size_t i) const { return present_.at(name)[i] != std::byte{0}; }

  const ValueStore& base_;
  std::map<std::string, uit::Bytes> present_;  // by name, then by item of this process's block
  std::map<std::string, uit::Bytes> blocks_;
  std::map<std::string, VariedBlock> varied_;
};

/// Returns the number of nodes that no remaining process has. Collective.
UIT_DEFINE std::uint64_t CountMissing(const Mesh& mesh, const uit::World& world) {
  std::vector<std::uint64_t> ids;
  mesh.ForEachNode([&](std::size_t, std::size_t, NodeId id) { ids.push_back(id); });
  const BlockRoute route(world, mesh.NumNodes(), std::move(ids));
  const uit::Bytes present = route.Collect(1, [](std::size_t, std::byte* to) { *to = std::byte{1}; });
  return static_cast<std::uint64_t>(std::ranges::count(present, std::byte{0}));
}

/// Gives `to` the state of a checkpoint, with what is left of `from` in place of older values, if there is a `from`. Collective.
UIT_DEFINE TakeOverResult RestoreFrom(const std::filesystem::path& folder, Mesh* from, Mesh& to) {
  struct Part {
    TakeOverResult result;
    std::uint64_t num_updates = 0;
  };
  const uit::World& world = to.GetWorld();
  const auto manifest = LoadManifest<CheckpointManifest>(world, folder, checkpoint_names);
  const SavedFiles files(world, folder / checkpoint_names.Subfolder(manifest.data));
  PatchedStore store(files);
  Part mine{.result = {.num_nodes = to.NumLocalNodes()}};
  if (from != nullptr) {
    SaveRest(*from, world, store);
    mine = {.result = {.num_nodes = CountMissing(*from, world)}, .num_updates = from->NumUpdates()};
  }
  const ValueStore& whole = from != nullptr ? static_cast<const ValueStore&>(store) : files;
  mine.result.num_messages = LoadState(to, manifest, whole, folder.string());
  Part all{.result = {}, .num_updates = manifest.num_updates};
  for (const Part& theirs : world.AllGatherValue(mine)) {
    all.result.num_nodes += theirs.result.num_nodes;
    all.result.num_messages += theirs.result.num_messages;
    all.num_updates = std::max(all.num_updates, theirs.num_updates);
  }
  to.SetNumUpdates(all.num_updates);
  return all.result;
}

}  // namespace detail

UIT_DEFINE TakeOverResult TakeOver(Mesh& from, Mesh& to, const std::filesystem::path& folder) {
  return detail::RestoreFrom(folder, &from, to);
}

UIT_DEFINE TakeOverResult GoBack(Mesh& to, const std::filesystem::path& folder) { return detail::RestoreFrom(folder, nullptr, to); }

}  // namespace netuit
