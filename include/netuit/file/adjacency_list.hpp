#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <netuit/file/edge_data.hpp>
#include <netuit/file/graph_builder.hpp>
#include <netuit/file/line_cursor.hpp>
#include <netuit/file/line_reader.hpp>
#include <netuit/graph/topology.hpp>

namespace netuit {

namespace detail {

/// Refuses an adjacency list if its lines show that a label contains a blank, outside brackets and quotes. The reader would take
/// each word of such a label for a label, and read another graph.
///
/// NetworkX writes exactly one line for each node, so a word without a line is part of a label. A list written by hand may
/// omit lines. So this check applies only to lists with NetworkX's header, and to lists in which some label has a line without
/// neighbours and is a neighbour elsewhere. Such a line is redundant, so people do not write it by hand.
class AdjacencyCheck {
 public:
  explicit AdjacencyCheck(const LineReader& reader) : reader_{reader} {}

  /// Call this for each line, before its labels.
  void NoteLine(std::string_view line) { has_header_ = has_header_ || (words_.empty() && line.starts_with("# GMT ")); }
  /// Call this for the first word of a line; `is_alone`: it is the only one.
  void NoteSource(NodeId node, std::string_view label, bool is_alone) {
    Word& word = At(node);
    if (word.has_line && second_line_ == 0) {
      second_line_ = reader_.LineNumber();
      second_label_ = label;
    }
    word.has_line = true;
    word.is_alone = is_alone;
  }
  /// Call this for each further word of a line.
  void NoteTarget(NodeId node) {
    Word& word = At(node);
    if (word.target_line == 0) word.target_line = reader_.LineNumber();
  }
  /// Call this for each gap between words. Fails if tabs separate some words and blanks others: words with a blank between
  /// them may be one label.
  void NoteGap(bool has_tab) {
    (has_tab ? has_tabs_ : has_blanks_) = true;
    if (has_tabs_ && has_blanks_) Fail(reader_.LineNumber(), "blanks separate some words, and tabs others");
  }
  /// Call this at the end; `topology` is the result of reading. Fails if each node should have a line, but a word has none
  /// or, in a file by NetworkX, two.
  void Finish(const Topology& topology) const {
    const auto name = [&](auto word) { return Quoted(topology.Label(static_cast<NodeId>(word - words_.begin()))); };
    const auto alone =
        std::ranges::find_if(words_, [](const Word& word) { return word.is_alone && word.target_line != 0; });
    if (!has_header_ && alone == words_.end()) return;
    const auto lost = std::ranges::find(words_, false, &Word::has_line);
    if (lost != words_.end()) {
      Fail(lost->target_line, name(lost) + " has no line of its own, but " +
                                  (has_header_ ? "NetworkX writes one for each node"
                                               : name(alone) + " has one without neighbours, as if each node had a line"));
    }
    if (has_header_ && second_line_ != 0)
      Fail(second_line_, "a second line for " + Quoted(second_label_) + ", but NetworkX writes one for each node");
  }

 private:
  struct Word {
    std::size_t target_line = 0;  // the first, 0 if there is none
    bool has_line = false;
    bool is_alone = false;  // in its line
  };

  [[noreturn]] void Fail(std::size_t line, const std::string& reason) const {
    reader_.FailAt(line, reason + blank_label_hint);
  }

  Word& At(NodeId node) {
    if (node >= words_.size()) words_.resize(std::size_t{node} + 1);
    return words_[node];
  }

  const LineReader& reader_;
  std::vector<Word> words_;  // by node
  bool has_header_ = false;
  bool has_tabs_ = false;
  bool has_blanks_ = false;
  std::size_t second_line_ = 0;
  std::string second_label_;
};

}  // namespace detail

/// Reads an adjacency list from a reader that has returned no line yet; see the overload for a stream.
inline Topology ReadAdjacencyList(LineReader& reader, const GraphOptions& options = {}) {
  GraphBuilder builder{reader, options};
  detail::AdjacencyCheck check{reader};
  while (const auto line = reader.Next()) {
    check.NoteLine(*line);
    LineCursor cursor{reader, *line};
    if (cursor.IsAtEnd()) continue;
    const std::string_view label = cursor.TakeLabel();
    const NodeId source = builder.AddNode(label);
    bool has_tab = cursor.SkipsTab();
    check.NoteSource(source, label, cursor.IsAtEnd());
    while (!cursor.IsAtEnd()) {
      check.NoteGap(has_tab);
      const NodeId target = builder.AddNode(cursor.TakeLabel());
      check.NoteTarget(target);
      builder.AddEdge(source, target);
      has_tab = cursor.SkipsTab();
    }
  }
  Topology topology = std::move(builder).Build();
  check.Finish(topology);
  return topology;
}

/// Reads an adjacency list as NetworkX writes it: on each line a label, then the labels of its neighbours. An undirected edge
/// is on one of its two lines only. Labels, comments and errors are as in ReadEdgeList. Either tabs or blanks separate the
/// labels of a file. Refuses a list if its lines show that a label contains a blank, outside brackets and quotes.
inline Topology ReadAdjacencyList(std::istream& stream, std::string name, const GraphOptions& options = {}) {
  LineReader reader{stream, std::move(name), options.max_line_bytes};
  return ReadAdjacencyList(reader, options);
}

/// Reads a multiline adjacency list from a reader that has returned no line yet; see the overload for a stream.
inline Topology ReadMultilineAdjacencyList(LineReader& reader, const GraphOptions& options = {}) {
  GraphBuilder builder{reader, options};
  NodeId source = 0;
  std::uint64_t num_left = 0;
  while (const auto line = reader.Next()) {
    LineCursor cursor{reader, *line};
    if (cursor.IsAtEnd()) continue;
    const NodeId node = builder.AddNode(cursor.TakeLabel());
    if (num_left > 0) {
      builder.AddEdge(source, node, TakeEdgeData(cursor));
      --num_left;
    } else {
      if (cursor.IsAtEnd()) cursor.Fail("the number of neighbours is missing");
      source = node;
      num_left = cursor.TakeCount();
      cursor.ExpectEnd();
    }
  }
  if (num_left > 0) reader.Fail("the file ends " + std::to_string(num_left) + " neighbours too early");
  return std::move(builder).Build();
}

/// Reads a multiline adjacency list as NetworkX writes it: a line with a label and a number, then that many lines, each with a
/// neighbour and edge data as in ReadEdgeList. An undirected edge is listed at one of its two ends only. Labels, comments and
/// errors are as in ReadEdgeList.
inline Topology ReadMultilineAdjacencyList(std::istream& stream, std::string name, const GraphOptions& options = {}) {
  LineReader reader{stream, std::move(name), options.max_line_bytes};
  return ReadMultilineAdjacencyList(reader, options);
}

}  // namespace netuit
