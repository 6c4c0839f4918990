#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <netuit/checkpoint/block_route.hpp>
#include <netuit/checkpoint/digest.hpp>
#include <netuit/checkpoint/saved_files.hpp>
#include <netuit/file/numpy_format.hpp>
#include <uit/config.hpp>
#include <uit/link/world.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>

namespace netuit::detail {

/// An open file. A function returns false, with errno set, if it fails.
class OpenFile {
 public:
  OpenFile(std::filesystem::path path, int flags) : path_(std::move(path)), file_(::open(path_.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~OpenFile() {
    if (file_ >= 0) ::close(file_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  bool IsOpen() const { return file_ >= 0; }
  const std::filesystem::path& Path() const { return path_; }
  bool TryWriteAt(std::uint64_t at, uit::ByteView bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(at));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      at += static_cast<std::uint64_t>(count);
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
    return true;
  }
  /// Returns false with errno 0 if the file is too short.
  bool TryReadAt(std::uint64_t at, uit::MutableByteView bytes) const {
    while (!bytes.empty()) {
      errno = 0;
      const ssize_t count = ::pread(file_, bytes.data(), bytes.size(), static_cast<off_t>(at));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      at += static_cast<std::uint64_t>(count);
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
    return true;
  }
  /// Returns once all that was written is on the disk.
  bool TrySync() const { return ::fsync(file_) == 0; }
  /// Ends the file here.
  bool TryTruncate(std::uint64_t num_bytes) const { return ::ftruncate(file_, static_cast<off_t>(num_bytes)) == 0; }
  /// Returns the number of bytes of a regular file, else 0.
  std::uint64_t NumBytes() const {
    struct stat status {};
    if (::fstat(file_, &status) != 0 || !S_ISREG(status.st_mode)) return 0;
    return static_cast<std::uint64_t>(status.st_size);
  }

 private:
  std::filesystem::path path_;
  int file_;
};

UIT_DEFINE std::string Unwritten(const std::filesystem::path& path, int error) {
  return path.string() + ": cannot be written: " + std::generic_category().message(error == 0 ? EIO : error);
}

UIT_DEFINE SavedFiles::SavedFiles(const uit::World& world, std::filesystem::path folder) : world_(world), folder_(std::move(folder)) {}
UIT_DEFINE SavedFiles::~SavedFiles() = default;

UIT_DEFINE void SavedFiles::Sync() {
  std::string complaint;
  for (const auto& file : written_) {
    if (!file->TrySync()) complaint = Unwritten(file->Path(), errno);
  }
  written_.clear();
  world_.Agree<uit::OutputError>(complaint);
}

UIT_DEFINE void SavedFiles::WritePart(const std::string& name, const Part& part, uit::ByteView values) {
  const std::filesystem::path path = folder_ / name;
  const std::string header = NumpyHeader(part.type, part.count);
  std::string complaint;
  if (world_.IsRoot()) {
    const OpenFile file(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
    const bool is_made = file.IsOpen() && file.TryWriteAt(0, std::as_bytes(std::span(header))) &&
                         file.TryTruncate(header.size() + part.count * part.num_bytes);
    if (!is_made) complaint = Unwritten(path, errno);
  }
  world_.Agree<uit::OutputError>(complaint);
  const OpenFile& file = *written_.emplace_back(std::make_unique<OpenFile>(path, O_WRONLY | O_NOFOLLOW));
  if (!file.IsOpen() || !file.TryWriteAt(header.size() + part.first * part.num_bytes, values)) complaint = Unwritten(path, errno);
  world_.Agree<uit::OutputError>(complaint);
}

UIT_DEFINE uit::Bytes SavedFiles::ReadPart(const std::string& name, const Part& part, std::uint64_t count) const {
  const std::filesystem::path path = folder_ / name;
  const std::string expected = NumpyHeader(part.type, part.count);
  std::string complaint;
  uit::Bytes values;
  const OpenFile file(path, O_RDONLY);
  std::string header(expected.size(), '\0');
  if (!file.IsOpen()) {
    complaint = path.string() + ": cannot be read: " + std::generic_category().message(errno);
  } else if (file.NumBytes() != expected.size() + part.count * part.num_bytes ||
             !file.TryReadAt(0, std::as_writable_bytes(std::span(header))) || header != expected) {
    complaint = path.string() + ": has changed since the checkpoint was made";
  } else {
    values.resize(count * part.num_bytes);
    if (!file.TryReadAt(expected.size() + part.first * part.num_bytes, values))
      complaint = path.string() + ": cannot be read: " + std::generic_category().message(errno == 0 ? EIO : errno);
  }
  world_.Agree<uit::InputError>(complaint);
  return values;
}

UIT_DEFINE std::uint64_t SavedFiles::Sum(std::uint64_t mine) const {
  std::uint64_t sum = 0;
  for (const std::uint64_t theirs : world_.AllGatherValue(mine)) sum += theirs;
  return sum;
}

UIT_DEFINE std::uint64_t SavedFiles::SumBefore(std::uint64_t mine) const {
  const std::vector<std::uint64_t> all = world_.AllGatherValue(mine);
  return std::accumulate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(world_.Rank()), std::uint64_t{0});
}

UIT_DEFINE std::uint64_t SavedFiles::DigestOf(const BlockRoute& route, std::size_t num_bytes, uit::ByteView block) const {
  std::uint64_t digest = 0;
  for (std::uint64_t i = 0; i < route.Count(); ++i)
    digest += DigestOfValue(route.First() + i, block.subspan(i * num_bytes, num_bytes));
  return Sum(digest);
}

UIT_DEFINE std::uint64_t SavedFiles::DigestOf(const BlockRoute& route, const VariedBlock& block) const {
  std::uint64_t digest = 0;
  uit::ByteReader rest(block.bytes);
  uit::ByteView value;
  for (std::size_t i = 0; i < block.sizes.size() && rest.TryTake(block.sizes[i], value); ++i)
    digest += DigestOfValue(route.First() + i, value);
  return Sum(digest);
}

UIT_DEFINE void SavedFiles::RefuseDigest(const std::string& name) const {
  throw uit::InputError((folder_ / name).string() + ": has changed since the checkpoint was made");
}

UIT_DEFINE std::uint64_t SavedFiles::Write(const std::string& name, const NumpyType& type, std::size_t num_bytes,
                                           const BlockRoute& route, uit::ByteView block) {
  WritePart(name + ".npy", {type, num_bytes, route.NumItems(), route.First()}, block);
  return DigestOf(route, num_bytes, block);
}

UIT_DEFINE uit::Bytes SavedFiles::Read(const std::string& name, const NumpyType& type, std::size_t num_bytes,
                                       const BlockRoute& route, std::uint64_t digest) const {
  uit::Bytes block = ReadPart(name + ".npy", {type, num_bytes, route.NumItems(), route.First()}, route.Count());
  if (DigestOf(route, num_bytes, block) != digest) RefuseDigest(name + ".npy");
  return block;
}

UIT_DEFINE std::uint64_t SavedFiles::WriteVaried(const std::string& name, const BlockRoute& route, VariedBlock block) {
  WritePart(name + ".sizes.npy", {NumpyTypeOf<std::uint64_t>(), sizeof(std::uint64_t), route.NumItems(), route.First()},
            std::as_bytes(std::span(block.sizes)));
  WritePart(name + ".bytes.npy", {NumpyTypeOf<std::uint8_t>(), 1, Sum(block.bytes.size()), SumBefore(block.bytes.size())},
            block.bytes);
  return DigestOf(route, block);
}

UIT_DEFINE VariedBlock SavedFiles::ReadVaried(const std::string& name, const BlockRoute& route, std::uint64_t digest) const {
  VariedBlock block;
  const uit::Bytes sizes = ReadPart(
      name + ".sizes.npy", {NumpyTypeOf<std::uint64_t>(), sizeof(std::uint64_t), route.NumItems(), route.First()}, route.Count());
  block.sizes.resize(route.Count());
  if (!sizes.empty()) std::memcpy(block.sizes.data(), sizes.data(), sizes.size());
  // Sizes that were changed may not be added up.
  std::error_code ignored;
  const std::uintmax_t num_file_bytes = std::filesystem::file_size(folder_ / (name + ".bytes.npy"), ignored);
  std::uint64_t mine = 0;
  bool is_possible = true;
  for (const std::uint64_t size : block.sizes) {
    is_possible &= size <= num_file_bytes && mine <= num_file_bytes;
    mine += size;
  }
  world_.Agree<uit::InputError>(is_possible ? "" : (folder_ / (name + ".sizes.npy")).string() + ": has changed since the checkpoint was made");
  block.bytes = ReadPart(name + ".bytes.npy", {NumpyTypeOf<std::uint8_t>(), 1, Sum(mine), SumBefore(mine)}, mine);
  if (DigestOf(route, block) != digest) RefuseDigest(name + ".bytes.npy");
  return block;
}

}  // namespace netuit::detail
