#include <netuit/placement/blocks.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <netuit/graph/topologies.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/placement/placement.hpp>
#include <uit/support/error.hpp>

#include "tests/support/catch.hpp"

using namespace netuit;

TEST_CASE("blocks of equal sizes are those of the contiguous placement") {
  for (const NodeId num_nodes : {6U, 7U, 100U, 101U}) {
    for (const Workers workers : {Workers{1, 1}, Workers{2, 3}, Workers{3, 1}}) {
      const Blocks blocks = Blocks::OfEqualSizes(num_nodes, workers);
      const Placement placement = PlaceContiguous(MakeEmpty(num_nodes), workers);
      CHECK(blocks.NumNodes() == num_nodes);
      CHECK(blocks.Shape() == workers);
      for (NodeId node = 0; node < num_nodes; ++node) {
        CHECK(blocks.WorkerOf(node) == placement.WorkerOf(node));
        CHECK(blocks.ProcessOf(node) == placement.Of(node).process);
      }
    }
  }
  CHECK(Blocks::OfEqualSizes(0xFFFF'FFFFU, {1000, 1000}).First()[500'000] == 0x8000'0000U);
}

TEST_CASE("blocks of equal work differ by at most the work of one node, and none is empty") {
  // Nodes with work of 0 … 4, and one with much more.
  const auto work_of = [](NodeId node) { return node == 30 ? std::uint64_t{200} : node * 7U % 5U; };
  std::vector<std::uint64_t> before{0};
  for (NodeId node = 0; node < 100; ++node) before.push_back(before.back() + work_of(node));
  for (const std::size_t processes : {1U, 2U, 3U, 7U, 50U, 100U}) {
    const Workers workers{.processes = processes, .threads = 1};
    const Blocks blocks = Blocks::OfEqualWork(100, workers, [&](NodeId node) { return before[node]; });
    const std::uint64_t mean = before.back() / processes;
    for (std::size_t worker = 0; worker < processes; ++worker) {
      const NodeId first = blocks.First()[worker];
      const NodeId last = blocks.First()[worker + 1];
      CHECK(first < last);
      CHECK(before[last] - before[first] <= mean + 200 + 1);
      if (last <= 30) CHECK(before[last] - before[first] <= mean + 4 + 1);
    }
  }
}

TEST_CASE("blocks of equal work exist whatever the numbers are that tell the work") {
  const std::uint64_t huge = ~std::uint64_t{0};
  using Work = std::vector<std::uint64_t>;
  for (const Work& work : {Work{0, 0, 0, 0, 0}, Work{0, huge, 0, huge, 0}, Work{huge, 1, huge, 1, huge}, Work{9, 8, 7, 6, 5}}) {
    const Blocks blocks = Blocks::OfEqualWork(4, {3, 1}, [&](NodeId node) { return work[node]; });
    CHECK(blocks.First().size() == 4);
    CHECK(blocks.NumNodes() == 4);
  }
}

TEST_CASE("blocks that do not fit the workers are refused") {
  CHECK_THROWS_AS(Blocks::OfEqualSizes(3, {2, 2}), uit::InputError);
  CHECK_THROWS_AS(Blocks::OfEqualWork(3, {2, 2}, [](NodeId node) { return node; }), uit::InputError);
  CHECK_THROWS_AS(Blocks({2, 1}, {0, 2}), uit::InputError);
  CHECK_THROWS_AS(Blocks({2, 1}, {0, 2, 2}), uit::InputError);
  CHECK_THROWS_AS(Blocks({2, 1}, {0, 3, 2}), uit::InputError);
  CHECK_THROWS_AS(Blocks({2, 1}, {1, 2, 3}), uit::InputError);
}
