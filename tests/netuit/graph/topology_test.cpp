#include <netuit/graph/topology.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <uit/support/error.hpp>
#include <vector>

#include <netuit/graph/label_hash.hpp>
#include <netuit/graph/label_index.hpp>
#include <netuit/graph/random_stream.hpp>

#include "tests/netuit/graph/graphs.hpp"
#include "tests/support/catch.hpp"

using netuit::Edge;
using netuit::EdgeId;
using netuit::Labels;
using netuit::NodeId;
using netuit::Topology;

namespace {

/// Returns the positions in `edges` of a node's outputs and inputs, in the order that a topology promises. Compares every
/// edge with every other.
struct ExpectedOrder {
  std::vector<std::size_t> outputs;
  std::vector<std::size_t> inputs;
};

ExpectedOrder OrderAt(NodeId node, const std::vector<Edge>& edges) {
  const auto number_among_parallels = [&](std::size_t position) {
    std::size_t number = 0;
    for (std::size_t at = 0; at < position; ++at) {
      number += edges[at].source == edges[position].source && edges[at].target == edges[position].target ? 1U : 0U;
    }
    return number;
  };
  ExpectedOrder order;
  std::vector<std::size_t> lone_outputs;
  std::vector<bool> is_taken(edges.size());
  for (std::size_t out = 0; out < edges.size(); ++out) {
    if (edges[out].source != node) continue;
    bool is_matched = false;
    for (std::size_t in = 0; in < edges.size() && !is_matched; ++in) {
      is_matched = edges[in].source == edges[out].target && edges[in].target == node &&
                   number_among_parallels(in) == number_among_parallels(out);
      if (!is_matched) continue;
      order.outputs.push_back(out);
      order.inputs.push_back(in);
      is_taken[in] = true;
    }
    if (!is_matched) lone_outputs.push_back(out);
  }
  order.outputs.insert(order.outputs.end(), lone_outputs.begin(), lone_outputs.end());
  for (std::size_t in = 0; in < edges.size(); ++in) {
    if (edges[in].target == node && !is_taken[in]) order.inputs.push_back(in);
  }
  return order;
}

std::vector<NodeId> Targets(const Topology& topology, NodeId node) {
  return {topology.OutNeighbors(node).begin(), topology.OutNeighbors(node).end()};
}

}  // namespace

TEST_CASE("a topology without nodes is empty") {
  CHECK(Topology{}.NumNodes() == 0);
  CHECK(Topology{}.NumEdges() == 0);
  CHECK(Topology{} == Topology{0, {}});
}

TEST_CASE("a node or an edge that a topology does not have is refused") {
  const auto refuses = [](const Topology& topology, const std::string& reason) {
    const NodeId node = topology.NumNodes();
    CHECK_THROWS_WITH(topology.OutNeighbors(node), "node " + reason);
    CHECK_THROWS_WITH(topology.OutNeighbors(static_cast<NodeId>(-1)), Catch::Matchers::StartsWith("node 4294967295 is not"));
    CHECK_THROWS_WITH(topology.FirstOutEdge(node), "node " + reason);
    CHECK_THROWS_WITH(topology.InEdges(node), "node " + reason);
    CHECK_THROWS_WITH(topology.IsReciprocal(node, 0), "node " + reason);
    CHECK_THROWS_WITH(topology.NodeWeight(node), "node " + reason);
    CHECK_THROWS_WITH(topology.Label(node), "node " + reason);
    CHECK_THROWS_AS(topology.Source(topology.NumEdges()), uit::Error);
    CHECK_THROWS_AS(topology.EdgeWeight(topology.NumEdges()), uit::Error);
    CHECK_THROWS_WITH(topology.Target(topology.NumEdges()), Catch::Matchers::StartsWith("edge "));
  };
  const std::string hint = "; a topology read by netuit::OnRoot is empty except on rank 0";
  refuses(Topology{}, "0 is not in this topology of 0 nodes" + hint);
  refuses(Topology{2, {{0, 1}}, Labels{}, {2, 3}}, "2 is not in this topology of 2 nodes");
  Topology moved{2, {{0, 1, 5}}};
  const Topology target = std::move(moved);
  CHECK_THROWS_AS(moved.OutNeighbors(0), uit::Error);  // NOLINT(bugprone-use-after-move): what a moved topology answers
  CHECK_THROWS_WITH(Topology{}.Target(3), "edge 3 is not in this topology of 0 edges" + hint);
}

TEST_CASE("outputs come in the order of the edges, reciprocated ones first") {
  const Topology topology{4, {{0, 1}, {0, 2}, {0, 3}, {3, 0}, {2, 0}, {1, 3}}};
  CHECK(Targets(topology, 0) == std::vector<NodeId>{2, 3, 1});
  REQUIRE(topology.InEdges(0).size() == 2);
  CHECK(topology.Source(topology.InEdges(0)[0]) == 2);
  CHECK(topology.Source(topology.InEdges(0)[1]) == 3);
  CHECK(topology.FirstOutEdge(1) == 3);
  CHECK(topology.Target(topology.FirstOutEdge(1)) == 3);
}

TEST_CASE("parallel edges are matched in order and a loop matches itself") {
  const Topology topology{2, {{0, 1, 2}, {0, 1, 3}, {1, 0, 4}, {0, 0, 5}, {1, 0, 6}}};
  CHECK(Targets(topology, 0) == std::vector<NodeId>{1, 1, 0});
  REQUIRE(topology.InEdges(0).size() == 3);
  CHECK(topology.EdgeWeight(topology.InEdges(0)[0]) == 4);
  CHECK(topology.EdgeWeight(topology.InEdges(0)[1]) == 6);
  CHECK(topology.InEdges(0)[2] == topology.FirstOutEdge(0) + 2);
}

TEST_CASE("any directed multigraph is wired in the promised order") {
  netuit::RandomStream random{7};
  for (int round = 0; round < 1000; ++round) {
    const NodeId num_nodes = 1 + random.Below(8);
    const std::vector<Edge> edges = RandomEdges(num_nodes, random.Below(30), random);
    const Topology topology{num_nodes, edges};
    REQUIRE(topology.NumEdges() == edges.size());
    const auto position_of = [&](EdgeId edge) { return static_cast<std::size_t>(topology.EdgeWeight(edge)) - 2; };
    EdgeId next = 0;
    for (NodeId node = 0; node < num_nodes; ++node) {
      const ExpectedOrder expected = OrderAt(node, edges);
      REQUIRE(topology.FirstOutEdge(node) == next);
      std::vector<std::size_t> outputs;
      for (const NodeId target : topology.OutNeighbors(node)) {
        REQUIRE(topology.Source(next) == node);
        REQUIRE(topology.Target(next) == target);
        outputs.push_back(position_of(next));
        REQUIRE(edges[outputs.back()].target == target);
        ++next;
      }
      std::vector<std::size_t> inputs;
      for (const EdgeId edge : topology.InEdges(node)) inputs.push_back(position_of(edge));
      REQUIRE(outputs == expected.outputs);
      REQUIRE(inputs == expected.inputs);
      for (std::size_t k = 0; k < outputs.size(); ++k) {
        const bool is_matched = k < inputs.size() && edges[inputs[k]].source == edges[outputs[k]].target;
        REQUIRE(topology.IsReciprocal(node, k) == is_matched);
      }
    }
    REQUIRE(next == edges.size());
  }
}

TEST_CASE("weights are 1 unless given") {
  const Topology plain{2, {{0, 1}}};
  CHECK(plain.EdgeWeight(0) == 1);
  CHECK(plain.NodeWeight(1) == 1);
  CHECK_FALSE(plain.HasEdgeWeights());
  CHECK_FALSE(plain.HasNodeWeights());

  const Topology weighted{2, {{0, 1, 2.5}}, {}, {3, 0}};
  CHECK(weighted.EdgeWeight(0) == 2.5);
  CHECK(weighted.NodeWeight(0) == 3);
  CHECK(weighted.NodeWeight(1) == 0);
  CHECK(weighted.WithNodeWeights({1, 1}) == Topology{2, {{0, 1, 2.5}}});
  CHECK(plain.WithNodeWeights({1, 4}).NodeWeight(1) == 4);
}

TEST_CASE("a node without a name is called by its id") {
  CHECK(Topology{2, {}}.Label(1) == "1");
  CHECK(Topology{2, {}, {"a", "(0, 0)"}}.Label(1) == "(0, 0)");
  const std::vector<std::string> names{"b", "a"};
  CHECK(Topology{2, {}, names}.Label(0) == "b");
  CHECK_FALSE(Topology{2, {}, {"0", "1"}}.HasLabels());
  CHECK(Topology{2, {}, {"1", "0"}}.Label(0) == "1");
  CHECK(Topology{2, {}, {"0", "01"}}.Label(1) == "01");
}

TEST_CASE("a topology refuses what is no graph") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  CHECK_THROWS_AS((Topology{2, {{0, 2}}}), uit::InputError);
  CHECK_THROWS_AS((Topology{2, {{2, 0}}}), uit::InputError);
  CHECK_THROWS_AS((Topology{2, {{0, 1, -1}}}), uit::InputError);
  CHECK_THROWS_AS((Topology{2, {{0, 1, std::nan("")}}}), uit::InputError);
  CHECK_THROWS_AS((Topology{2, {{0, 1, infinity}}}), uit::InputError);
  CHECK_THROWS_AS((Topology{2, {}, {"a"}}), uit::InputError);
  CHECK_THROWS_AS((Topology{2, {}, {"a", "b", "c"}}), uit::InputError);
  CHECK_THROWS_AS((Topology{2, {}, {}, {1}}), uit::InputError);
  CHECK_THROWS_AS((Topology{2, {}, {}, {1, -1}}), uit::InputError);
  CHECK_THROWS_AS((Topology{2, {}}.WithNodeWeights({1})), uit::InputError);
  CHECK_THROWS_AS((Topology{2, {}}.WithNodeWeights({1, infinity})), uit::InputError);
}

TEST_CASE("labels are numbered in order of first appearance") {
  netuit::LabelIndex index;
  CHECK_FALSE(index.Find("a"));
  CHECK(index.FindOrAdd("a") == 0);
  CHECK(index.FindOrAdd("1000000000000") == 1);
  CHECK(index.FindOrAdd("1") == 2);
  CHECK(index.FindOrAdd("01") == 3);
  CHECK(index.FindOrAdd("a") == 0);
  CHECK(index.Find("1") == NodeId{2});
  CHECK_FALSE(index.Find("2"));
  bool are_in_order = true;
  for (NodeId node = 0; node < 20000; ++node) are_in_order &= index.FindOrAdd("x" + std::to_string(node)) == 4 + node;
  for (NodeId node = 0; node < 20000; ++node)
    are_in_order &= index.FindOrAdd(std::to_string(node * 1024 + 5)) == 20004 + node;
  CHECK(are_in_order);
  CHECK(index.Find("x19999") == NodeId{20003});
  const Labels labels = index.Take();
  CHECK(labels[3] == "01");
  CHECK(labels[20004] == "5");
  CHECK(index.Size() == 0);
  CHECK_FALSE(index.Find("a"));
}

TEST_CASE("two words of the same hash are two labels") {
  // In these words of 14 characters, the weights of the first seven are `place` times those of the others, modulo 2^61 - 1.
  __extension__ using Wide = unsigned __int128;
  const netuit::detail::LabelHash hash{1};
  const Wide place = hash.OfWord("");
  Wide step = 1;
  while (step * place % ((std::uint64_t{1} << 61U) - 1) >> 56U != 0) ++step;
  const auto as_characters = [](Wide digits) {
    std::string text(7, '\0');
    const auto number = static_cast<std::uint64_t>(digits);
    std::memcpy(text.data(), &number, text.size());
    return text;
  };
  const Wide most = (Wide{1} << 56U) - 1;
  const std::string one = as_characters(7) + as_characters(most);
  const std::string another = as_characters(7 + step) + as_characters(most - step * place % ((std::uint64_t{1} << 61U) - 1));
  REQUIRE(one != another);
  REQUIRE(hash.OfWord(one) == hash.OfWord(another));
  netuit::LabelIndex index{hash};
  CHECK(index.FindOrAdd(one) == 0);
  CHECK(index.FindOrAdd(another) == 1);
  CHECK(index.Find(one) == NodeId{0});
}

namespace {

/// Returns the mean number of slots that a search visits. Also checks that every word is found under its number.
double ProbesPerLabel(const std::vector<std::string>& labels) {
  netuit::LabelIndex index;
  for (const std::string& label : labels) index.FindOrAdd(label);
  bool are_found = index.Size() == labels.size();
  for (NodeId node = 0; node < labels.size(); ++node) are_found &= index.Find(labels[node]) == node;
  CHECK(are_found);
  CHECK(index.NumProbes() >= labels.size());
  return static_cast<double>(index.NumProbes()) / static_cast<double>(labels.size());
}

/// Returns the number that netuit::MixBits maps to this one.
std::uint64_t UnmixBits(std::uint64_t value) {
  value ^= value >> 31U ^ value >> 62U;
  value *= 0x319642b2d24d8ec3U;
  value ^= value >> 27U ^ value >> 54U;
  value *= 0x96de1b173f119089U;
  return value ^ value >> 30U ^ value >> 60U;
}

}  // namespace

TEST_CASE("labels chosen to collide cost no more than other labels") {
  std::vector<std::string> counted;
  for (NodeId node = 0; node < 50'000; ++node) counted.push_back(std::to_string(node));
  CHECK(ProbesPerLabel(counted) < 3);

  bool is_inverse = true;
  std::vector<std::string> numbers;  // the low 24 bits of MixBits(number / 4) are 0
  for (std::uint64_t high = 1; numbers.size() < 50'000; ++high) {
    const std::uint64_t number = UnmixBits(high << 24U);
    is_inverse &= netuit::MixBits(number) == high << 24U;
    if (number >> 61U == 0) numbers.push_back(std::to_string(4 * number));
  }
  CHECK(is_inverse);
  CHECK(ProbesPerLabel(numbers) < 3);

  std::vector<std::string> words;  // 10 bits of the FNV-1a hash are 0
  for (std::uint64_t number = 0; words.size() < 500; ++number) {
    const std::string word = "n" + std::to_string(number);
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char c : word) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    if ((netuit::MixBits((hash | std::uint64_t{1} << 63U) >> 2U) & 0x3FFU) == 0) words.push_back(word);
  }
  CHECK(ProbesPerLabel(words) < 3);

  for (const unsigned shift : {8U, 16U, 20U, 32U, 40U}) {  // step between consecutive numbers
    std::vector<std::string> strides;
    for (std::uint64_t node = 0; node < 20'000; ++node) strides.push_back(std::to_string(node << shift));
    CHECK(ProbesPerLabel(strides) < 3);
  }
}

TEST_CASE("two indices use different hash keys and the same numbering") {
  netuit::LabelIndex one;
  netuit::LabelIndex another;
  bool are_alike = true;
  for (NodeId node = 0; node < 5'000; ++node) {
    for (const std::string& label : {std::to_string(node * 7), "w" + std::to_string(node)})
      are_alike &= one.FindOrAdd(label) == another.FindOrAdd(label);
  }
  CHECK(are_alike);
  CHECK(netuit::detail::LabelHash{}.OfNumber(1) != netuit::detail::LabelHash{}.OfNumber(1));
  CHECK(netuit::detail::LabelHash{}.OfWord("hub") != netuit::detail::LabelHash{}.OfWord("hub"));
  CHECK(netuit::detail::LabelHash{5}.OfWord("hub") == netuit::detail::LabelHash{5}.OfWord("hub"));
}

TEST_CASE("words that differ in one character or in length have different hashes") {
  const netuit::detail::LabelHash hash;
  std::vector<std::uint64_t> hashes;
  for (std::size_t length = 0; length < 40; ++length) {
    const std::string zeros(length, '\0');
    hashes.push_back(hash.OfWord(zeros));
    for (std::size_t at = 0; at < length; ++at) {
      for (const char c : {'\1', '\x7f', '\xff'}) {
        std::string word = zeros;
        word[at] = c;
        hashes.push_back(hash.OfWord(word));
      }
    }
  }
  std::ranges::sort(hashes);
  CHECK(std::ranges::adjacent_find(hashes) == hashes.end());
  CHECK(hashes.back() >> 61U == 0);
}

TEST_CASE("only the shortest form below 2^63 is a whole number") {
  CHECK(netuit::WholeNumber("0") == 0U);
  CHECK(netuit::WholeNumber("9223372036854775807") == (std::uint64_t{1} << 63U) - 1);
  for (const char* word :
       {"", "00", "01", "-1", "+1", "1x", "1.0", " 1", "9223372036854775808", "99999999999999999999"}) {
    CHECK_FALSE(netuit::WholeNumber(word));
  }
}
