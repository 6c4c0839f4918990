#pragma once

#include <array>
#include <cerrno>
#include <charconv>
#include <concepts>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include <uit/support/error.hpp>

namespace netuit {

/// The shortest decimal that reads back as the same number.
inline std::string ShortestDecimal(double number) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

namespace detail {

/// Has the system bring a file to its disk. False with errno.
inline bool Sync(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool is_done = ::fsync(file) == 0;
  const int error = errno;
  ::close(file);
  errno = error;
  return is_done;
}

}  // namespace detail

/// Writes a file that appears under its name only once it is whole: goes to path.tmp and to the disk, then renames.
/// What is no regular file, and anything in /dev, is written as it is; a link stays and its target is replaced.
///
/// write is called with the stream. Throws uit::OutputError if the file cannot be written, and whatever
/// write throws; then nothing is left behind and a file that was there before stays.
inline void WriteFileAtomically(const std::filesystem::path& path, std::invocable<std::ostream&> auto&& write) {
  namespace fs = std::filesystem;
  const auto fail = [&](int error) {
    throw uit::OutputError(path.string() +
                           ": cannot be written: " + std::generic_category().message(error == 0 ? EIO : error));
  };
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  const bool is_device = (fs::exists(status) && !fs::is_regular_file(status)) || path.string().starts_with("/dev/");
  const fs::path target = fs::is_regular_file(status) ? fs::canonical(path, ignored) : path;
  const fs::path draft = is_device ? path : fs::path{target.string() + ".tmp"};
  errno = 0;
  std::ofstream stream{draft, std::ios::binary | std::ios::trunc};
  if (!stream) fail(errno);
  try {
    errno = 0;
    write(stream);
    if (!stream) fail(errno);
    errno = 0;
    stream.close();
    if (!stream || (!is_device && !detail::Sync(draft))) fail(errno);
    std::error_code error;
    if (!is_device) fs::rename(draft, target, error);
    if (error) fail(error.value());
  } catch (...) {
    if (!is_device) fs::remove(draft, ignored);
    throw;
  }
}

}  // namespace netuit
