#pragma once

#include <exception>
#include <string>

#include "tests/support/catch.hpp"

namespace uit::testing {

/// Returns the text of the exception that `f` throws; empty if it throws none.
template <typename F>
std::string WordsThrownBy(F&& f) {
  try {
    f();
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

/// Checks that `f` throws, and that the text contains `words`.
template <typename F>
void CheckThrows(F&& f, const std::string& words) {
  const std::string text = WordsThrownBy(f);
  CAPTURE(text, words);
  CHECK(text.find(words) != std::string::npos);
}

}  // namespace uit::testing
