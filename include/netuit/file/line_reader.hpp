#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <netuit/file/graph_options.hpp>
#include <uit/support/error.hpp>

namespace netuit {

/// A piece of a user's text for a one-line message: in quotes, shortened, with control characters as hexadecimal codes.
inline std::string Quoted(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string quoted = "'";
  for (const char c : text.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7F) {
      quoted += c;
    } else {
      quoted += std::string{"\\x"} + "0123456789abcdef"[byte / 16] + "0123456789abcdef"[byte % 16];
    }
  }
  return quoted + (text.size() > longest ? "…'" : "'");
}

/// Reads a text line by line in bounded memory. Errors name the current line.
///
///     LineReader reader{stream, "graph.edgelist"};
///     while (const auto line = reader.Next()) …
///
/// Lines end in LF or CRLF. A UTF-8 byte-order mark is skipped. Files that are not text (with a NUL byte, or compressed) and lines
/// above the limit are refused without reading further.
class LineReader {
 public:
  /// name: the text's name in messages. The stream must outlive the reader.
  LineReader(std::istream& stream, std::string name, std::size_t max_line_bytes = default_max_line_bytes)
      : stream_{stream}, name_{std::move(name)}, max_line_bytes_{max_line_bytes}, buffer_(block_bytes) {}

  /// The next line without its line end; none after the last line. Valid until the next call.
  std::optional<std::string_view> Next();

  /// The beginning of the text, up to 64 KiB of it, before the first call of Next. Valid until then.
  std::string_view Start() {
    if (!has_started_) Fill();
    return Waiting();
  }
  /// The text's name in messages.
  const std::string& Name() const { return name_; }

  /// The number of the line that Next returned last, from 1.
  std::size_t LineNumber() const { return line_number_; }

  /// Throws uit::InputError "name:line: reason" for the line that Next returned last.
  [[noreturn]] void Fail(std::string_view reason) const { FailAt(line_number_, reason); }
  /// The same for another line.
  [[noreturn]] void FailAt(std::size_t line_number, std::string_view reason) const {
    throw uit::InputError(name_ + ":" + std::to_string(std::max<std::size_t>(line_number, 1)) + ": " +
                          std::string{reason});
  }

 private:
  static constexpr std::size_t block_bytes = std::size_t{1} << 16U;

  bool Fill();
  void CheckStart();
  std::string_view Waiting() const { return {buffer_.data() + begin_, end_ - begin_}; }

  std::istream& stream_;
  std::string name_;
  std::size_t max_line_bytes_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // bytes read and not yet returned: buffer_[begin_ … end_)
  std::size_t end_ = 0;
  std::size_t line_number_ = 0;
  bool has_started_ = false;
};

/// Opens a file for reading. Throws uit::InputError "path: reason".
inline std::ifstream OpenInput(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) throw uit::InputError(path.string() + ": is a directory");
  errno = 0;
  std::ifstream stream{path, std::ios::binary};
  if (!stream) {
    throw uit::InputError(path.string() +
                          ": cannot be opened: " + std::generic_category().message(errno == 0 ? EIO : errno));
  }
  return stream;
}

inline std::optional<std::string_view> LineReader::Next() {
  std::size_t searched = 0;
  std::size_t length = std::string_view::npos;
  for (;;) {
    length = Waiting().find('\n', searched);
    if (length != std::string_view::npos) break;
    searched = Waiting().size();
    if (searched > max_line_bytes_ || !Fill()) break;
  }
  const bool is_ended = length != std::string_view::npos;
  std::string_view line = Waiting().substr(0, length);
  if (line.empty() && !is_ended) return std::nullopt;
  ++line_number_;
  if (line.find('\0') != std::string_view::npos) Fail("a NUL byte: this is not text");
  if (line.size() > max_line_bytes_) Fail("a line longer than " + std::to_string(max_line_bytes_) + " bytes");
  begin_ += line.size() + (is_ended ? 1 : 0);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// Reads another block. Returns false at the end of the text.
inline bool LineReader::Fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ + block_bytes > buffer_.size()) buffer_.resize(std::max(end_ + block_bytes, 2 * buffer_.size()));
  stream_.read(buffer_.data() + end_, static_cast<std::streamsize>(buffer_.size() - end_));
  if (stream_.bad()) FailAt(line_number_ + 1, "cannot be read");
  const auto num_bytes = static_cast<std::size_t>(stream_.gcount());
  end_ += num_bytes;
  if (!std::exchange(has_started_, true)) CheckStart();
  return num_bytes > 0;
}

inline void LineReader::CheckStart() {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (Waiting().starts_with(byte_order_mark)) begin_ = byte_order_mark.size();
  const auto refuse = [this](const char* program) { FailAt(1, std::string("compressed by ") + program + ": unpack it first"); };
  if (Waiting().starts_with("\x1F\x8B")) refuse("gzip");
  if (Waiting().starts_with("BZh") && Waiting().size() > 4 && Waiting().substr(4).starts_with("1AY&SY")) refuse("bzip2");
  if (Waiting().starts_with("\xFD" "7zXZ")) refuse("xz");
  if (Waiting().starts_with("\x28\xB5\x2F\xFD")) refuse("zstd");
  if (Waiting().starts_with("PK\x03\x04")) refuse("zip");
}

}  // namespace netuit
