#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace netuit::detail {

/// A format of graph files that is not read, and the expression of Python that reads it: "%" stands for the file's name in
/// quotes. The expression is empty if there is none.
struct ForeignFormat {
  std::string name;
  std::string expression;
};

/// Recognises a format that other programs write, by the beginning of the file.
std::optional<ForeignFormat> RecogniseForeign(std::string_view start);

inline constexpr std::string_view blanks = " \t\r\n";

/// Whether `text` begins with `prefix`, which is in lower case; capitals in `text` count as lower case.
inline bool BeginsWith(std::string_view text, std::string_view prefix) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return text.size() >= prefix.size() && std::ranges::equal(text.substr(0, prefix.size()), prefix, {}, lower);
}
/// `text` without its first blanks and line ends.
inline std::string_view SkipBlanks(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(blanks), text.size()));
}
/// The first line of `text`, which is removed from it.
inline std::string_view TakeLine(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

/// The fields of a line of comma-separated values. None if the line is something else, such as two labels of an edge list.
inline std::vector<std::string> SplitCsv(std::string_view line, char separator) {
  std::vector<std::string> fields(1);
  bool is_quoted = false;
  std::size_t depth = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (c == '"') is_quoted = !is_quoted;
    if (!is_quoted && (c == '(' || c == '[' || c == '{')) ++depth;
    if (!is_quoted && depth > 0 && (c == ')' || c == ']' || c == '}')) --depth;
    const bool is_inside = is_quoted || depth > 0;
    if (c == separator && !is_inside) {
      fields.emplace_back();
    } else if (is_inside || blanks.find(c) == std::string_view::npos) {
      fields.back() += c;
    } else if (const std::string_view rest = SkipBlanks(line.substr(at));
               !fields.back().empty() && !rest.empty() && rest.front() != separator) {
      return {};  // a blank between two words
    }
  }
  if (fields.size() < 2 || std::ranges::any_of(fields, &std::string::empty)) return {};
  return fields;
}

/// Recognises comma-separated values by the first line that is no comment.
inline std::optional<ForeignFormat> RecogniseCsv(std::string_view text) {
  constexpr std::array<std::string_view, 8> first_columns{"source", "src", "from", "node1", "id1", "start", "tail", "u"};
  std::string_view line;
  while (!text.empty() && (line.empty() || line.front() == '#')) line = SkipBlanks(TakeLine(text));
  for (const char separator : {',', ';'}) {
    const std::vector<std::string> fields = SplitCsv(line, separator);
    if (fields.empty()) continue;
    const auto is_first = [&](std::string_view name) { return name.size() == fields[0].size() && BeginsWith(fields[0], name); };
    const std::string pick = separator == ',' ? "" : ", sep=\";\"";
    const char* const attributes = fields.size() > 2 ? ", edge_attr=True)" : ")";
    if (std::ranges::any_of(first_columns, is_first) && fields[1].size() < 40) {
      return ForeignFormat{"CSV", "networkx.from_pandas_edgelist(pandas.read_csv(%" + pick + "), \"" + fields[0] + "\", \"" +
                                      fields[1] + '"' + attributes};
    }
    if (line.find('"') != std::string_view::npos) {  // NetworkX would take the quotes for a part of the labels
      return ForeignFormat{"CSV", "networkx.from_pandas_edgelist(pandas.read_csv(%" + pick + ", header=None), 0, 1" + attributes};
    }
    const bool is_weighted = fields.size() == 3 && fields[2].find_first_not_of("0123456789+-.eE") == std::string::npos;
    return ForeignFormat{"CSV", std::string(is_weighted ? "networkx.read_weighted_edgelist" : "networkx.read_edgelist") +
                                    "(%, delimiter=\"" + separator + "\")"};
  }
  return std::nullopt;
}

/// Recognises DOT: graph, a name or none, and a brace that opens no dictionary of an edge list.
inline bool IsDot(std::string_view text) {
  if (BeginsWith(text, "strict ")) text = SkipBlanks(text.substr(7));
  if (!BeginsWith(text, "graph") && !BeginsWith(text, "digraph")) return false;
  const std::string_view line = TakeLine(text);
  const std::size_t brace = line.find('{');
  if (brace == std::string_view::npos) return false;
  const std::string_view inside = SkipBlanks(line.substr(brace + 1));
  return inside.empty() || (inside.front() != '\'' && inside.front() != '"' && inside.front() != '}');
}

inline std::optional<ForeignFormat> RecogniseForeign(std::string_view start) {
  std::string_view text = SkipBlanks(start);
  const auto begins_with_any = [&](std::initializer_list<std::string_view> words) {
    return std::ranges::any_of(words, [&](std::string_view word) { return BeginsWith(text, word); });
  };
  if (text.starts_with('<')) {
    if (text.find("<graphml") != std::string_view::npos) return ForeignFormat{"GraphML", "networkx.read_graphml(%)"};
    if (text.find("<gexf") != std::string_view::npos) return ForeignFormat{"GEXF", "networkx.read_gexf(%)"};
    return ForeignFormat{"XML", ""};
  }
  if (begins_with_any({"%%matrixmarket"})) return ForeignFormat{"MatrixMarket", "networkx.from_scipy_sparse_array(scipy.io.mmread(%))"};
  if (begins_with_any({"*vertices", "*network", "*arcs", "*edges"})) return ForeignFormat{"Pajek", "networkx.read_pajek(%)"};
  if (begins_with_any({">>graph6<<"})) return ForeignFormat{"graph6", "networkx.read_graph6(%)"};
  if (begins_with_any({">>sparse6<<"})) return ForeignFormat{"sparse6", "networkx.read_sparse6(%)"};
  if (begins_with_any({"leda.graph"})) return ForeignFormat{"LEDA", "networkx.read_leda(%)"};
  if (begins_with_any({"{", "[{"})) {
    const std::string_view inside = SkipBlanks(text.substr(text.find('{') + 1));
    if (inside.starts_with('"') || inside.starts_with('}')) return ForeignFormat{"JSON", "networkx.node_link_graph(json.load(open(%)))"};
  }
  while (!text.empty() && begins_with_any({"#", "//", "creator ", "version ", "comment "})) {
    TakeLine(text);
    text = SkipBlanks(text);
  }
  if (BeginsWith(text, "graph") && SkipBlanks(text.substr(5)).starts_with('[')) {
    return ForeignFormat{"GML", "networkx.read_gml(%, label=\"id\")"};
  }
  if (IsDot(text)) return ForeignFormat{"DOT", "networkx.nx_pydot.read_dot(%)"};
  return RecogniseCsv(start);
}

}  // namespace netuit::detail
