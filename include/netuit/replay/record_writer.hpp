#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>

#include <netuit/replay/record_format.hpp>
#include <uit/config.hpp>
#include <uit/support/bytes.hpp>

namespace netuit::replay {

/// Writes a worker's record directly into pages of the file, and maps one block at a time. What has been written survives the
/// end of the process, even by a kill, without any flush. One thread.
class RecordWriter {
 public:
  /// Creates the file. Throws uit::OutputError, also if the file exists, so that no record is overwritten.
  RecordWriter(const std::filesystem::path& path, const RecordHeader& header);
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;
  ~RecordWriter();

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
  void Seal();

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

  void OpenFrame(std::size_t num_bytes);
  /// Ends the frame. The next frame begins at a multiple of the word size.
  void CloseFrame();
  void OpenBlock(std::size_t num_bytes);
  /// Seals the block. Returns its number of bytes up to the last event.
  std::size_t SealBlock(Follow follow);
  [[noreturn]] void Fail(int error) const;

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

#if !UIT_COMPILED
#include <netuit/replay/record_writer.ipp>
#endif
