#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include <netuit/file/foreign_format.hpp>
#include <netuit/file/line_reader.hpp>

namespace netuit {

/// The formats of graph files that LoadGraph reads.
enum class GraphFormat { edge_list, adjacency_list, multiline_adjacency_list, metis };

namespace detail {

/// The rest of a line after its first label.
inline std::string_view AfterLabel(std::string_view line) {
  std::size_t depth = 0;
  char quote = '\0';
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '(' || c == '[') {
      ++depth;
    } else if ((c == ')' || c == ']') && depth > 0) {
      --depth;
    } else if (depth == 0 && blanks.find(c) != std::string_view::npos) {
      return SkipBlanks(line.substr(at));
    }
  }
  return {};
}

/// A text in quotes, as Python reads it.
inline std::string PythonString(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  return quoted + '"';
}

/// The imports of Python that an expression needs.
inline std::string ImportsFor(std::string_view expression) {
  std::string imports = "import networkx";
  for (const std::string_view module : {"json", "pandas", "scipy.io"})
    if (expression.find(std::string(module) + ".") != std::string_view::npos) (imports += ", ") += module;
  return imports + "; ";
}

/// Refuses a file of another format, with the line of Python that converts it.
[[noreturn]] inline void RefuseForeign(const LineReader& reader, const ForeignFormat& format, std::filesystem::path path) {
  const std::size_t name = format.expression.find('%');
  if (name == std::string::npos) reader.FailAt(1, "this is " + format.name + ", and no graph");
  const std::string read = std::string(format.expression).replace(name, 1, PythonString(reader.Name()));
  const std::string converted = path.replace_extension(".multiline_adjlist").string();
  reader.FailAt(1, "this is " + format.name + ", which is not read; convert it in Python: " + ImportsFor(format.expression) +
                       "networkx.write_multiline_adjlist(" + read + ", " + PythonString(converted) + ")");
}

/// Recognises an adjacency list by the comment with which NetworkX begins it, or by its edge data, which no edge list has
/// after the first label. Any other file is an edge list.
inline GraphFormat RecogniseByContent(const LineReader& reader, std::string_view text) {
  bool has_header = false;
  bool has_line = false;
  bool has_zeros_alone = true;  // each line is a label and 0
  while (!text.empty()) {
    const std::string_view line = SkipBlanks(TakeLine(text));
    has_header = has_header || (!has_line && line.starts_with("# GMT "));
    if (line.empty() || line.front() == '#') continue;
    const std::string_view rest = AfterLabel(line);
    if (rest.starts_with('{')) return GraphFormat::multiline_adjacency_list;
    has_zeros_alone = has_zeros_alone && rest.starts_with('0') && SkipBlanks(rest.substr(1)).empty();
    has_line = true;
  }
  if (!has_header) return GraphFormat::edge_list;
  if (has_line && has_zeros_alone) {
    reader.FailAt(1, "either no node has an edge, or each has one to node 0: name the file .multiline_adjlist or .adjlist");
  }
  return GraphFormat::adjacency_list;
}

}  // namespace detail

/// The format of a graph file. Its extension decides if it is .graph (METIS), .adjlist, .multiline_adjlist, .madjlist or
/// .edgelist, also with .gz after it; otherwise its beginning decides. Refuses files of formats that are not read, whatever
/// their extension. Call it before the first line is read.
inline GraphFormat RecogniseFormat(LineReader& reader, std::filesystem::path path) {
  if (path.extension() == ".gz") path.replace_extension();
  const std::string extension = path.extension().string();
  if (const auto foreign = detail::RecogniseForeign(reader.Start())) detail::RefuseForeign(reader, *foreign, path);
  if (extension == ".graph") return GraphFormat::metis;
  if (extension == ".adjlist") return GraphFormat::adjacency_list;
  if (extension == ".multiline_adjlist" || extension == ".madjlist") return GraphFormat::multiline_adjacency_list;
  if (extension == ".edgelist") return GraphFormat::edge_list;
  return detail::RecogniseByContent(reader, reader.Start());
}

}  // namespace netuit
