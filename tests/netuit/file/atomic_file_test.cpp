#include <netuit/file/atomic_file.hpp>
#include <netuit/file/decimal.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/catch.hpp"

namespace fs = std::filesystem;

namespace {

/// Result of the next fsync: 0, or an error number.
int disk_error = 0;
int num_syncs = 0;

}  // namespace

/// Replaces the system's function.
extern "C" int fsync(int file) {
  ++num_syncs;
  if (disk_error != 0) errno = disk_error;
  return disk_error != 0 || ::fcntl(file, F_GETFD) < 0 ? -1 : 0;
}

namespace {

/// A folder that is removed at the end.
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

namespace {

/// One of two writers of one file name. It takes its three steps on request.
class Writer {
 public:
  explicit Writer(std::string text) : text_{std::move(text)} {}

  /// Opens, writes, then commits or gives up. Returns whether this step wrote the file.
  bool Step(const fs::path& path, bool commits) {
    switch (num_steps_++) {
      case 0:
        file_ = std::make_unique<netuit::AtomicFile>(path);
        return false;
      case 1:
        file_->Stream() << text_ << std::flush;
        return false;
      default:
        if (commits) file_->Commit();
        file_.reset();
        return commits;
    }
  }
  const std::string& Text() const { return text_; }

 private:
  std::string text_;
  int num_steps_ = 0;
  std::unique_ptr<netuit::AtomicFile> file_;
};

}  // namespace

TEST_CASE("two writers of one file may interleave in any order and the name shows one whole file") {
  for (int commits = 0; commits < 4; ++commits) {
    std::array<int, 6> turns{0, 0, 0, 1, 1, 1};
    int num_orders = 0;
    do {
      CAPTURE(commits, turns);
      const Folder folder;
      const fs::path path = folder.path / "rows.csv";
      std::array<Writer, 2> writers{Writer{std::string(50'000, 'a')}, Writer{"short"}};
      std::string expected;
      for (const int turn : turns) {
        Writer& writer = writers[static_cast<std::size_t>(turn)];
        if (writer.Step(path, (commits >> turn & 1) != 0)) expected = writer.Text();
        REQUIRE(TextOf(path) == expected);
      }
      REQUIRE(folder.NumFiles() == (commits == 0 ? 0 : 1));
      ++num_orders;
    } while (std::next_permutation(turns.begin(), turns.end()));
    CHECK(num_orders == 20);
  }
}

TEST_CASE("two processes that write one file many times both succeed and the name always shows a whole file") {
  const Folder folder;
  const fs::path path = folder.path / "rows.csv";
  std::array<pid_t, 2> writers{};
  for (std::size_t writer = 0; writer < 2; ++writer) {
    writers[writer] = ::fork();
    if (writers[writer] != 0) continue;
    int code = 0;
    try {
      const std::string text(writer == 0 ? 40'000 : 90'000, writer == 0 ? 'a' : 'b');
      for (int round = 0; round < 300; ++round)
        netuit::WriteFileAtomically(path, [&](std::ostream& stream) { stream << text; });
    } catch (...) {
      code = 1;
    }
    ::_exit(code);
  }
  REQUIRE(std::ranges::find(writers, -1) == writers.end());
  std::size_t num_torn = 0;
  for (std::size_t num_running = 2; num_running > 0;) {
    const std::string text = TextOf(path);
    const bool is_whole = text.empty() ? !fs::exists(path) || fs::file_size(path) > 0  // the file did not exist before
                                       : text == std::string(text[0] == 'a' ? 40'000 : 90'000, text[0]);
    num_torn += is_whole ? 0U : 1U;
    int status = 0;
    const pid_t ended = ::waitpid(-1, &status, WNOHANG);
    REQUIRE(ended >= 0);
    if (ended == 0) continue;
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
    --num_running;
  }
  CHECK(num_torn == 0);
  CHECK(folder.NumFiles() == 1);
}

TEST_CASE("a process without standard input and output writes files like any other") {
  const Folder folder;
  const fs::path path = folder.path / "rows.csv";
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int file : {0, 1, 2}) ::close(file);  // so the draft gets number 0
    int code = 0;
    try {
      netuit::WriteFileAtomically(path, [](std::ostream& stream) { stream << "whole"; });
      if (::fcntl(0, F_GETFD) >= 0) code = 2;  // the draft was left open
    } catch (...) {
      code = 1;
    }
    ::_exit(code);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  CHECK(TextOf(path) == "whole");
  CHECK(folder.NumFiles() == 1);
}

TEST_CASE("a link or file at the name of a draft is neither followed nor touched") {
  const Folder folder;
  const fs::path path = folder.path / "rows.csv";
  const fs::path victim = folder.path / "victim";
  std::ofstream{victim} << "precious";
  for (const char* name : {"rows.csv.tmp", "rows.csv.1.tmp", "rows.csv.ff.tmp"}) fs::create_symlink(victim, folder.path / name);
  fs::create_symlink(folder.path / "nowhere", folder.path / "rows.csv.2.tmp");
  std::ofstream{folder.path / "rows.csv.3.tmp"} << "of another writer";
  std::vector<std::uint64_t> numbers{4, 3, 2, 1, 0xff};  // tried from the back
  const auto next_number = [&numbers] {
    const std::uint64_t number = numbers.back();
    if (numbers.size() > 1) numbers.pop_back();
    return number;
  };
  const netuit::detail::Draft draft = netuit::detail::CreateDraft(path, next_number);
  REQUIRE(draft.file >= 0);
  CHECK(draft.path == folder.path / "rows.csv.4.tmp");
  CHECK(netuit::detail::CreateDraft(path, next_number).file < 0);  // all draft names are taken now
  CHECK(errno == EEXIST);
  ::close(draft.file);
  fs::remove(draft.path);

  netuit::WriteFileAtomically(path, [](std::ostream& stream) { stream << "new"; });
  CHECK(TextOf(path) == "new");
  CHECK(TextOf(victim) == "precious");
  CHECK_FALSE(fs::exists(folder.path / "nowhere"));
  CHECK(TextOf(folder.path / "rows.csv.3.tmp") == "of another writer");
  CHECK(folder.NumFiles() == 7);
}

TEST_CASE("every draft has a name of its own and the mode that the umask leaves") {
  const Folder folder;
  const mode_t before = ::umask(0027);
  const fs::path path = folder.path / std::string(240, 'x');  // the draft's name is shortened for it
  {
    netuit::AtomicFile one{path};
    netuit::AtomicFile another{path};
    CHECK(folder.NumFiles() == 2);
    one.Commit();
  }
  ::umask(before);
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 07777U) == 0640);
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
  CHECK(folder.NumFiles() == 2);
  const fs::path dangling = folder.path / "dangling";
  fs::create_symlink(folder.path / "nowhere", dangling);
  netuit::WriteFileAtomically(dangling, [](std::ostream& stream) { stream << "new"; });
  CHECK(fs::is_regular_file(fs::symlink_status(dangling)));
  CHECK_FALSE(fs::exists(folder.path / "nowhere"));
  netuit::WriteFileAtomically("/dev/null", [](std::ostream& stream) { stream << "new"; });
  CHECK(fs::is_character_file("/dev/null"));
}

TEST_CASE("numbers are written in their shortest form") {
  CHECK(netuit::ShortestDecimal(0.1) == "0.1");
  CHECK(netuit::ShortestDecimal(3) == "3");
  CHECK(netuit::ShortestDecimal(1e300) == "1e+300");
}
