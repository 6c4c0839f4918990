#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <ios>
#include <string>
#include <system_error>
#include <vector>

#include <netuit/replay/record_format.hpp>
#include <netuit/replay/record_reader.hpp>
#include <uit/config.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>

namespace netuit::replay {

UIT_DEFINE RecordReader::RecordReader(const std::filesystem::path& path, const RecordHeader& expected) : path_(path) {
  std::error_code error;
  num_file_bytes_ = std::filesystem::file_size(path, error);
  if (!error) file_.open(path, std::ios::binary);
  if (error || !file_) Refuse("cannot be read" + (error ? ": " + error.message() : std::string()));
  CheckHeader(expected);
  Rewind(expected);
  while (LoadFrame()) continue;
  const bool is_whole = is_last_;
  if (!is_whole) {
    early_end_ = path_.string() + (is_damaged_ ? ": is damaged" : ": was cut short") + ", and is replayed up to byte " +
                 std::to_string(block_ + end_);
  }
  Rewind(expected);
}

UIT_DEFINE void RecordReader::FailToRead() {
  End();
  Refuse("was recorded by a program that behaved differently: event " + std::to_string(static_cast<unsigned>(last_)) +
         " cannot be read");
}

UIT_DEFINE void RecordReader::FailToFit(const std::string& doing) {
  End();
  Refuse("was recorded by a program that behaved differently: this one " + doing + ", but the record has event " +
         std::to_string(static_cast<unsigned>(last_)));
}

UIT_DEFINE void RecordReader::Rewind(const RecordHeader& header) {
  digest_ = Digest(uit::BytesOf(header));
  next_block_ = block_grain;
  block_ = block_grain;
  end_ = at_ = 0;
  bytes_.clear();
  seal_ = 0;
  is_last_ = is_damaged_ = is_over_ = false;
  rest_ = uit::ByteReader(uit::ByteView{});
}

UIT_DEFINE void RecordReader::CheckHeader(const RecordHeader& expected) {
  RecordHeader header;
  header.magic = {};
  std::vector<std::byte> bytes(sizeof header);
  if (ReadAt(0, bytes)) uit::LoadBytes(header, bytes);
  const auto differs = [this](const std::string& what, std::uint64_t recorded, std::uint64_t wanted) {
    if (recorded != wanted)
      Refuse("its " + what + " is " + std::to_string(recorded) + ", but this run needs " + std::to_string(wanted));
  };
  if (header.magic != expected.magic) Refuse("is not a record of a run");
  differs("format version", header.version, expected.version);
  differs("worker number", header.worker, expected.worker);
  differs("number of workers", header.num_workers, expected.num_workers);
  differs("number of threads per process", header.num_threads, expected.num_threads);
  differs("run number", header.run, expected.run);
  differs("mode", header.mode, expected.mode);
  differs("seed", header.seed, expected.seed);
  differs("first update", header.first_update, expected.first_update);
  if (header.shape != expected.shape) Refuse("was recorded with another graph, placement or program");
  bytes.resize(std::min<std::size_t>(num_file_bytes_, block_grain));
  if (!ReadAt(0, bytes)) Refuse("cannot be read");
  const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
  if (header.reserved != 0 || !std::all_of(bytes.begin() + sizeof header, bytes.end(), is_zero)) Refuse("is damaged");
}

UIT_DEFINE bool RecordReader::LoadFrame() {
  while (at_ == bytes_.size()) {
    if (!TryEndBlock() || !TryLoadBlock()) return false;
  }
  const auto stop = [this] {
    is_over_ = true;
    return false;
  };
  if (bytes_.size() - at_ < word_bytes) return stop();
  const auto mark = uit::LoadBytes<std::uint64_t>(uit::ByteView(bytes_).subspan(at_));
  const std::size_t num_bytes = BytesOfMark(mark);
  const std::size_t num_left = bytes_.size() - at_ - word_bytes;
  if (mark == 0 && seal_ == 0) return stop();  // no frame follows
  // If the file was cut within a frame, this cannot be distinguished from a damaged mark.
  if (num_bytes > num_left && is_cut_) return stop();
  const uit::ByteView events = uit::ByteView(bytes_).subspan(at_ + word_bytes, std::min(num_bytes, num_left));
  const std::uint64_t digest = DigestFrame(events, digest_);
  if (num_bytes == 0 || num_bytes > num_left || MakeMark(digest, num_bytes) != mark || !IsZero(end_, at_)) {
    if (seal_ != 0) Refuse("is damaged");
    is_damaged_ = true;
    return stop();
  }
  digest_ = digest;
  end_ = at_ + word_bytes + num_bytes;
  at_ = std::min((end_ + word_bytes - 1) / word_bytes * word_bytes, bytes_.size());
  rest_ = uit::ByteReader(events);
  return true;
}

UIT_DEFINE bool RecordReader::TryEndBlock() {
  if (block_ == next_block_) return true;  // before the first
  is_over_ = true;
  if (seal_ == 0 || is_cut_) return false;
  const std::uint64_t digest = DigestWord(bytes_.size(), digest_);
  const auto is_followed_by = [&](Follow follow) {
    return MakeMark(DigestWord(static_cast<std::uint64_t>(follow), digest), bytes_.size()) == seal_;
  };
  is_last_ = is_followed_by(Follow::nothing);
  if (!is_last_ && !is_followed_by(Follow::block)) Refuse("is damaged");
  if (!IsZero(end_, at_) || (is_last_ && next_block_ < num_file_bytes_)) Refuse("is damaged");
  if (is_last_) return false;
  digest_ = DigestWord(static_cast<std::uint64_t>(Follow::block), digest);
  is_over_ = false;
  return true;
}

UIT_DEFINE bool RecordReader::TryLoadBlock() {
  block_ = next_block_;
  end_ = at_ = 0;
  bytes_.clear();
  is_over_ = true;
  if (block_ >= num_file_bytes_) return false;
  const std::size_t num_left = num_file_bytes_ - block_;
  std::vector<std::byte> head(std::min(num_left, sizeof(BlockHeader)));
  if (!ReadAt(block_, head)) Refuse("cannot be read");
  if (head.size() < sizeof(BlockHeader)) return false;
  const auto header = uit::LoadBytes<BlockHeader>(head);
  if (header.magic == 0 && header.seal == 0) return false;  // it was not begun
  const std::uint64_t digest = DigestWord(header.capacity, digest_);
  if (header.magic != BlockHeader::is_block || header.digest != digest) Refuse("is damaged");
  if (header.capacity == 0 || header.capacity % block_grain != 0 || header.capacity > max_marked_bytes) Refuse("is damaged");
  digest_ = digest;
  seal_ = header.seal;
  const std::size_t num_there = std::min<std::size_t>(num_left, header.capacity);
  const std::size_t num_sealed = BytesOfMark(seal_);
  if (seal_ != 0 && (num_sealed < sizeof header || num_sealed > header.capacity)) Refuse("is damaged");
  if (seal_ == 0 && num_left > header.capacity) Refuse("is damaged");  // only the last block can be unfinished
  is_cut_ = num_there < (seal_ != 0 ? num_sealed : header.capacity);
  bytes_.resize(seal_ != 0 ? std::min(num_there, num_sealed) : num_there);
  if (!ReadAt(block_, bytes_)) Refuse("cannot be read");
  end_ = at_ = sizeof header;
  next_block_ = block_ + header.capacity;
  is_over_ = false;
  return true;
}

UIT_DEFINE bool RecordReader::IsZero(std::size_t first, std::size_t last) const {
  return std::all_of(bytes_.begin() + static_cast<std::ptrdiff_t>(first), bytes_.begin() + static_cast<std::ptrdiff_t>(last),
                     [](std::byte byte) { return byte == std::byte{0}; });
}

UIT_DEFINE bool RecordReader::ReadAt(std::size_t offset, std::vector<std::byte>& bytes) {
  if (offset + bytes.size() > num_file_bytes_) return false;
  file_.seekg(static_cast<std::streamoff>(offset));
  file_.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return static_cast<bool>(file_);
}

UIT_DEFINE void RecordReader::Refuse(const std::string& why) const { throw uit::InputError(path_.string() + ": " + why); }

}  // namespace netuit::replay
