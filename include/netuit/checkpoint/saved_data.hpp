#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include <netuit/checkpoint/data_folder.hpp>
#include <netuit/mesh/on_root.hpp>
#include <uit/link/world.hpp>
#include <uit/support/bytes.hpp>

namespace netuit::detail {

/// Saves something in a folder, in place of an older one. `write(number, path)` writes files into the subfolder `path` with this
/// number, and returns the text of the manifest once they are on the disk. Collective. Throws uit::OutputError on every process.
template <std::invocable<std::uint64_t, const std::filesystem::path&> F>
void SaveData(const uit::World& world, const std::filesystem::path& folder, const DataNames& names, F&& write) {
  std::unique_ptr<DataFolder> data;  // on rank 0
  const std::uint64_t mine = OnRoot(world, [&] {
    data = std::make_unique<DataFolder>(folder, names);
    return data->Number();
  });
  const std::uint64_t number = world.BroadcastValue(mine);
  const std::string manifest = write(number, folder / names.Subfolder(number));
  OnRoot(world, [&] { return data->Commit(manifest), 0; });
}

/// Returns the manifest of what SaveData has saved. Collective. Throws uit::InputError on every process if the folder has none.
template <typename M>
M LoadManifest(const uit::World& world, const std::filesystem::path& folder, const DataNames& names) {
  const std::string name = (folder / names.manifest).string();
  const std::string text = OnRoot(world, [&] {
    std::string read = ReadManifestText(folder, names);
    [[maybe_unused]] const M checked = M::Parse(read, name);
    return read;
  });
  const uit::Bytes bytes = world.Broadcast({reinterpret_cast<const std::byte*>(text.data()),
                                            reinterpret_cast<const std::byte*>(text.data()) + text.size()});
  return M::Parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, name);
}

}  // namespace netuit::detail
