#pragma once

#include <filesystem>

#include <netuit/checkpoint/data_folder.hpp>
#include <netuit/checkpoint/manifest.hpp>
#include <netuit/checkpoint/saved_data.hpp>
#include <netuit/checkpoint/saved_files.hpp>
#include <uit/config.hpp>
#include <uit/link/world.hpp>

namespace netuit::detail {

/// The newest checkpoint in a folder, to be read.
struct SavedCheckpoint {
  /// Collective. Throws uit::InputError on every process if there is none.
  SavedCheckpoint(const uit::World& world, const std::filesystem::path& folder)
      : manifest(LoadManifest<CheckpointManifest>(world, folder, checkpoint_names)),
        files(world, folder / checkpoint_names.Subfolder(manifest.data)) {}

  CheckpointManifest manifest;  ///< its table of contents
  SavedFiles files;             ///< its values
};

}  // namespace netuit::detail
