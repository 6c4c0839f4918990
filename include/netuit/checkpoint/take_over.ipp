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
#include <netuit/checkpoint/memory_store.hpp>
#include <netuit/checkpoint/mesh_state.hpp>
#include <netuit/checkpoint/saved_checkpoint.hpp>
#include <netuit/checkpoint/take_over.hpp>
#include <netuit/checkpoint/value_store.hpp>
#include <netuit/file/numpy_format.hpp>
#include <netuit/mesh/mesh.hpp>
#include <uit/config.hpp>
#include <uit/link/world.hpp>
#include <uit/support/bytes.hpp>

namespace netuit {

namespace detail {

/// Returns by item of this process's block whether any process has it: 1 or 0. Collective.
UIT_DEFINE uit::Bytes FindPresent(const BlockRoute& route) {
  return route.Collect(1, [](std::size_t, std::byte* to) { *to = std::byte{1}; });
}

/// Keeps values of which some are missing, in memory. What is read has the missing ones from another store.
class PatchedStore final : public ValueStore {
 public:
  /// Refers to the other store.
  explicit PatchedStore(const ValueStore& base) : base_(base) {}

  std::uint64_t Write(const std::string& name, const NumpyType& type, std::size_t num_bytes, const BlockRoute& route,
                      uit::ByteView block) override {
    Note(name, route);
    return newer_.Write(name, type, num_bytes, route, block);
  }
  std::uint64_t WriteVaried(const std::string& name, const BlockRoute& route, VariedBlock block) override {
    Note(name, route);
    return newer_.WriteVaried(name, route, std::move(block));
  }
  uit::Bytes Read(const std::string& name, const NumpyType& type, std::size_t num_bytes, const BlockRoute& route,
                  std::uint64_t digest) const override {
    uit::Bytes block = base_.Read(name, type, num_bytes, route, digest);
    const uit::Bytes newer = newer_.Read(name, type, num_bytes, route, 0);
    for (std::size_t i = 0; i < route.Count(); ++i)
      if (Has(name, i) && num_bytes != 0) std::memcpy(block.data() + i * num_bytes, newer.data() + i * num_bytes, num_bytes);
    return block;
  }
  VariedBlock ReadVaried(const std::string& name, const BlockRoute& route, std::uint64_t digest) const override {
    const VariedBlock older = base_.ReadVaried(name, route, digest);
    const VariedBlock newer = newer_.ReadVaried(name, route, 0);
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
  void Note(const std::string& name, const BlockRoute& route) { present_[name] = FindPresent(route); }
  bool Has(const std::string& name, std::size_t i) const { return present_.at(name)[i] != std::byte{0}; }

  const ValueStore& base_;
  std::map<std::string, uit::Bytes> present_;  // by name, then by item of this process's block
  MemoryStore newer_;
};

/// Returns the number of nodes that no remaining process has. Collective.
UIT_DEFINE std::uint64_t CountMissing(const Mesh& mesh, const uit::World& world) {
  std::vector<std::uint64_t> ids;
  mesh.ForEachNode([&](std::size_t, std::size_t, NodeId id) { ids.push_back(id); });
  const uit::Bytes present = FindPresent(BlockRoute(world, mesh.NumNodes(), std::move(ids)));
  return static_cast<std::uint64_t>(std::ranges::count(present, std::byte{0}));
}

}  // namespace detail

UIT_DEFINE TakeOverResult TakeOver(Mesh& from, Mesh& to, const std::filesystem::path& folder) {
  struct Share {
    TakeOverResult result;
    std::uint64_t num_updates = 0;
  };
  const uit::World& world = to.GetWorld();
  const detail::SavedCheckpoint saved(world, folder);
  detail::PatchedStore store(saved.files);
  detail::SaveRest(from, world, store);
  Share mine{.result = {.num_nodes = detail::CountMissing(from, world)}, .num_updates = from.NumUpdates()};
  mine.result.num_messages = detail::LoadState(to, saved.manifest, store, folder.string());
  Share all{.result = {}, .num_updates = saved.manifest.num_updates};
  for (const Share& theirs : world.AllGatherValue(mine)) {
    all.result.num_nodes += theirs.result.num_nodes;
    all.result.num_messages += theirs.result.num_messages;
    all.num_updates = std::max(all.num_updates, theirs.num_updates);
  }
  to.SetNumUpdates(all.num_updates);
  return all.result;
}

UIT_DEFINE TakeOverResult GoBack(Mesh& to, const std::filesystem::path& folder) {
  const detail::SavedCheckpoint saved(to.GetWorld(), folder);
  const std::uint64_t mine = detail::LoadState(to, saved.manifest, saved.files, folder.string());
  TakeOverResult result{.num_nodes = to.NumNodes()};
  for (const std::uint64_t theirs : to.GetWorld().AllGatherValue(mine)) result.num_messages += theirs;
  return result;
}

}  // namespace netuit
