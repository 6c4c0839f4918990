#include <netuit/file/atomic_file.hpp>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "tests/support/catch.hpp"

namespace fs = std::filesystem;

namespace {

/// What the disk says to the next fsync: 0, or an error's number.
int disk_error = 0;
int num_syncs = 0;

}  // namespace

/// Stands for the system's.
extern "C" int fsync(int file) {
  ++num_syncs;
  if (disk_error != 0) errno = disk_error;
  return disk_error != 0 || ::fcntl(file, F_GETFD) < 0 ? -1 : 0;
}

namespace {

/// A folder of its own, gone at the end.
struct Folder {
  fs::path path = fs::temp_directory_path() / ("conduit_atomic_file_test_" + std::to_string(::getpid()));
  Folder() { fs::create_directory(path); }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::ptrdiff_t NumFiles() const { return std::distance(fs::directory_iterator{path}, fs::directory_iterator{}); }
};

std::string TextOf(const fs::path& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

}  // namespace

TEST_CASE("a file is replaced whole") {
  const Folder folder;
  const fs::path path = folder.path / "rows.csv";
  netuit::WriteFileAtomically(path, [&](std::ostream& stream) {
    stream << "old";
    CHECK_FALSE(fs::exists(path));
  });
  CHECK(TextOf(path) == "old");
  netuit::WriteFileAtomically(path, [&](std::ostream& stream) {
    stream << "new" << std::flush;
    CHECK(TextOf(path) == "old");
  });
  CHECK(TextOf(path) == "new");
  CHECK(folder.NumFiles() == 1);
}

TEST_CASE("a writer that throws leaves what was there") {
  const Folder folder;
  const fs::path path = folder.path / "rows.csv";
  std::ofstream{path} << "old";
  CHECK_THROWS_AS(netuit::WriteFileAtomically(path,
                                              [](std::ostream& stream) {
                                                stream << "half";
                                                throw std::logic_error{"stop"};
                                              }),
                  std::logic_error);
  CHECK(TextOf(path) == "old");
  CHECK(folder.NumFiles() == 1);
}

TEST_CASE("what cannot be written is an output error with the system's reason") {
  const auto write = [](std::ostream& stream) { stream << "x"; };
  CHECK_THROWS_WITH(netuit::WriteFileAtomically("/nowhere/rows.csv", write),
                    "/nowhere/rows.csv: cannot be written: No such file or directory");
  CHECK_THROWS_WITH(netuit::WriteFileAtomically("/dev/full", write),
                    "/dev/full: cannot be written: No space left on device");
  const Folder folder;
  CHECK_THROWS_AS(netuit::WriteFileAtomically(folder.path, write), uit::OutputError);
}

TEST_CASE("a file takes its name once it is on the disk, and not if the disk fails") {
  const Folder folder;
  const fs::path path = folder.path / "rows.csv";
  num_syncs = 0;
  netuit::WriteFileAtomically(path, [](std::ostream& stream) { stream << "old"; });
  CHECK(num_syncs == 1);
  disk_error = EIO;
  CHECK_THROWS_WITH(netuit::WriteFileAtomically(path, [](std::ostream& stream) { stream << "new"; }),
                    path.string() + ": cannot be written: Input/output error");
  disk_error = 0;
  CHECK(TextOf(path) == "old");
  CHECK(folder.NumFiles() == 1);
}

TEST_CASE("a link and a device stay what they are") {
  const Folder folder;
  const fs::path target = folder.path / "target";
  const fs::path link = folder.path / "link";
  std::ofstream{target} << "old";
  fs::create_symlink(target, link);
  netuit::WriteFileAtomically(link, [](std::ostream& stream) { stream << "new"; });
  CHECK(fs::is_symlink(link));
  CHECK(TextOf(target) == "new");
  netuit::WriteFileAtomically("/dev/null", [](std::ostream& stream) { stream << "new"; });
  CHECK(fs::is_character_file("/dev/null"));
}

TEST_CASE("numbers are written in their shortest form") {
  CHECK(netuit::ShortestDecimal(0.1) == "0.1");
  CHECK(netuit::ShortestDecimal(3) == "3");
  CHECK(netuit::ShortestDecimal(1e300) == "1e+300");
}
