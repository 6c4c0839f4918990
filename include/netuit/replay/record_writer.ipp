#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <system_error>

#include <netuit/replay/record_format.hpp>
#include <netuit/replay/record_writer.hpp>
#include <uit/config.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>

namespace netuit::replay {

UIT_DEFINE RecordWriter::RecordWriter(const std::filesystem::path& path, const RecordHeader& header) : path_(path), digest_(Digest(uit::BytesOf(header))) {
  file_ = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file_ < 0) Fail(errno);
  const ssize_t written = pwrite(file_, &header, sizeof header, 0);
  if (written != static_cast<ssize_t>(sizeof header)) {
    const int error = written < 0 ? errno : ENOSPC;
    close(file_);
    Fail(error);
  }
}

UIT_DEFINE RecordWriter::~RecordWriter() {
  Seal();
  close(file_);
}

UIT_DEFINE void RecordWriter::Seal() {
  if (block_ == nullptr) return;
  const std::size_t num_bytes = SealBlock(Follow::nothing);
  // If this fails, the file stays longer, which does no harm.
  [[maybe_unused]] const int error = ftruncate(file_, static_cast<off_t>(offset_ + num_bytes));
  error_ = EBADF;
}

UIT_DEFINE void RecordWriter::OpenFrame(std::size_t num_bytes) {
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

UIT_DEFINE void RecordWriter::CloseFrame() {
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

UIT_DEFINE void RecordWriter::OpenBlock(std::size_t num_bytes) {
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

UIT_DEFINE std::size_t RecordWriter::SealBlock(Follow follow) {
  const std::byte* const last = frame_ != nullptr && NumBytesOfFrame() == 0 ? frame_ : at_;
  const auto num_bytes = static_cast<std::size_t>(last - block_);
  CloseFrame();
  digest_ = DigestWord(static_cast<std::uint64_t>(follow), DigestWord(num_bytes, digest_));
  StoreWord(block_ + offsetof(BlockHeader, seal), MakeMark(digest_, num_bytes));
  munmap(block_, capacity_);
  block_ = at_ = end_ = nullptr;
  return num_bytes;
}

UIT_DEFINE void RecordWriter::Fail(int error) const {
  throw uit::OutputError(path_.string() + ": cannot be written: " + std::generic_category().message(error));
}

}  // namespace netuit::replay
