#pragma once

#include <cstddef>
#include <cstring>
#include <memory>

#include <uit/config.hpp>
#include <uit/support/bytes.hpp>

namespace uit::testing {

/// Memory as two processes would share it: on its own cache lines, with arbitrary contents.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t num_bytes)
      : lines_(std::make_unique<Line[]>((num_bytes + cache_line - 1) / cache_line)), num_bytes_(num_bytes) {
    std::memset(lines_.get(), 0xA5, num_bytes);
  }
  std::byte* Begin() const { return lines_[0].bytes; }
  MutableByteView All() const { return {Begin(), num_bytes_}; }

 private:
  struct alignas(cache_line) Line {
    std::byte bytes[cache_line];
  };
  std::unique_ptr<Line[]> lines_;
  std::size_t num_bytes_;
};

}  // namespace uit::testing
