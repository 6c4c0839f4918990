// A checkpoint is on the disk before it takes its name, and survives a disk that fails. This is a program of its own, because it
// replaces the system's functions fsync and rename.
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include <fcntl.h>

#include <netuit/checkpoint/checkpoint.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/mesh.hpp>

#include "tests/netuit/run/workers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/shared_folder.hpp"
#include "tests/support/thrown.hpp"

using namespace netuit;
using netuit::testing::Folder;
using netuit::testing::TeamWith;
using uit::testing::MpiTestWorld;
using uit::testing::WordsThrownBy;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t no_call = std::numeric_limits<std::size_t>::max();

std::string TextOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

using Clock = std::chrono::steady_clock;  // one for all processes of a host

/// A call of fsync or rename.
struct DiskCall {
  fs::path path{};                 // the file, or its new name
  bool is_rename = false;
  Clock::time_point at{};
  std::string text{};              // of the file, if it is one
  std::ptrdiff_t num_entries = 0;  // of the folder, if it is one
};

/// What this process asks of the disk while a checkpoint is saved.
struct Disk {
  bool is_watched = false;
  std::size_t failing = no_call;  // the call of fsync that fails
  std::size_t num_syncs = 0;
  std::vector<DiskCall> calls{};
} disk;

}  // namespace

/// Replaces the system's function.
extern "C" int fsync(int file) {
  if (!disk.is_watched) return 0;
  const fs::path path = fs::read_symlink("/proc/self/fd/" + std::to_string(file));
  if (disk.num_syncs++ == disk.failing) return errno = EIO, -1;
  DiskCall& call = disk.calls.emplace_back(DiskCall{.path = path, .at = Clock::now()});
  if (fs::is_directory(path)) call.num_entries = std::distance(fs::directory_iterator(path), fs::directory_iterator());
  else call.text = TextOf(path);
  return 0;
}

/// Likewise.
extern "C" int rename(const char* from, const char* to) noexcept {
  if (disk.is_watched) disk.calls.push_back({.path = to, .is_rename = true, .at = Clock::now()});
  return ::renameat(AT_FDCWD, from, AT_FDCWD, to);
}

namespace {

/// A mesh with fields of both kinds: with values of one size, and of any size.
class Model {
 public:
  /// Saves it after so many updates. Returns what is thrown. The call of fsync with the number `failing` fails.
  std::string Save(const Folder& folder, std::uint64_t num_updates, std::size_t failing = no_call) {
    mesh_.SetNumUpdates(num_updates);
    mesh_.Visit([&](Node& node) {
      number_[node] = node.Id() + num_updates;
      text_[node] = std::string(number_[node], 'x');
    });
    disk = {.is_watched = true, .failing = failing};
    const std::string words = WordsThrownBy([&] { SaveCheckpoint(mesh_, folder.Path()); });
    disk.is_watched = false;
    return words;
  }
  /// Returns the number of updates of the checkpoint if its values are those of it, else 0.
  std::uint64_t Load(const Folder& folder) {
    const std::uint64_t num_updates = LoadCheckpoint(mesh_, folder.Path()).num_updates;
    bool is_whole = true;
    mesh_.Visit([&](Node& node) {
      is_whole &= number_[node] == node.Id() + num_updates && text_[node] == std::string(number_[node], 'x');
    });
    return is_whole ? num_updates : 0;
  }

 private:
  Mesh mesh_{TeamWith(1), MakeTorus(4, 5)};
  PublishedField<std::uint64_t> number_ = mesh_.AddPublishedField<std::uint64_t>();
  Field<std::string> text_ = mesh_.AddField<std::string>();
};

/// Returns this process's last call for this path, or one at the end of time.
DiskCall LastSync(const fs::path& path) {
  DiskCall last{.at = Clock::time_point::max()};
  for (const DiskCall& call : disk.calls)
    if (!call.is_rename && call.path == path) last = call;
  return last;
}

}  // namespace

TEST_CASE("Every file of a checkpoint is on the disk before the checkpoint takes its name") {
  Folder folder;
  Model model;
  CHECK(model.Save(folder, 1).empty());
  CHECK(model.Save(folder, 2).empty());
  const fs::path path = fs::canonical(folder.Path());
  Clock::time_point named{};  // the beginning of time if it is never named
  for (const DiskCall& call : disk.calls)
    if (call.is_rename && call.path.filename() == "checkpoint.json") named = call.at;
  named = MpiTestWorld().AllGatherValue(named).front();
  std::size_t num_files = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path / "data-1")) {
    const DiskCall synced = LastSync(entry.path());
    CAPTURE(entry.path());
    CHECK(synced.at < named);
    CHECK(synced.text == TextOf(entry.path()));  // so it was written before
    ++num_files;
  }
  CHECK(num_files == 3);
  if (!MpiTestWorld().IsRoot()) return;
  CHECK(LastSync(path / "data-1").at < named);
  CHECK(LastSync(path / "data-1").num_entries == 3);
  CHECK(disk.calls.back().path == path);  // the name itself
  CHECK(disk.calls.back().at > named);
  CHECK(disk.calls.back().num_entries == 3);  // the older checkpoint's files are still there
}

TEST_CASE("If the disk fails at any moment of a save, it throws, and a whole checkpoint remains") {
  Folder folder;
  Model model;
  CHECK(model.Save(folder, 1).empty());
  const std::vector<std::size_t> num_syncs = MpiTestWorld().AllGatherValue(disk.num_syncs);
  CHECK(num_syncs.front() == 3 + 4);  // files, both folders, manifest, the folder with its new name
  std::uint64_t shown = 1;
  for (std::size_t rank = 0; rank < num_syncs.size(); ++rank) {
    for (std::size_t number = 0; number < num_syncs[rank]; ++number) {
      CAPTURE(rank, number);
      const bool is_mine = rank == MpiTestWorld().Rank();
      const std::string words = model.Save(folder, shown + 1, is_mine ? number : no_call);
      const bool is_told = words.find(": cannot be written: Input/output error") != std::string::npos;
      CHECK((is_told || (!is_mine && words == "rank 0 failed")));
      if (rank == 0 && number + 1 == num_syncs[rank]) ++shown;  // the new one has its name already
      CHECK(Model().Load(folder) == shown);
    }
  }
  CHECK(model.Save(folder, shown + 1).empty());
  CHECK(Model().Load(folder) == shown + 1);
}
