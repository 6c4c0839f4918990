#pragma once

#include <cerrno>
#include <cstddef>
#include <streambuf>
#include <vector>

#include <unistd.h>

namespace netuit::detail {

/// A stream buffer that writes to an open file descriptor. std::ofstream can only open a file by its name, so it cannot
/// demand that the file is new.
///
/// Does not close the file. One thread at a time.
class DescriptorBuffer : public std::streambuf {
 public:
  DescriptorBuffer() : block_(block_bytes) { setp(block_.data(), block_.data() + block_.size()); }

  /// Sets the file to write to.
  void Open(int file) { file_ = file; }
  /// The errno of the first failed write; 0 if none failed.
  int Error() const { return error_; }

 protected:
  int_type overflow(int_type c) override {
    if (!Drain()) return traits_type::eof();
    if (!traits_type::eq_int_type(c, traits_type::eof())) sputc(traits_type::to_char_type(c));
    return traits_type::not_eof(c);
  }
  int sync() override { return Drain() ? 0 : -1; }

 private:
  static constexpr std::size_t block_bytes = std::size_t{1} << 14U;

  /// Writes the buffered bytes. After the first failure it always returns false.
  bool Drain() {
    for (const char* from = pbase(); error_ == 0 && from != pptr();) {
      const ssize_t num_written = ::write(file_, from, static_cast<std::size_t>(pptr() - from));
      if (num_written >= 0)
        from += num_written;
      else if (errno != EINTR)
        error_ = errno;
    }
    if (error_ != 0) return false;
    setp(block_.data(), block_.data() + block_.size());
    return true;
  }

  int file_ = -1;
  int error_ = 0;
  std::vector<char> block_;
};

}  // namespace netuit::detail
