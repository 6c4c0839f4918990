#pragma once

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <netuit/file/line_reader.hpp>
#include <netuit/file/node_table.hpp>
#include <netuit/graph/label_index.hpp>
#include <netuit/graph/topology.hpp>
#include <uit/config.hpp>

namespace netuit::detail {

/// The fields of a line of CSV, without their quotes.
UIT_DEFINE std::vector<std::string> SplitCsv(const LineReader& reader, std::string_view line) {
  std::vector<std::string> fields(1);
  bool is_quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool is_doubled = is_quoted && line.substr(i, 2) == "\"\"";
    if (is_doubled) fields.back() += line[++i];
    else if (line[i] == '"') is_quoted = !is_quoted;
    else if (line[i] == ',' && !is_quoted) fields.emplace_back();
    else fields.back() += line[i];
  }
  if (is_quoted) reader.Fail("a quote that is never closed; a field has one line");
  return fields;
}

/// The position of the column with this name.
UIT_DEFINE std::size_t FindColumn(const LineReader& reader, const std::vector<std::string>& names, std::string_view column) {
  const auto found = std::find(names.begin() + 1, names.end(), column);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  std::string known;
  for (std::size_t i = 1; i < names.size(); ++i) known += (i == 1 ? "" : ", ") + Quoted(names[i]);
  reader.Fail("no column " + Quoted(column) + " beside the labels" + (known.empty() ? "" : ", only " + known));
}

UIT_DEFINE void LoadNodeColumn(const NodeTable& table, const std::vector<std::string>& labels,
                               const std::function<bool(NodeId, std::string_view)>& set) {
  std::ifstream stream = OpenInput(table.path);
  LineReader reader(stream, table.path.string());
  const std::string& column = table.column;
  LabelIndex index;
  for (const std::string& label : labels) index.FindOrAdd(label);
  std::vector<bool> is_known(labels.size());
  std::size_t num_columns = 0;  // 0 before the header
  std::size_t place = 0;
  while (const auto line = reader.Next()) {
    if (line->empty()) continue;
    const std::vector<std::string> fields = SplitCsv(reader, *line);
    if (num_columns == 0) {
      place = FindColumn(reader, fields, column);
      num_columns = fields.size();
      continue;
    }
    if (fields.size() != num_columns)
      reader.Fail(std::to_string(fields.size()) + " fields, where the first line has " + std::to_string(num_columns));
    const auto node = index.Find(fields.front());
    if (!node) reader.Fail("the graph has no node " + Quoted(fields.front()));
    if (is_known[*node]) reader.Fail("a second row for node " + Quoted(fields.front()));
    if (!set(*node, fields[place])) reader.Fail(Quoted(fields[place]) + " is not a value for column " + Quoted(column));
    is_known[*node] = true;
  }
  if (num_columns == 0) reader.Fail("the table has no first line that names its columns");
  const auto missing = std::find(is_known.begin(), is_known.end(), false);
  if (missing != is_known.end()) reader.Fail("no row for node " + Quoted(labels[static_cast<std::size_t>(missing - is_known.begin())]));
}

}  // namespace netuit::detail
