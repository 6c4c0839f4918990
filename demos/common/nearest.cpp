#include "demos/common/nearest.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "demos/common/settings.hpp"

namespace demo {
namespace {

/// The number of letters to insert, remove, replace, or swap with the next one, that turns one word into the other.
std::size_t EditDistance(std::string_view one, std::string_view other) {
  std::vector<std::size_t> before_last, last, row(other.size() + 1);
  for (std::size_t k = 0; k <= other.size(); ++k) row[k] = k;
  for (std::size_t i = 1; i <= one.size(); ++i) {
    before_last = std::exchange(last, row);
    row[0] = i;
    for (std::size_t k = 1; k <= other.size(); ++k) {
      row[k] = std::min({last[k] + 1, row[k - 1] + 1, last[k - 1] + (one[i - 1] == other[k - 1] ? 0 : 1)});
      if (i > 1 && k > 1 && one[i - 1] == other[k - 2] && one[i - 2] == other[k - 1])
        row[k] = std::min(row[k], before_last[k - 2] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string> Nearest(std::string_view word, const std::vector<std::string>& choices) {
  if (word.size() > 64) return std::nullopt;
  std::optional<std::string> nearest;
  std::size_t least = word.size() / 3 + 1;
  for (const std::string& choice : choices) {
    if (const std::size_t distance = EditDistance(word, choice); distance < least) {
      nearest = choice;
      least = distance;
    }
  }
  if (nearest || word.size() < 3) return nearest;
  const auto longer = std::ranges::find_if(choices, [&](const std::string& choice) { return choice.starts_with(word); });
  return longer == choices.end() ? std::nullopt : std::optional{*longer};
}

std::string DidYouMean(const std::string& word, const std::vector<std::string>& choices) {
  const auto nearest = Nearest(word, choices);
  return nearest ? "; did you mean " + *nearest + '?' : std::string{};
}

}  // namespace demo
