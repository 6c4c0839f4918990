#pragma once

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <netuit/checkpoint/data_folder.hpp>
#include <netuit/file/atomic_file.hpp>
#include <uit/config.hpp>
#include <uit/support/error.hpp>

namespace netuit::detail {

UIT_DEFINE std::optional<std::uint64_t> DataFolder::NumberOf(const std::string& name) const {
  const std::string_view prefix = names_.prefix;
  if (!name.starts_with(prefix)) return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data() + prefix.size(), name.data() + name.size(), number);
  if (error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  return number;
}

UIT_DEFINE DataFolder::DataFolder(std::filesystem::path folder, const DataNames& names)
    : folder_(std::move(folder)), names_(names) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) Fail(folder_, error.value());
  lock_ = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ < 0) Fail(folder_, errno);
  // Some file systems have no locks; there it is up to the user that no two jobs write one checkpoint.
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(lock_);
    throw uit::OutputError(folder_.string() + ": cannot be written: another job is writing this checkpoint");
  }
  try {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
      if (const auto number = NumberOf(entry.path().filename().string())) number_ = std::max(number_, *number + 1);
    }
    if (!error) fs::create_directory(Path(), error);
    if (error) Fail(Path(), error.value());
  } catch (...) {
    ::close(lock_);
    throw;
  }
}

UIT_DEFINE DataFolder::~DataFolder() {
  std::error_code ignored;
  if (!is_committed_) std::filesystem::remove_all(Path(), ignored);
  ::close(lock_);
}

UIT_DEFINE void DataFolder::Commit(const std::string& manifest) {
  Sync(Path());
  Sync(folder_);
  WriteFileAtomically(folder_ / names_.manifest, [&](std::ostream& out) { out << manifest; });
  is_committed_ = true;
  Sync(folder_);  // before the older files go
  RemoveOthers();
}

UIT_DEFINE void DataFolder::Fail(const std::filesystem::path& path, int error) const {
  throw uit::OutputError(path.string() + ": cannot be written: " + std::generic_category().message(error));
}

UIT_DEFINE void DataFolder::Sync(const std::filesystem::path& folder) const {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool is_synced = file >= 0 && (::fsync(file) == 0 || errno == EINVAL);  // some file systems cannot sync folders
  const int error = errno;
  if (file >= 0) ::close(file);
  if (!is_synced) Fail(folder, error);
}

UIT_DEFINE void DataFolder::RemoveOthers() const {
  namespace fs = std::filesystem;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, ignored)) {
    const std::string name = entry.path().filename().string();
    const auto number = NumberOf(name);
    const bool is_draft = name.starts_with(std::string(names_.manifest) + ".") && name.ends_with(".tmp");
    if ((number && *number != number_) || is_draft) fs::remove_all(entry.path(), ignored);
  }
}

UIT_DEFINE std::string ReadManifestText(const std::filesystem::path& folder, const DataNames& names) {
  constexpr std::uintmax_t most_bytes = std::uintmax_t{64} << 20U;
  const std::filesystem::path path = folder / names.manifest;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    throw uit::InputError(folder.string() + ": has no " + names.what + ": " + names.manifest + " is missing");
  if (std::filesystem::file_size(path, error) > most_bytes)
    throw uit::InputError(path.string() + ": is no " + names.what + ", or damaged");
  std::ostringstream all;
  all << std::ifstream(path, std::ios::binary).rdbuf();
  return all.str();
}

}  // namespace netuit::detail
