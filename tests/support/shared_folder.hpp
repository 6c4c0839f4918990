#pragma once

#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <uit/support/bytes.hpp>

#include "tests/support/mpi_world.hpp"

namespace netuit::testing {

/// A folder at the same path on every process. It is empty at first and removed at the end.
class Folder {
 public:
  Folder() {
    static int num_folders = 0;
    const std::string own = "conduit_test_" + std::to_string(getpid()) + "_" + std::to_string(num_folders++);
    const std::string name = (std::filesystem::temp_directory_path() / own).string();
    const auto* text = reinterpret_cast<const std::byte*>(name.data());
    const uit::Bytes agreed = uit::testing::MpiTestWorld().Broadcast(uit::Bytes(text, text + name.size()));
    path_ = std::string(reinterpret_cast<const char*>(agreed.data()), agreed.size());
    Empty();
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { Empty(); }
  std::string Path() const { return path_.string(); }
  void Empty() {
    uit::testing::MpiTestWorld().Agree("");  // no process needs it any more
    if (uit::testing::MpiTestWorld().IsRoot()) std::filesystem::remove_all(path_);
    uit::testing::MpiTestWorld().Agree("");
  }

 private:
  std::filesystem::path path_;
};

}  // namespace netuit::testing
