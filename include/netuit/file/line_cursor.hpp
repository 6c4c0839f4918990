#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <system_error>

#include <netuit/file/line_reader.hpp>

namespace netuit {

/// What to do about labels with blanks, for messages.
inline constexpr const char* blank_label_hint =
    "; a label with blanks needs quotes (relabel_nodes(G, repr) in NetworkX) or a number (convert_node_labels_to_integers(G))";

/// Takes words, labels and numbers from the front of a line. Errors name the reader's line.
///
///     LineCursor cursor{reader, "(0, 0) (1, 0) 1.5  # a comment"};
///     cursor.TakeLabel();   // "(0, 0)"
///     cursor.TakeLabel();   // "(1, 0)"
///     cursor.TakeWeight();  // 1.5
///     cursor.ExpectEnd();
class LineCursor {
 public:
  /// A '#' outside quotes begins a comment.
  LineCursor(const LineReader& reader, std::string_view line) : reader_{reader}, rest_{line} {}

  /// Whether only blanks and a comment are left.
  bool IsAtEnd() {
    SkipBlanks();
    return rest_.empty() || rest_.front() == '#';
  }
  /// The next character that is not blank; '\0' at the end.
  char Peek() { return IsAtEnd() ? '\0' : rest_.front(); }
  /// Skips blanks and tabs; returns whether a tab was among them.
  bool SkipsTab() {
    const std::string_view before = rest_;
    SkipBlanks();
    return before.substr(0, before.size() - rest_.size()).find('\t') != std::string_view::npos;
  }
  /// Takes the next character that is not blank if it is `wanted`; returns whether it was.
  bool TryTake(char wanted) {
    if (Peek() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }

  /// Everything up to the next blank.
  std::string_view TakeWord();
  /// A label as it is written: a word, or any text in round or square brackets or in quotes.
  std::string_view TakeLabel();
  /// Everything up to the first of `stops` outside brackets and quotes, without surrounding blanks.
  std::string_view TakeValue(std::string_view stops);
  /// A whole number.
  std::uint64_t TakeCount() { return ParseCount(TakeWord()); }
  /// A finite number that is not negative.
  double TakeWeight() { return ParseWeight(TakeWord()); }
  /// Fails if a word is left.
  void ExpectEnd() {
    if (!IsAtEnd()) Fail("too many words, from " + Quoted(rest_) + blank_label_hint);
  }

  /// The value of a whole number; fails if the word is not one.
  std::uint64_t ParseCount(std::string_view word) const;
  /// The value of a finite number that is not negative; fails if the word is not one.
  double ParseWeight(std::string_view word) const;

  /// Throws uit::InputError "name:line: reason".
  [[noreturn]] void Fail(std::string_view reason) const { reader_.Fail(reason); }

 private:
  static bool IsBlank(char c) { return c == ' ' || c == '\t'; }
  static bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20; }

  void SkipBlanks() {
    while (!rest_.empty() && IsBlank(rest_.front())) rest_.remove_prefix(1);
  }
  std::string_view Split(std::size_t length) {
    const std::string_view front = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return front;
  }
  /// The length of the quoted text at a position, with both quotes.
  std::size_t QuotedLength(std::size_t begin) const;
  /// The length of the bracketed text at a position, with both brackets.
  std::size_t BracketedLength(std::size_t begin) const;

  const LineReader& reader_;
  std::string_view rest_;
};

inline std::string_view LineCursor::TakeWord() {
  SkipBlanks();
  std::size_t length = 0;
  for (; length < rest_.size() && !IsBlank(rest_[length]) && rest_[length] != '#'; ++length) {
    if (IsControl(rest_[length])) Fail("a control character: " + Quoted(rest_));
  }
  if (length == 0) Fail("the line ends too early");
  return Split(length);
}

inline std::string_view LineCursor::TakeLabel() {
  const char first = Peek();
  if (first == '\0') Fail("a label is missing");
  if (first == '{') Fail("a label is missing before " + Quoted(rest_));
  const bool is_quoted = first == '\'' || first == '"';
  if (!is_quoted && first != '(' && first != '[') return TakeWord();
  const std::string_view label = Split(is_quoted ? QuotedLength(0) : BracketedLength(0));
  for (const char c : label) {
    if (IsControl(c)) Fail("a control character in the label " + Quoted(label));
  }
  if (!rest_.empty() && !IsBlank(rest_.front()) && rest_.front() != '#')
    Fail("no blank after the label " + Quoted(label));
  return label;
}

inline std::string_view LineCursor::TakeValue(std::string_view stops) {
  SkipBlanks();
  std::size_t length = 0;
  std::size_t at = 0;
  while (at < rest_.size() && rest_[at] != '#' && stops.find(rest_[at]) == std::string_view::npos) {
    const char c = rest_[at];
    if (c == '\'' || c == '"')
      at += QuotedLength(at);
    else if (c == '(' || c == '[' || c == '{')
      at += BracketedLength(at);
    else
      ++at;
    if (!IsBlank(c)) length = at;
  }
  if (length == 0) Fail("a value is missing before " + Quoted(rest_));
  return Split(length);
}

inline std::size_t LineCursor::QuotedLength(std::size_t begin) const {
  for (std::size_t at = begin + 1; at < rest_.size(); ++at) {
    if (rest_[at] == '\\')
      ++at;
    else if (rest_[at] == rest_[begin])
      return at + 1 - begin;
  }
  Fail("a quote that is never closed: " + Quoted(rest_.substr(begin)));
}

inline std::size_t LineCursor::BracketedLength(std::size_t begin) const {
  std::array<char, 16> closers{};
  std::size_t depth = 0;
  for (std::size_t at = begin; at < rest_.size() && rest_[at] != '#'; ++at) {
    const char c = rest_[at];
    if (c == '\'' || c == '"') {
      at += QuotedLength(at) - 1;
    } else if (c == '(' || c == '[' || c == '{') {
      if (depth == closers.size()) Fail("brackets more than 16 deep");
      closers[depth++] = c == '(' ? ')' : c == '[' ? ']' : '}';
    } else if (c == ')' || c == ']' || c == '}') {
      if (closers[--depth] != c) Fail("brackets that do not match: " + Quoted(rest_.substr(begin)));
      if (depth == 0) return at + 1 - begin;
    }
  }
  Fail("a bracket that is never closed: " + Quoted(rest_.substr(begin)));
}

inline std::uint64_t LineCursor::ParseCount(std::string_view word) const {
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), count);
  if (error == std::errc::result_out_of_range) Fail(Quoted(word) + " is too large");
  if (error != std::errc{} || end != word.data() + word.size()) Fail(Quoted(word) + " is not a whole number");
  return count;
}

inline double LineCursor::ParseWeight(std::string_view word) const {
  double weight = 0;
  const std::string_view digits = word.substr(word.starts_with('+') ? 1 : 0);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), weight);
  if (error == std::errc::result_out_of_range) Fail("the weight " + Quoted(word) + " is out of range");
  if (error != std::errc{} || end != digits.data() + digits.size())
    Fail("the weight " + Quoted(word) + " is not a number");
  if (!std::isfinite(weight)) Fail("the weight " + Quoted(word) + " is not finite");
  if (std::signbit(weight) && weight != 0) Fail("the weight " + Quoted(word) + " is negative");
  return weight;
}

}  // namespace netuit
