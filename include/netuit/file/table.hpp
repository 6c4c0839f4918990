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
  explicit Table(const std::vector<std::string_view>& columns);

  /// Starts a row. Fields follow by Add, as many as there are columns.
  Table& Row();

  /// Text is quoted where CSV wants it; a truth is 1 or 0; a number has the shortest digits that read back as it.
  Table& Add(std::string_view text);
  /// Text.
  Table& Add(const char* text) { return Add(std::string_view{text}); }
  /// A truth.
  Table& Add(bool fact) { return Append(fact ? "1" : "0"); }
  /// A number; an empty field if it is none (NaN).
  Table& Add(std::floating_point auto number) { return Append(number == number ? ShortestDecimal(number) : ""); }
  /// A whole number.
  Table& Add(std::integral auto number) { return Append(std::to_string(number)); }

  /// A table of the same header.
  [[nodiscard]] Table Empty() const;

  /// Header and rows, each with its line end.
  [[nodiscard]] std::string Text() const;

  /// Replaces the file by header and rows in one step. Throws uit::OutputError, and then leaves it as it was.
  void Save(const std::string& path) const;

 private:
  Table& Append(std::string_view text);

  std::string text_;
  bool is_first_ = true;
};

/// Throws uit::OutputError unless a file could be written under `path`. Leaves nothing behind.
void CheckWritable(const std::string& path);

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/file/table.ipp>
#endif
