#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <uit/config.hpp>
#include <uit/support/bytes.hpp>

namespace uit::testing {

/// Memory as two processes would share it: on its own cache lines, with arbitrary contents. Aborts at the end if anything was written
/// behind it.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t num_bytes)
      : lines_(std::make_unique<Line[]>(NumLines(num_bytes))), num_bytes_(num_bytes) {
    std::memset(lines_.get(), fill, NumLines(num_bytes) * sizeof(Line));
  }
  SharedMemory(SharedMemory&&) = default;
  SharedMemory& operator=(SharedMemory&&) = default;
  ~SharedMemory() {
    if (lines_ == nullptr) return;
    const auto* const begin = reinterpret_cast<const unsigned char*>(lines_.get());
    const bool is_whole = std::all_of(begin + num_bytes_, begin + NumLines(num_bytes_) * sizeof(Line),
                                      [](unsigned char byte) { return byte == fill; });
    if (is_whole) return;
    std::fprintf(stderr, "something was written behind %zu bytes of shared memory\n", num_bytes_);
    std::abort();
  }
  std::byte* Begin() const { return lines_[0].bytes; }
  MutableByteView All() const { return {Begin(), num_bytes_}; }

 private:
  static constexpr unsigned char fill = 0xA5;
  /// One more than needed.
  static std::size_t NumLines(std::size_t num_bytes) { return (num_bytes + cache_line - 1) / cache_line + 1; }

  struct alignas(cache_line) Line {
    std::byte bytes[cache_line];
  };
  std::unique_ptr<Line[]> lines_;
  std::size_t num_bytes_;
};

}  // namespace uit::testing
