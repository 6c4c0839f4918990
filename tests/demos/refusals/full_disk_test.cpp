// Results that cannot be written: exit code 5, one line that says so, and no partial file under the final name.
#include <sched.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "tests/demos/refusals/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using namespace refusals;
namespace fs = std::filesystem;

namespace {

/// A disk of 64 KB in a folder, which only this process sees. Needs root.
class SmallDisk {
 public:
  explicit SmallDisk(const fs::path& folder) : folder_(folder) {
    is_there_ = ::unshare(CLONE_NEWNS) == 0 && ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                ::mount("none", folder.c_str(), "tmpfs", 0, "size=64k") == 0;
    if (!is_there_) uit::testing::Skip(std::string("a full disk: none can be mounted: ") + std::strerror(errno));
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    if (is_there_) ::umount2(folder_.c_str(), MNT_DETACH);
  }
  bool IsThere() const { return is_there_; }
  bool TryProtect() const { return ::mount("none", folder_.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, "size=64k") == 0; }

 private:
  fs::path folder_;
  bool is_there_;
};

std::vector<std::string> LinesThatComplain(const Ending& ending) {
  std::vector<std::string> lines;
  std::istringstream err{ending.err};
  for (std::string line; std::getline(err, line);) {
    if (line.starts_with("conduit: error: ")) lines.push_back(line);
  }
  return lines;
}

struct Run5 {
  const char* program;
  std::vector<std::string> arguments;
  std::string file;          ///< the file that cannot be written
  std::string kept = file;   ///< the file of a run before that must stay
};

/// Runs whose files take more than 64 KB each.
const std::vector<Run5> runs{
    {UIT_CHANNEL_SELECTION,
     {"--nodes-per-worker", "8192", "--updates", "2", "--replicates", "1", "--output", "disk/rows.csv", "--colors-output",
      "disk/big"},
     "disk/big"},
    {UIT_CHANNEL_SELECTION,
     {"--nodes-per-worker", "65536", "--duration", "1ms", "--replicates", "1", "--output", "disk/rows.csv", "--frames",
      "disk/big"},
     "disk/big"},
    {UIT_DIGITAL_EVOLUTION,
     {"--cells-per-worker", "144", "--updates", "16", "--output", "disk/rows.csv", "--checkpoint", "disk/big"},
     "disk/big/data-0/places.bytes.npy", "disk/big/checkpoint.json"},
};

void ExpectRefused(const Run5& run, const fs::path& folder, const char* reason) {
  const Ending ending = Run(run.program, run.arguments, folder);
  INFO(run.program << " " << run.arguments.back() << " ended with " << ending.code << " and said:\n" << ending.err);
  CHECK(ending.code == 5);
  const auto lines = LinesThatComplain(ending);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0] == "conduit: error: " + run.file + ": cannot be written: " + reason);
}

}  // namespace

TEST_CASE("on a full disk the old file stays and no part of the new one appears", "[disk]") {
  const Folder folder;
  fs::create_directory(folder.Path() / "disk");
  const SmallDisk disk{folder.Path() / "disk"};
  if (!disk.IsThere()) return;
  for (const bool is_there_before : {false, true}) {
    for (const Run5& run : runs) {
      for (const auto& entry : fs::directory_iterator{folder.Path() / "disk"}) fs::remove_all(entry.path());
      if (is_there_before) {
        fs::create_directories((folder.Path() / run.kept).parent_path());
        folder.Write(run.kept, "of a run before\n");
      }
      ExpectRefused(run, folder.Path(), "No space left on device");
      CHECK(ContentsOf(folder.Path() / run.kept) == (is_there_before ? "of a run before\n" : ""));
      CHECK(fs::exists(folder.Path() / run.kept) == is_there_before);
      for (const auto& entry : fs::recursive_directory_iterator{folder.Path() / "disk"}) {
        CHECK(entry.path().extension() != ".tmp");
        CHECK(entry.path().extension() != ".npy");
      }
    }
  }
}

TEST_CASE("a disk that cannot be written is reported before the run begins", "[disk]") {
  const Folder folder;
  fs::create_directory(folder.Path() / "disk");
  const SmallDisk disk{folder.Path() / "disk"};
  if (!disk.IsThere()) return;
  REQUIRE(disk.TryProtect());
  for (Run5 run : runs) {
    run.file = "disk/rows.csv";  // checked first
    ExpectRefused(run, folder.Path(), "Read-only file system");
  }
  CHECK(fs::is_empty(folder.Path() / "disk"));
}

TEST_CASE("a full device is reported") {
  const Folder folder;
  const std::vector<std::string> arguments{"--nodes-per-worker", "9", "--updates", "2", "--replicates", "1", "--output", "rows.csv",
                                           "--colors-output", "/dev/full"};
  ExpectRefused({UIT_CHANNEL_SELECTION, arguments, "/dev/full"}, folder.Path(), "No space left on device");
  CHECK(fs::is_character_file("/dev/full"));
}
