#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <netuit/file/atomic_file.hpp>
#include <uit/config.hpp>
#include <uit/support/error.hpp>

namespace netuit::detail {

/// How the parts of something that was saved are called in a folder: a subfolder with its files, and a file with its manifest.
struct DataNames {
  const char* what;      // in messages
  const char* manifest;  // file name
  const char* prefix;    // of the subfolder, before its number

  std::string Subfolder(std::uint64_t number) const { return prefix + std::to_string(number); }
};
inline constexpr DataNames checkpoint_names{"checkpoint", "checkpoint.json", "data-"};
inline constexpr DataNames graph_names{"graph", "graph.json", "graph-"};

/// A new subfolder for the files of a checkpoint, or of something else. On rank 0 only. Until Commit, nothing has happened to the
/// older checkpoint; without it, the subfolder is removed.
class DataFolder {
 public:
  /// Makes the folder if it does not exist, and the subfolder. Removes what killed jobs have left. Throws uit::OutputError.
  DataFolder(std::filesystem::path folder, const DataNames& names);
  DataFolder(const DataFolder&) = delete;
  DataFolder& operator=(const DataFolder&) = delete;
  ~DataFolder();

  /// Returns the subfolder's number.
  std::uint64_t Number() const { return number_; }
  /// Makes the files in the subfolder the checkpoint, and removes those of the older one. Throws uit::OutputError.
  void Commit(const std::string& manifest);

 private:
  [[noreturn]] void Fail(const std::filesystem::path& path, int error) const;
  /// Makes the names in a folder durable.
  void Sync(const std::filesystem::path& folder) const;
  /// Removes all subfolders of data except this, and drafts of the manifest.
  void RemoveOthers() const;
  /// Returns the number of a subfolder of data, if the name is one.
  std::optional<std::uint64_t> NumberOf(const std::string& name) const;
  std::filesystem::path Path() const { return folder_ / names_.Subfolder(number_); }

  std::filesystem::path folder_;
  DataNames names_;
  int lock_ = -1;
  std::uint64_t number_ = 0;
  bool is_committed_ = false;
};

/// Returns the text of a manifest. On rank 0 only. Throws uit::InputError if the folder has none.
std::string ReadManifestText(const std::filesystem::path& folder, const DataNames& names);

}  // namespace netuit::detail

#if !UIT_COMPILED
#include <netuit/checkpoint/data_folder.ipp>
#endif
