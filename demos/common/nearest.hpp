#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace demo {

/// The choice that a word is most likely a slip of: at most a third of its letters differ. Otherwise the first choice that begins
/// with the word, if it has three letters or more.
std::optional<std::string> Nearest(std::string_view word, const std::vector<std::string>& choices);

}  // namespace demo
