#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

#include <netuit/replay/record_format.hpp>
#include <uit/config.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>

namespace netuit::replay {

/// Writes a worker's record, straight into the file's pages, a block of which is mapped at a time: what has been written
/// outlives the process, however that ends, and nothing has to be flushed. One thread.
class RecordWriter {
 public:
  /// Makes the file, which must not be there yet: records are precious. Throws uit::OutputError.
  RecordWriter(const std::filesystem::path& path, const RecordHeader& header) : path_(path) {
    file_ = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file_ < 0) Fail(errno);
    const ssize_t written = pwrite(file_, &header, sizeof header, 0);
    if (written != static_cast<ssize_t>(sizeof header)) {
      const int error = written < 0 ? errno : ENOSPC;
      close(file_);
      Fail(error);
    }
  }
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;
  ~RecordWriter() {
    Seal();
    close(file_);
  }

  /// Room for an event, and so many bytes that belong to it: write them there, then Commit. Throws uit::OutputError.
  std::byte* Reserve(std::size_t num_bytes) {
    if (static_cast<std::size_t>(end_ - at_) < num_bytes + 1) [[unlikely]] OpenBlock(num_bytes + 1);
    return at_ + 1;
  }
  /// What has been written up to `end` belongs to the event, which happens with that: a process that ends before has not
  /// recorded it.
  void Commit(Event event, const std::byte* end) {
    std::atomic_ref<std::byte>(*at_).store(static_cast<std::byte>(event), std::memory_order_release);  // after its bytes
    at_ += end - at_;
  }
  /// An event by itself. Throws uit::OutputError.
  void Add(Event event) { Commit(event, Reserve(0)); }

  /// Ends the file where the events end.
  void Seal() {
    if (block_ == nullptr) return;
    const std::size_t num_bytes = SealBlock();
    // A file that stays longer is as good.
    [[maybe_unused]] const int error = ftruncate(file_, static_cast<off_t>(offset_ + sizeof(BlockHeader) + num_bytes));
    offset_ += capacity_;
  }

 private:
  UIT_NOINLINE void OpenBlock(std::size_t num_bytes) {
    if (error_ != 0) Fail(error_);  // an event is missing: nothing may follow, even if there is room again
    if (block_ != nullptr) {
      SealBlock();
      offset_ += capacity_;
    }
    const std::size_t num_wanted = std::max(sizeof(BlockHeader) + num_bytes, block_bytes);
    capacity_ = (num_wanted + block_grain - 1) / block_grain * block_grain;
    // A page that finds no room on the disk later on would end the process.
    do error_ = posix_fallocate(file_, static_cast<off_t>(offset_), static_cast<off_t>(capacity_));
    while (error_ == EINTR);
    if (error_ != 0) Fail(error_);
    void* const pages = mmap(nullptr, capacity_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, static_cast<off_t>(offset_));
    if (pages == MAP_FAILED) Fail(error_ = errno);
    block_ = static_cast<std::byte*>(pages);
    uit::StoreBytes(BlockHeader{.capacity = capacity_}, {block_, sizeof(BlockHeader)});
    at_ = block_ + sizeof(BlockHeader);
    end_ = block_ + capacity_;
  }
  /// Returns how many bytes of events it has.
  std::size_t SealBlock() {
    const std::byte* const first = block_ + sizeof(BlockHeader);
    const auto num_bytes = static_cast<std::size_t>(at_ - first);
    const BlockHeader header{.capacity = capacity_, .num_bytes = num_bytes, .digest = Digest({first, num_bytes})};
    uit::StoreBytes(header, {block_, sizeof header});
    munmap(block_, capacity_);
    block_ = at_ = end_ = nullptr;
    return num_bytes;
  }
  [[noreturn]] void Fail(int error) const {
    throw uit::OutputError(path_.string() + ": cannot be written: " + std::generic_category().message(error));
  }

  std::filesystem::path path_;
  int file_ = -1;
  int error_ = 0;  // once there is one, it stays
  std::size_t offset_ = block_grain;  // of the block
  std::size_t capacity_ = 0;
  std::byte* block_ = nullptr;
  std::byte* at_ = nullptr;
  std::byte* end_ = nullptr;
};

}  // namespace netuit::replay
