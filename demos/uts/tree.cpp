#include "tree.hpp"

#include <array>
#include <cmath>
#include <numbers>

#include <uit/support/error.hpp>

#include "demos/common/settings.hpp"

namespace uts {
namespace {

/// The sample trees of the benchmark with what it has published of them. The tiny ones are ours, for tests.
const std::array<Tree, 9>& Trees() {
  static const std::array<Tree, 9> trees{{
      {.name = "T1", .kind = Kind::fixed, .branching = 4, .depth = 10, .seed = 19, .published = {4'130'071, 3'305'118, 10}},
      {.name = "T2", .kind = Kind::cyclic, .branching = 6, .depth = 16, .seed = 502, .published = {4'117'769, 2'342'762, 81}},
      {.name = "T3", .kind = Kind::binomial, .branching = 2000, .depth = 0, .seed = 42, .probability = 0.124875, .num_if_any = 8,
       .published = {4'112'897, 3'599'034, 1572}},
      {.name = "T4", .kind = Kind::linear_binomial, .branching = 6, .depth = 16, .seed = 1, .probability = 0.234375,
       .num_if_any = 4, .published = {4'132'453, 3'108'986, 134}},
      {.name = "T5", .kind = Kind::linear, .branching = 4, .depth = 20, .seed = 34, .published = {4'147'582, 2'181'318, 20}},
      {.name = "T1L", .kind = Kind::fixed, .branching = 4, .depth = 13, .seed = 29, .published = {102'181'082, 81'746'377, 13}},
      {.name = "T3L", .kind = Kind::binomial, .branching = 2000, .depth = 0, .seed = 7, .probability = 0.200014, .num_if_any = 5,
       .published = {111'345'631, 89'076'904, 17'844}},
      {.name = "tiny_geometric", .kind = Kind::fixed, .branching = 4, .depth = 6, .seed = 19},
      {.name = "tiny_binomial", .kind = Kind::binomial, .branching = 200, .depth = 0, .seed = 42, .probability = 0.12,
       .num_if_any = 8},
  }};
  return trees;
}

/// The mean of a geometric tree at a depth.
double MeanAt(const Tree& tree, std::uint32_t depth) {
  const double part = static_cast<double>(depth) / tree.depth;
  switch (tree.kind) {
    case Kind::fixed: return depth < tree.depth ? tree.branching : 0;
    case Kind::cyclic: return depth > 5 * tree.depth ? 0 : std::pow(tree.branching, std::sin(2 * std::numbers::pi * part));
    default: return tree.branching * (1 - part);
  }
}

}  // namespace

Tree TreeOf(const std::string& name) {
  for (const Tree& tree : Trees())
    if (tree.name == name) return tree;
  std::vector<std::string> names;
  for (const Tree& tree : Trees()) names.push_back(tree.name);
  throw uit::InputError("no tree has the name " + name + " (" + TreeNames() + ")" + demo::DidYouMean(name, names));
}

std::string TreeNames() {
  std::string names;
  for (const Tree& tree : Trees()) names += (names.empty() ? "" : " ") + tree.name;
  return names;
}

Node RootOf(const Tree& tree) { return {.state = Sha1(std::array<std::uint32_t, 5>{0, 0, 0, 0, tree.seed}), .depth = 0}; }

std::uint32_t NumChildren(const Tree& tree, const Node& node) {
  constexpr std::uint32_t most = 100;  // of all nodes but a binomial root
  const double random = (node.state[4] & 0x7FFFFFFFU) / 2147483648.0;
  const bool is_root = node.depth == 0;
  if (tree.kind == Kind::binomial && is_root) return static_cast<std::uint32_t>(tree.branching);
  if (tree.kind == Kind::binomial || (tree.kind == Kind::linear_binomial && 2 * node.depth >= tree.depth))
    return random < tree.probability ? tree.num_if_any : 0;
  const double mean = is_root ? tree.branching : MeanAt(tree, node.depth);
  const double children = std::floor(std::log(1 - random) / std::log(1 - 1 / (1 + mean)));
  return static_cast<std::uint32_t>(std::min<double>(children, most));
}

}  // namespace uts
