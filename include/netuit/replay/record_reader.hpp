#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <netuit/replay/record_format.hpp>
#include <uit/config.hpp>
#include <uit/support/bytes.hpp>

namespace netuit::replay {

/// Thrown in a replay when a record that was cut short ends; it passes through the update function. It does not derive from
/// std::exception, so that a program does not handle it as one of its own.
struct RecordEnd {};

/// Reads a worker's record, frame by frame, and validates everything. One thread.
///
/// If a sealed block is damaged, the record is refused. If the process was killed, its last block is not sealed. It is read up
/// to the last event that its marks confirm.
class RecordReader {
 public:
  /// Checks the whole file. Throws uit::InputError unless it is a record that fits `expected` and every sealed block is
  /// undamaged. The record may be cut short.
  RecordReader(const std::filesystem::path& path, const RecordHeader& expected);

  /// Returns where and why the record ends early, as a message; empty if it is complete.
  const std::string& EarlyEnd() const { return early_end_; }

  /// Returns the next event, or Event::none at the end of the record.
  Event Peek() {
    while (rest_.Rest().empty()) {
      if (is_over_ || !LoadFrame()) return Event::none;
    }
    return static_cast<Event>(rest_.Rest()[0]);
  }
  /// Takes the next event. Throws RecordEnd if the record has ended.
  Event Take() {
    const Event event = Peek();
    if (event == Event::none) throw RecordEnd{};
    [[maybe_unused]] const bool has_one = rest_.TryRead(last_);
    return event;
  }
  /// Returns the data of the event taken. The caller must read all of it.
  uit::ByteReader& Rest() { return rest_; }

  /// Reports that the event's data is not what this program reads there. Throws uit::InputError.
  [[noreturn]] void FailToRead();
  /// Reports that the program does something else than in the recorded run. Throws uit::InputError.
  [[noreturn]] void FailToFit(const std::string& doing);

 private:
  static constexpr std::size_t word_bytes = sizeof(std::uint64_t);

  /// Ends reading.
  void End() {
    rest_ = uit::ByteReader(uit::ByteView{});
    is_over_ = true;
  }
  void Rewind(const RecordHeader& header);
  void CheckHeader(const RecordHeader& expected);

  /// Loads the next frame of this block or the next. Returns false at the end of the record.
  bool LoadFrame();
  /// Called after all of the block's frames. Checks the block against its seal. Returns whether another block follows.
  bool TryEndBlock();
  /// Loads the next block. Returns false if no further block was begun.
  bool TryLoadBlock();
  bool IsZero(std::size_t first, std::size_t last) const;
  bool ReadAt(std::size_t offset, std::vector<std::byte>& bytes);
  [[noreturn]] void Refuse(const std::string& why) const;

  std::filesystem::path path_;
  std::ifstream file_;
  std::uintmax_t num_file_bytes_ = 0;
  std::string early_end_;
  std::uint64_t digest_ = 0;     // of everything read so far
  std::size_t block_ = 0;        // offset of the block
  std::size_t next_block_ = 0;   // offset of the next block
  std::uint64_t seal_ = 0;       // of the block; 0 if it has none
  std::vector<std::byte> bytes_;  // of the block, up to the end that its seal gives
  std::size_t end_ = 0;           // in bytes_: end of the frame's events
  std::size_t at_ = 0;            // in bytes_: beginning of the next frame
  bool is_cut_ = false;      // the file ends before the block does
  bool is_damaged_ = false;  // damage follows, in a block without a seal
  bool is_last_ = false;     // the last block of a complete record has ended
  bool is_over_ = false;
  uit::ByteReader rest_{uit::ByteView{}};  // what is left of the frame
  std::uint8_t last_ = 0;
};

}  // namespace netuit::replay

#if !UIT_COMPILED
#include <netuit/replay/record_reader.ipp>
#endif
