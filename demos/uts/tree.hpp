#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sha1.hpp"

namespace uts {

/// How the number of a node's children is drawn.
enum class Kind : std::uint8_t {
  binomial,         ///< with a probability `num_if_any`, else 0
  fixed,            ///< geometric, the same mean down to a depth
  linear,           ///< geometric, with a mean that decreases linearly
  cyclic,           ///< geometric, with a mean that goes up and down
  linear_binomial,  ///< linear in the upper half of the depth, then binomial
};

/// What a search finds.
struct Census {
  std::uint64_t num_nodes = 0;
  std::uint64_t num_leaves = 0;
  std::uint64_t depth = 0;  ///< of the deepest node; the root's is 0
  friend bool operator==(const Census&, const Census&) = default;
};
/// Both together.
inline Census Sum(const Census& a, const Census& b) {
  return {a.num_nodes + b.num_nodes, a.num_leaves + b.num_leaves, std::max(a.depth, b.depth)};
}

/// A tree of the Unbalanced Tree Search benchmark (Olivier et al. 2006).
struct Tree {
  std::string name{};
  Kind kind = Kind::fixed;
  double branching = 4;        ///< the root's children, or their mean
  std::uint32_t depth = 10;    ///< at which the mean has come to its end
  std::uint32_t seed = 0;
  double probability = 0;      ///< binomial: that a node has children
  std::uint32_t num_if_any = 0;
  Census published{};          ///< all 0 if nobody has published it
};

/// A node: 160 random bits, which decide on its subtree, and its depth.
struct Node {
  Digest state{};
  std::uint32_t depth = 0;
};

/// Returns the tree with this name. Throws uit::InputError.
Tree TreeOf(const std::string& name);
/// The names of all trees, with blanks between.
std::string TreeNames();

/// Returns the root of a tree.
Node RootOf(const Tree& tree);
/// Returns how many children a node has.
std::uint32_t NumChildren(const Tree& tree, const Node& node);

/// Counts a node, and adds its children to the end of `open`.
inline void Visit(const Tree& tree, const Node& node, std::vector<Node>& open, Census& census) {
  const std::uint32_t num_children = NumChildren(tree, node);
  ++census.num_nodes;
  census.num_leaves += num_children == 0 ? 1 : 0;
  census.depth = std::max<std::uint64_t>(census.depth, node.depth);
  const Digest& s = node.state;
  for (std::uint32_t i = 0; i < num_children; ++i)
    open.push_back({Sha1(std::array<std::uint32_t, 6>{s[0], s[1], s[2], s[3], s[4], i}), node.depth + 1});
}

/// Takes up to `limit` nodes from the end of `open`, and visits them. Returns how many.
inline std::size_t VisitSome(const Tree& tree, std::size_t limit, std::vector<Node>& open, Census& census) {
  std::size_t count = 0;
  for (; count < limit && !open.empty(); ++count) {
    const Node node = open.back();
    open.pop_back();
    Visit(tree, node, open, census);
  }
  return count;
}

}  // namespace uts
