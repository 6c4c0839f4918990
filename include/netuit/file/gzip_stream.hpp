#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <istream>
#include <streambuf>
#include <string>

#include <zlib.h>

#include <uit/support/error.hpp>

namespace netuit {

/// Reads a file that gzip has compressed, in bounded memory. Reading throws uit::InputError "path: reason" if the file is
/// damaged. Needs zlib.
class GzipStream : public std::istream {
 public:
  /// Throws uit::InputError if the file cannot be opened.
  explicit GzipStream(const std::filesystem::path& path) : std::istream(nullptr), buffer_(path) {
    rdbuf(&buffer_);
    exceptions(std::ios::badbit);  // so that an exception of the buffer reaches the caller
  }

 private:
  class Buffer : public std::streambuf {
   public:
    explicit Buffer(const std::filesystem::path& path) : name_(path.string()), file_(gzopen(path.c_str(), "rb")) {
      if (file_ == nullptr) throw uit::InputError(name_ + ": cannot be opened");
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() override { gzclose_r(file_); }

   protected:
    int_type underflow() override {
      const int num_bytes = gzread(file_, block_.data(), static_cast<unsigned>(block_.size()));
      int code = Z_OK;
      const std::string reason = gzerror(file_, &code);
      if (num_bytes < 0 || (code != Z_OK && code != Z_STREAM_END)) {
        throw uit::InputError(name_ + ": cannot be unpacked: " + (code == Z_BUF_ERROR ? "the file ends too early" : "its data is damaged"));
      }
      setg(block_.data(), block_.data(), block_.data() + num_bytes);
      return num_bytes == 0 ? traits_type::eof() : traits_type::to_int_type(block_[0]);
    }

   private:
    std::string name_;
    gzFile file_;
    std::array<char, std::size_t{1} << 16U> block_{};
  };

  Buffer buffer_;
};

}  // namespace netuit
