#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace graphs {

/// Names the first node for which a result differs from the right one, on rank 0, which has both.
template <typename T>
std::string Difference(const std::vector<T>& result, const std::vector<T>& right) {
  if (result.size() != right.size()) return "a node has no result";
  for (std::size_t node = 0; node < right.size(); ++node)
    if (!(result[node] == right[node]))
      return "node " + std::to_string(node) + " has " + std::to_string(result[node]) + " instead of " + std::to_string(right[node]);
  return "";
}

}  // namespace graphs
