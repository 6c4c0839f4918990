#pragma once

#include <cctype>
#include <string_view>

#include <netuit/file/line_cursor.hpp>

namespace netuit {

namespace detail {

/// Removes NumPy's wrapping, as in np.float64(1.5).
inline std::string_view WithoutNumpy(std::string_view number) {
  const std::size_t open = number.find('(');
  if (!number.starts_with("np.") || open == std::string_view::npos || !number.ends_with(')')) return number;
  return number.substr(open + 1, number.size() - open - 2);
}

/// Whether a word is one of the numbers that are spelled with letters, which have an error of their own.
inline bool IsSpecialNumber(std::string_view word) { return word.starts_with("nan") || word.starts_with("inf"); }

}  // namespace detail

/// Takes a Python dictionary such as {'weight': 3, 'color': 'red'}, and returns its weight; 1 if it has no such key. Other
/// values may be any text with matching brackets and quotes.
inline double TakeDictionary(LineCursor& cursor) {
  double weight = 1;
  if (!cursor.TryTake('{')) cursor.Fail("data in braces is missing");
  if (cursor.TryTake('}')) return weight;
  for (;;) {
    const std::string_view key = cursor.TakeValue(":");
    if (!cursor.TryTake(':')) cursor.Fail("no value for " + Quoted(key));
    const std::string_view value = cursor.TakeValue(",}");
    if (key == "'weight'" || key == "\"weight\"") weight = cursor.ParseWeight(detail::WithoutNumpy(value));
    if (cursor.TryTake('}')) return weight;
    if (!cursor.TryTake(',')) cursor.Fail("braces that are never closed");
    if (cursor.TryTake('}')) return weight;
  }
}

/// Takes the rest of a line, and returns an edge's weight: a number, the weight in a dictionary, or 1 if nothing is left.
inline double TakeEdgeData(LineCursor& cursor) {
  double weight = 1;
  if (cursor.Peek() == '{') {
    weight = TakeDictionary(cursor);
  } else if (!cursor.IsAtEnd()) {
    const std::string_view word = cursor.TakeWord();
    if (std::isalpha(static_cast<unsigned char>(word.front())) != 0 && !detail::IsSpecialNumber(word))
      cursor.Fail("the weight " + Quoted(word) + " is not a number" + blank_label_hint);
    weight = cursor.ParseWeight(word);
  }
  cursor.ExpectEnd();
  return weight;
}

}  // namespace netuit
