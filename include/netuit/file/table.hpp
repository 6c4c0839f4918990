#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

#include <netuit/file/decimal.hpp>
#include <uit/config.hpp>

namespace netuit {

/// Rows of a CSV file.
///
///     Table table{{"mode", "label"}};
///     table.Row().Add(3).Add("(0, 0)");
///     table.Save("rows.csv");
class Table {
 public:
  /// With a header of these names.
  explicit Table(const std::vector<std::string_view>& columns) {
    for (const std::string_view column : columns) Add(column);
  }

  /// Starts a row. Fields follow by Add, as many as there are columns.
  Table& Row() {
    text_ += '\n';
    is_first_ = true;
    return *this;
  }

  /// Text is quoted where CSV wants it; a truth is 1 or 0; a number has the shortest digits that read back as it.
  Table& Add(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) return Append(text);
    std::string quoted{'"'};
    for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
    return Append(quoted + '"');
  }
  /// Text.
  Table& Add(const char* text) { return Add(std::string_view{text}); }
  /// A truth.
  Table& Add(bool fact) { return Append(fact ? "1" : "0"); }
  /// A number; an empty field if it is none (NaN).
  Table& Add(std::floating_point auto number) { return Append(number == number ? ShortestDecimal(number) : ""); }
  /// A whole number.
  Table& Add(std::integral auto number) { return Append(std::to_string(number)); }

  /// A table of the same header.
  [[nodiscard]] Table Empty() const {
    Table table{{}};
    table.text_ = text_.substr(0, text_.find('\n'));
    return table;
  }

  /// Header and rows, each with its line end.
  [[nodiscard]] std::string Text() const { return text_ + '\n'; }

  /// Replaces the file by header and rows in one step. Throws uit::OutputError, and then leaves it as it was.
  void Save(const std::string& path) const;

 private:
  Table& Append(std::string_view text) {
    if (!is_first_) text_ += ',';
    is_first_ = false;
    text_ += text;
    return *this;
  }

  std::string text_;
  bool is_first_ = true;
};

/// Throws uit::OutputError unless a file could be written under `path`. Leaves nothing behind.
void CheckWritable(const std::string& path);

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/file/table.ipp>
#endif
