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

/// Writes a worker's record directly into pages of the file, and maps one block at a time. What has been written survives the
/// end of the process, even by a kill, without any flush. One thread.
class RecordWriter {
 public:
  /// Creates the file. Throws uit::OutputError, also if the file exists, so that no record is overwritten.
  RecordWriter(const std::filesystem::path& path, const RecordHeader& header) : path_(path), digest_(Digest(uit::BytesOf(header))) {
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

  /// Returns room for an event's `num_bytes` bytes of data. Write them there, then call Commit. Throws uit::OutputError.
  std::byte* Reserve(std::size_t num_bytes) {
    if (static_cast<std::size_t>(end_ - at_) < num_bytes + 1) [[unlikely]] OpenFrame(num_bytes + 1);
    return at_ + 1;
  }
  /// Records an event whose data ends at `end`. If the process ends before this call, the event is not recorded.
  void Commit(Event event, const std::byte* end) {
    std::byte* const at = at_ + (end - at_);
    *at_ = static_cast<std::byte>(event);
    const std::byte* word = at_ - num_rest_;
    std::uint64_t digest = digest_;
    for (; at - word >= word_bytes; word += word_bytes) digest = DigestWord(LoadWord(word), digest);
    num_rest_ = at - word;
    rest_ = LoadWord(word) & ((std::uint64_t{1} << 8 * num_rest_) - 1);
    digest_ = digest;
    Mark(at);
  }
  /// Records an event without data. Throws uit::OutputError.
  void Add(Event event) {
    Reserve(0);
    *at_ = static_cast<std::byte>(event);
    rest_ |= static_cast<std::uint64_t>(event) << 8 * num_rest_;  // loading the bytes would wait for the store just made
    if (++num_rest_ == word_bytes) {
      digest_ = DigestWord(rest_, digest_);
      rest_ = 0;
      num_rest_ = 0;
    }
    Mark(at_ + 1);
  }

  /// Ends the record after the last event. Nothing may be recorded after it.
  void Seal() {
    if (block_ == nullptr) return;
    const std::size_t num_bytes = SealBlock(Follow::nothing);
    // If this fails, the file stays longer, which does no harm.
    [[maybe_unused]] const int error = ftruncate(file_, static_cast<off_t>(offset_ + num_bytes));
    error_ = EBADF;
  }

 private:
  static constexpr std::ptrdiff_t word_bytes = sizeof(std::uint64_t);

  static std::uint64_t LoadWord(const std::byte* from) { return uit::LoadBytes<std::uint64_t>({from, word_bytes}); }
  /// Release: other processes and readers of the file see the word only after everything written before it.
  static void StoreWord(std::byte* to, std::uint64_t word) {
    std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(to)).store(word, std::memory_order_release);
  }
  /// Writes the mark of a frame whose events end at `at`.
  void Mark(std::byte* at) {
    at_ = at;
    StoreWord(frame_, MakeMark(DigestEnd(rest_, num_rest_, digest_), NumBytesOfFrame()));
  }
  std::size_t NumBytesOfFrame() const { return static_cast<std::size_t>(at_ - frame_ - word_bytes); }

  UIT_NOINLINE void OpenFrame(std::size_t num_bytes) {
    CloseFrame();
    constexpr std::size_t num_beside = 2 * word_bytes;  // the mark, and a word so that the last one can be loaded whole
    if (block_ == nullptr || static_cast<std::size_t>(block_ + capacity_ - at_) < num_beside + num_bytes)
      OpenBlock(num_beside + num_bytes);
    frame_ = at_;
    at_ += word_bytes;
    StoreWord(frame_, 0);  // events that were not committed may have left data
    const auto num_room = static_cast<std::size_t>(block_ + capacity_ - word_bytes - at_);
    end_ = at_ + std::min(num_room, std::max(num_bytes, frame_bytes));
  }
  /// Ends the frame. The next frame begins at a multiple of the word size.
  void CloseFrame() {
    if (frame_ == nullptr) return;
    if (NumBytesOfFrame() == 0) {
      at_ = frame_;
    } else {
      digest_ = DigestEnd(rest_, num_rest_, digest_);
      rest_ = 0;
      num_rest_ = 0;
      while ((at_ - block_) % word_bytes != 0) *at_++ = std::byte{0};
    }
    frame_ = nullptr;
  }
  void OpenBlock(std::size_t num_bytes) {
    if (error_ != 0) Fail(error_);  // an event is missing, so nothing may follow, even if there is room again
    if (block_ != nullptr) {
      SealBlock(Follow::block);
      offset_ += capacity_;
    }
    const std::size_t num_wanted = std::max(sizeof(BlockHeader) + num_bytes, block_bytes);
    capacity_ = (num_wanted + block_grain - 1) / block_grain * block_grain;
    if (capacity_ > max_marked_bytes) Fail(error_ = EFBIG);
    // Without this, a page for which the disk has no room would end the process later.
    do error_ = posix_fallocate(file_, static_cast<off_t>(offset_), static_cast<off_t>(capacity_));
    while (error_ == EINTR);
    if (error_ != 0) Fail(error_);
    void* const pages = mmap(nullptr, capacity_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, static_cast<off_t>(offset_));
    if (pages == MAP_FAILED) Fail(error_ = errno);
    block_ = static_cast<std::byte*>(pages);
    digest_ = DigestWord(capacity_, digest_);
    uit::StoreBytes(BlockHeader{.capacity = capacity_, .digest = digest_}, {block_, sizeof(BlockHeader)});
    StoreWord(block_ + offsetof(BlockHeader, magic), BlockHeader::is_block);
    at_ = block_ + sizeof(BlockHeader);
  }
  /// Seals the block. Returns its number of bytes up to the last event.
  std::size_t SealBlock(Follow follow) {
    const std::byte* const last = frame_ != nullptr && NumBytesOfFrame() == 0 ? frame_ : at_;
    const auto num_bytes = static_cast<std::size_t>(last - block_);
    CloseFrame();
    digest_ = DigestWord(static_cast<std::uint64_t>(follow), DigestWord(num_bytes, digest_));
    StoreWord(block_ + offsetof(BlockHeader, seal), MakeMark(digest_, num_bytes));
    munmap(block_, capacity_);
    block_ = at_ = end_ = nullptr;
    return num_bytes;
  }
  [[noreturn]] void Fail(int error) const {
    throw uit::OutputError(path_.string() + ": cannot be written: " + std::generic_category().message(error));
  }

  std::filesystem::path path_;
  int file_ = -1;
  int error_ = 0;  // the first error; it stays
  std::size_t offset_ = block_grain;  // of the block, in the file
  std::size_t capacity_ = 0;
  std::uint64_t digest_;           // of everything except the last bytes, which are fewer than a word
  std::uint64_t rest_ = 0;         // those last bytes
  std::ptrdiff_t num_rest_ = 0;    // their number
  std::byte* block_ = nullptr;
  std::byte* frame_ = nullptr;  // the frame's mark, where the frame begins
  std::byte* at_ = nullptr;
  std::byte* end_ = nullptr;  // end of the frame's room
};

}  // namespace netuit::replay
