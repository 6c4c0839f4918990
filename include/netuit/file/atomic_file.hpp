#pragma once

#include <array>
#include <cerrno>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <ostream>
#include <random>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <netuit/file/descriptor_buffer.hpp>
#include <uit/support/error.hpp>

namespace netuit {

namespace detail {

/// A number that nobody can guess.
inline std::uint64_t UnguessableNumber() {
  std::random_device random;
  return std::uint64_t{random()} << 32U | random();
}

/// A newly created file.
struct Draft {
  int file = -1;               ///< its descriptor; -1 if none could be created, and errno says why
  std::filesystem::path path;  ///< target.NUMBER.tmp, in the folder of the target
};

/// Creates a draft of `target`. If a file or link has the name already, it stays untouched, and the next number is tried.
template <std::invocable NextNumber>
Draft CreateDraft(const std::filesystem::path& target, NextNumber&& next_number) {
  constexpr std::size_t longest_name = 200;  // of the target, so that the draft's name is shorter than the system's 255
  constexpr int num_attempts = 100;
  for (int attempt = 0; attempt < num_attempts; ++attempt) {
    std::array<char, 16> number{};
    char* const end = std::to_chars(number.data(), number.data() + number.size(), std::uint64_t{next_number()}, 16).ptr;
    const std::string name = target.filename().string().substr(0, longest_name) + '.' + std::string{number.data(), end} + ".tmp";
    Draft draft{.path = target.parent_path() / name};
    draft.file = ::open(draft.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (draft.file >= 0 || errno != EEXIST) return draft;
  }
  return {};
}

}  // namespace detail

/// A file that appears under its name only when it is complete. WriteFileAtomically is the short form.
///
///     AtomicFile file{"rows.csv"};
///     file.Stream() << "worker,updates\n";
///     file.Commit();  // without it, nothing has happened
///
/// The data goes to a draft in the same folder. The draft is a new file with a name that nobody can guess, and with the mode
/// that the umask allows. Commit writes it to the disk and renames it. So any number of writers, in one process or several, may
/// write one name at once: the name always shows the whole file of the last commit. After a crash of the host it shows the
/// whole old file or the whole new one. A killed process may leave its draft behind; its name ends in .tmp.
///
/// If the path is a link to a file, the link stays, and the file that it points to is replaced. If it is a link to nothing, the
/// link itself is replaced. A draft never follows a link. Paths in /dev, and files that are not regular, are written directly.
class AtomicFile {
 public:
  /// Creates the draft. Throws uit::OutputError if it cannot.
  explicit AtomicFile(std::filesystem::path path) : path_{std::move(path)} {
    namespace fs = std::filesystem;
    std::error_code ignored;
    const fs::file_status status = fs::status(path_, ignored);
    is_device_ = (fs::exists(status) && !fs::is_regular_file(status)) || path_.string().starts_with("/dev/");
    target_ = !is_device_ && fs::is_regular_file(status) ? fs::canonical(path_, ignored) : path_;
    if (is_device_)
      draft_ = {::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), path_};
    else
      draft_ = detail::CreateDraft(target_, detail::UnguessableNumber);
    if (draft_.file < 0) Fail(errno);
    buffer_.Open(draft_.file);
  }
  /// Removes the draft, unless it was committed.
  ~AtomicFile() {
    if (draft_.file >= 0) ::close(draft_.file);
    if (!is_device_ && !is_committed_) ::unlink(draft_.path.c_str());
  }
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// The stream to write to. Valid until Commit.
  std::ostream& Stream() { return stream_; }

  /// Gives the file its name. Call it once. Throws uit::OutputError if anything could not be written; then the old file
  /// stays.
  void Commit() {
    stream_.flush();
    if (!stream_) Fail(buffer_.Error());
    if (!is_device_ && ::fsync(draft_.file) != 0) Fail(errno);
    if (::close(std::exchange(draft_.file, -1)) != 0) Fail(errno);
    if (!is_device_ && ::rename(draft_.path.c_str(), target_.c_str()) != 0) Fail(errno);
    is_committed_ = true;
  }

 private:
  [[noreturn]] void Fail(int error) const {
    throw uit::OutputError(path_.string() +
                           ": cannot be written: " + std::generic_category().message(error == 0 ? EIO : error));
  }

  std::filesystem::path path_;    // as the caller gave it
  std::filesystem::path target_;  // the file to replace
  detail::Draft draft_;
  bool is_device_ = false;
  bool is_committed_ = false;
  detail::DescriptorBuffer buffer_;
  std::ostream stream_{&buffer_};
};

/// Writes a file as AtomicFile does. `write` is called with the stream.
///
/// Throws uit::OutputError if the file cannot be written, and the exceptions of `write`. Then no draft remains, and an old
/// file stays.
inline void WriteFileAtomically(const std::filesystem::path& path, std::invocable<std::ostream&> auto&& write) {
  AtomicFile file{path};
  write(file.Stream());
  file.Commit();
}

}  // namespace netuit
