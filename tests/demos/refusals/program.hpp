#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

/// Starts programs as a user would.
namespace refusals {

/// Returns the contents of a text file, or nothing if it does not exist.
inline std::string ContentsOf(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

/// A folder that is removed at the end of the test.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "conduit_refusals_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder can be made");
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& Path() const { return path_; }
  /// Writes a file.
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream{path_ / name, std::ios::binary} << text;
  }
  /// Returns the names in the folder, files with their sizes.
  std::map<std::string, std::uintmax_t> Listing() const {
    std::map<std::string, std::uintmax_t> listing;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{path_})
      listing[entry.path().string()] = entry.is_regular_file() ? entry.file_size() : 0;
    return listing;
  }

 private:
  std::filesystem::path path_;
};

/// How a program ended.
struct Ending {
  int code = -1;         ///< exit code; -1 if a signal or the time limit ended it
  double seconds = 0;    ///< CPU time, so that other load on the machine does not count
  double elapsed = 0;    ///< seconds by the clock
  std::string out, err;  ///< its output
};

/// Runs a program in a folder for at most 30 seconds. Its output goes to files elsewhere.
inline Ending Run(const std::string& program, std::vector<std::string> arguments, const std::filesystem::path& folder) {
  const Folder elsewhere;
  const std::string out = elsewhere.Path() / "out";
  const std::string err = elsewhere.Path() / "err";
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(30);  // stays set in the program that is started
    const auto redirect = [](int stream, const std::string& path) {
      const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      return file >= 0 && ::dup2(file, stream) == stream;
    };
    if (::chdir(folder.c_str()) == 0 && redirect(1, out) && redirect(2, err)) ::execv(program.c_str(), argv.data());
    ::_exit(127);
  }
  int status = 0;
  rusage usage{};
  ::wait4(child, &status, 0, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return {.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
          .seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime),
          .elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
          .out = ContentsOf(out),
          .err = ContentsOf(err)};
}

}  // namespace refusals
