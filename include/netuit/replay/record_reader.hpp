#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include <netuit/replay/record_format.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>

namespace netuit::replay {

/// Thrown where a record that was cut short ends, out of the update that it ends in. No std::exception, so that it is not
/// taken for one of the program's.
struct RecordEnd {};

/// Reads a worker's record, block by block, and believes nothing in it. One thread.
class RecordReader {
 public:
  /// Looks at all of the file. Throws uit::InputError unless it is a record of what `expected` says, and undamaged. It may
  /// have been cut short.
  RecordReader(const std::filesystem::path& path, const RecordHeader& expected) : path_(path) {
    std::error_code error;
    num_file_bytes_ = std::filesystem::file_size(path, error);
    if (!error) file_.open(path, std::ios::binary);
    if (error || !file_) Refuse("cannot be read" + (error ? ": " + error.message() : std::string()));
    CheckHeader(expected);
    while (LoadBlock()) continue;
    next_ = block_grain;
    is_cut_ = false;
    rest_ = uit::ByteReader(uit::ByteView{});
  }

  /// What comes next; Event::none where the record ends.
  Event Peek() {
    while (rest_.Rest().empty()) {
      if (!LoadBlock()) return Event::none;
    }
    return static_cast<Event>(rest_.Rest()[0]);
  }
  /// Takes the next event. Throws RecordEnd if there is none.
  Event Take() {
    const Event event = Peek();
    if (event == Event::none) throw RecordEnd{};
    [[maybe_unused]] const bool has_one = rest_.TryRead(last_);
    return event;
  }
  /// What belongs to the event taken: take it all.
  uit::ByteReader& Rest() { return rest_; }

  /// What belongs to the event could not be read: throws RecordEnd if that is because the record was cut short.
  [[noreturn]] void FailToRead() {
    const bool was_cut = is_cut_;
    End();
    if (was_cut) throw RecordEnd{};
    Refuse("is damaged");
  }
  /// The program does something else than it did when it was recorded. Throws uit::InputError.
  [[noreturn]] void FailToFit(const std::string& doing) {
    End();
    Refuse("is of a program that did otherwise: where this one " + doing + ", there is event " +
           std::to_string(static_cast<unsigned>(last_)));
  }

 private:
  /// What is left of an event that could not be read is no event.
  void End() {
    rest_ = uit::ByteReader(uit::ByteView{});
    is_cut_ = true;
  }
  void CheckHeader(const RecordHeader& expected) {
    RecordHeader header;
    header.magic = {};
    std::vector<std::byte> bytes(sizeof header);
    if (ReadAt(0, bytes)) uit::LoadBytes(header, bytes);
    const auto differs = [this](const std::string& what, std::uint64_t recorded, std::uint64_t wanted) {
      if (recorded != wanted)
        Refuse("is of " + what + " " + std::to_string(recorded) + ", where " + std::to_string(wanted) + " is to be replayed");
    };
    if (header.magic != expected.magic) Refuse("is no record of a run");
    differs("version", header.version, expected.version);
    differs("worker", header.worker, expected.worker);
    differs("as many workers as", header.num_workers, expected.num_workers);
    differs("run", header.run, expected.run);
    differs("mode", header.mode, expected.mode);
    differs("seed", header.seed, expected.seed);
    if (header.shape != expected.shape) Refuse("is of another graph, placement, or program");
  }
  /// Goes on to the next block; false if there is none.
  bool LoadBlock() {
    if (next_ >= num_file_bytes_ || is_cut_) return false;
    const std::size_t num_left = num_file_bytes_ - next_;
    bytes_.resize(sizeof(BlockHeader));
    is_cut_ = num_left < sizeof(BlockHeader);
    if (is_cut_ || !ReadAt(next_, bytes_)) return false;
    const auto header = uit::LoadBytes<BlockHeader>(bytes_);
    if (header.magic == 0 && header.capacity == 0) is_cut_ = true;  // not even begun
    if (is_cut_) return false;
    if (header.magic != BlockHeader{}.magic || header.capacity == 0 || header.capacity % block_grain != 0) Refuse("is damaged");
    const std::size_t num_room = std::min(num_left, header.capacity) - sizeof(BlockHeader);
    const bool is_sealed = header.num_bytes != 0;
    if (header.num_bytes > header.capacity - sizeof(BlockHeader)) Refuse("is damaged");
    is_cut_ = !is_sealed || header.num_bytes > num_room;
    if (is_cut_ && num_left > header.capacity) Refuse("is damaged");  // only the last block can be unfinished
    bytes_.resize(is_cut_ ? num_room : header.num_bytes);
    if (!ReadAt(next_ + sizeof(BlockHeader), bytes_)) Refuse("cannot be read");
    if (!is_cut_ && Digest(bytes_) != header.digest) Refuse("is damaged");
    next_ += std::min(num_left, header.capacity);
    rest_ = uit::ByteReader(bytes_);
    return true;
  }
  bool ReadAt(std::size_t offset, std::vector<std::byte>& bytes) {
    if (offset + bytes.size() > num_file_bytes_) return false;
    file_.seekg(static_cast<std::streamoff>(offset));
    file_.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return static_cast<bool>(file_);
  }
  [[noreturn]] void Refuse(const std::string& why) const { throw uit::InputError(path_.string() + ": " + why); }

  std::filesystem::path path_;
  std::ifstream file_;
  std::uintmax_t num_file_bytes_ = 0;
  std::size_t next_ = block_grain;  // where the next block begins
  bool is_cut_ = false;             // within the block that was loaded last
  std::vector<std::byte> bytes_;    // of its events
  uit::ByteReader rest_{uit::ByteView{}};
  std::uint8_t last_ = 0;
};

}  // namespace netuit::replay
