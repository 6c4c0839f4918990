#pragma once

#include <array>
#include <charconv>
#include <string>

namespace netuit {

/// The shortest decimal that reads back as the same number.
inline std::string ShortestDecimal(double number) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

}  // namespace netuit
