#pragma once

#include <exception>
#include <string>

#include "tests/support/catch.hpp"

namespace uit::testing {

/// The words of the exception that `f` ends with; empty if it does not.
template <typename F>
std::string WordsThrownBy(F&& f) {
  try {
    f();
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

/// Checks that `f` throws, and says `words` among others.
template <typename F>
void CheckThrows(F&& f, const std::string& words) {
  const std::string text = WordsThrownBy(f);
  CAPTURE(text, words);
  CHECK(text.find(words) != std::string::npos);
}

}  // namespace uit::testing
