#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>

#include <netuit/checkpoint/checkpoint.hpp>
#include <netuit/checkpoint/data_folder.hpp>
#include <netuit/checkpoint/manifest.hpp>
#include <netuit/checkpoint/mesh_state.hpp>
#include <netuit/checkpoint/saved_checkpoint.hpp>
#include <netuit/checkpoint/saved_data.hpp>
#include <netuit/checkpoint/saved_files.hpp>
#include <netuit/mesh/mesh.hpp>
#include <uit/config.hpp>
#include <uit/link/world.hpp>

namespace netuit {

UIT_DEFINE void SaveCheckpoint(Mesh& mesh, const std::filesystem::path& folder, const std::map<std::string, std::string>& notes) {
  detail::CheckSavable(mesh);
  const uit::World& world = mesh.GetWorld();
  detail::SaveData(world, folder, detail::checkpoint_names, [&](std::uint64_t number, const std::filesystem::path& path) {
    detail::SavedFiles files(world, path);
    detail::CheckpointManifest manifest = detail::SaveState(mesh, files);
    manifest.data = number;
    manifest.notes = notes;
    files.Sync();
    return manifest.ToText();
  });
}

UIT_DEFINE CheckpointInfo LoadCheckpoint(Mesh& mesh, const std::filesystem::path& folder) {
  const detail::SavedCheckpoint saved(mesh.GetWorld(), folder);
  detail::LoadState(mesh, saved.manifest, saved.files, folder.string());
  return {saved.manifest.num_updates, saved.manifest.notes};
}

UIT_DEFINE CheckpointInfo ReadCheckpointInfo(const uit::World& world, const std::filesystem::path& folder) {
  const auto manifest = detail::LoadManifest<detail::CheckpointManifest>(world, folder, detail::checkpoint_names);
  return {manifest.num_updates, manifest.notes};
}

UIT_DEFINE bool HasCheckpoint(const uit::World& world, const std::filesystem::path& folder) {
  std::error_code error;  // a folder that cannot be read has none
  const bool has_one = world.IsRoot() && std::filesystem::exists(folder / detail::checkpoint_names.manifest, error);
  return world.BroadcastValue(has_one);
}

}  // namespace netuit
