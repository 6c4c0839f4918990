#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <netuit/file/atomic_file.hpp>
#include <netuit/file/table.hpp>
#include <uit/config.hpp>

namespace netuit {

UIT_DEFINE Table::Table(const std::vector<std::string_view>& columns) {
  for (const std::string_view column : columns) Add(column);
}

UIT_DEFINE Table& Table::Row() {
  text_ += '\n';
  is_first_ = true;
  return *this;
}

UIT_DEFINE Table& Table::Add(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return Append(text);
  std::string quoted{'"'};
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return Append(quoted + '"');
}

UIT_DEFINE Table& Table::Append(std::string_view text) {
  if (!is_first_) text_ += ',';
  is_first_ = false;
  text_ += text;
  return *this;
}

UIT_DEFINE Table Table::Empty() const {
  Table table{{}};
  table.text_ = text_.substr(0, text_.find('\n'));
  return table;
}

UIT_DEFINE std::string Table::Text() const { return text_ + '\n'; }

UIT_DEFINE void Table::Save(const std::string& path) const {
  WriteFileAtomically(path, [this](std::ostream& out) { out << Text(); });
}

UIT_DEFINE void CheckWritable(const std::string& path) {
  struct Withdrawn {};
  try {
    WriteFileAtomically(path, [](std::ostream&) { throw Withdrawn{}; });
  } catch (const Withdrawn&) {
  }
}

}  // namespace netuit
