#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include <uit/team/member.hpp>

#include "tree.hpp"

namespace uts {

inline constexpr std::size_t all = std::numeric_limits<std::size_t>::max();

/// One member visits all nodes.
inline Census SearchAlone(const uit::Member& me, const Tree& tree) {
  Census census;
  std::vector<Node> open;
  if (me.IsRoot()) open.push_back(RootOf(tree));
  VisitSome(tree, all, open, census);
  return census;
}

/// Every member visits the same nodes level by level, until there are enough to split. It then goes on with every n-th of them.
inline Census SearchSplit(const uit::Member& me, const Tree& tree) {
  const std::size_t enough = 64 * me.Size();
  Census census;
  std::vector<Node> level{RootOf(tree)};
  while (!level.empty() && level.size() < enough) {
    std::vector<Node> next;
    for (const Node& node : level) Visit(tree, node, next, census);
    level.swap(next);
  }
  if (!me.IsRoot()) census = {};
  std::vector<Node> open;
  for (std::size_t i = me.Rank(); i < level.size(); i += me.Size()) open.push_back(level[i]);
  VisitSome(tree, all, open, census);
  return census;
}

}  // namespace uts
