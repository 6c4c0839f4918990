#pragma once

#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include <fcntl.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <uit/support/bytes.hpp>

namespace uit::mpi {

/// Memory that other processes of this host can map, as long as they see this process's id. It has no name in any file system, so
/// nothing is left of it however the processes end.
class MemoryFile {
 public:
  /// How another process finds it.
  struct Address {
    std::int64_t process = 0;     ///< that has made it, and keeps it open
    std::int64_t file = -1;       ///< -1: it could not be made
    std::uint64_t num_bytes = 0;  ///< its size
  };

  /// Makes a file of this size, filled with zeros; see IsOpen.
  explicit MemoryFile(std::size_t num_bytes) : num_bytes_(num_bytes) {
#ifdef MFD_CLOEXEC
    file_ = memfd_create("conduit", MFD_CLOEXEC);
#endif
    if (file_ >= 0 && ftruncate(file_, static_cast<off_t>(num_bytes)) != 0) Close();
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  /// Closes the file. Its memory stays until no process maps it.
  ~MemoryFile() { Close(); }

  /// Whether the system has provided it.
  bool IsOpen() const { return file_ >= 0; }
  /// Returns how another process finds it.
  Address GetAddress() const { return {.process = getpid(), .file = file_, .num_bytes = num_bytes_}; }

  /// Maps a file of this or another process, which must not have closed it yet. Returns nothing if that is impossible.
  static MutableByteView TryMap(const Address& address) {
    const std::string path = "/proc/" + std::to_string(address.process) + "/fd/" + std::to_string(address.file);
    const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) return {};
    void* const first = mmap(nullptr, address.num_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (first == MAP_FAILED) return {};
    return {static_cast<std::byte*>(first), address.num_bytes};
  }
  /// Ends the mapping that TryMap has returned.
  static void Unmap(MutableByteView memory) {
    if (!memory.empty()) munmap(memory.data(), memory.size());
  }

 private:
  void Close() {
    if (const int file = std::exchange(file_, -1); file >= 0) close(file);
  }

  std::size_t num_bytes_;
  int file_ = -1;
};

}  // namespace uit::mpi
