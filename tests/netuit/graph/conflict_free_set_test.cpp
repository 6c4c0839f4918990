// Largest sets of tasks that may run at once.
#include <netuit/graph/conflict_free_set.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include <netuit/graph/random_stream.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/graph/topology.hpp>
#include <uit/support/error.hpp>

#include "tests/support/catch.hpp"

using namespace netuit;

namespace {

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

std::vector<NodeId> All(NodeId count) {
  std::vector<NodeId> all(count);
  std::iota(all.begin(), all.end(), NodeId{0});
  return all;
}

/// So many conflicts between random tasks. Some are given in both directions, some twice.
Topology RandomConflicts(NodeId num_tasks, std::size_t num_conflicts, std::uint64_t seed) {
  RandomStream random{seed};
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < num_conflicts; ++i) {
    const NodeId a = random.Below(num_tasks);
    const NodeId b = random.Below(num_tasks);
    if (a == b) continue;
    edges.push_back({a, b});
    if (random.Below(3) == 0) edges.push_back({b, a});
  }
  return Topology{num_tasks, std::move(edges)};
}

bool IsConflictFree(const Topology& conflicts, const std::vector<NodeId>& tasks) {
  return std::ranges::none_of(tasks, [&](NodeId task) {
    return std::ranges::any_of(conflicts.OutNeighbors(task),
                               [&](NodeId other) { return std::ranges::binary_search(tasks, other); });
  });
}

/// The size of a largest set, by trying all.
int LargestSize(const Topology& conflicts) {
  std::vector<std::uint32_t> in_conflict(conflicts.NumNodes(), 0);
  for (NodeId task = 0; task < conflicts.NumNodes(); ++task)
    for (const NodeId other : conflicts.OutNeighbors(task)) in_conflict[task] |= 1U << other;
  int largest = 0;
  for (std::uint32_t set = 0; set < 1U << conflicts.NumNodes(); ++set) {
    bool is_free = true;
    for (NodeId task = 0; task < conflicts.NumNodes(); ++task) is_free &= (set >> task & 1U) == 0 || (in_conflict[task] & set) == 0;
    if (is_free) largest = std::max(largest, std::popcount(set));
  }
  return largest;
}

}  // namespace

TEST_CASE("With an unlimited budget, a conflict-free set is a largest one") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto num_tasks = static_cast<NodeId>(2 + seed % 12);
    const Topology conflicts = RandomConflicts(num_tasks, seed % 40, seed);
    const std::vector<NodeId> found = LargestConflictFreeSet(conflicts, All(num_tasks), {}, unlimited);
    CAPTURE(seed);
    CHECK(std::ranges::is_sorted(found));
    CHECK(IsConflictFree(conflicts, found));
    CHECK(static_cast<int>(found.size()) == LargestSize(conflicts));
  }
}

TEST_CASE("Conflict-free sets of a fork, a triangle and a quadrilateral are put together") {
  const Topology conflicts{12, {{0, 1}, {0, 2}, {0, 3}, {4, 5}, {5, 6}, {6, 4}, {7, 8}, {8, 9}, {9, 10}, {10, 7}}};  // and 11 alone
  const std::vector<NodeId> found = LargestConflictFreeSet(conflicts, All(12));
  CHECK(found.size() == 7);
  CHECK(IsConflictFree(conflicts, found));
}

TEST_CASE("Only tasks that are ready and do not conflict with one that runs are chosen") {
  const Topology conflicts = MakeRing(8);  // 0 - 1 - … - 7 - 0
  CHECK(LargestConflictFreeSet(conflicts, std::vector<NodeId>{5, 2, 3, 5}) == std::vector<NodeId>{2, 5});
  CHECK(LargestConflictFreeSet(conflicts, All(8), std::vector<NodeId>{0}).size() == 3);
  const std::vector<NodeId> beside = LargestConflictFreeSet(conflicts, std::vector<NodeId>{1, 3, 7}, std::vector<NodeId>{0});
  CHECK(beside == std::vector<NodeId>{3});
  CHECK(LargestConflictFreeSet(conflicts, {}).empty());
  CHECK_THROWS_AS(LargestConflictFreeSet(conflicts, std::vector<NodeId>{8}), uit::InputError);
  CHECK_THROWS_AS(LargestConflictFreeSet(conflicts, {}, std::vector<NodeId>{8}), uit::InputError);
}

TEST_CASE("A larger budget never gives a smaller set, and the result is the same each time") {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Topology conflicts = RandomConflicts(60, 150, seed);
    std::size_t last = 0;
    for (const std::size_t budget : {0U, 1U, 10U, 100U, 1000U}) {
      const std::vector<NodeId> found = LargestConflictFreeSet(conflicts, All(60), {}, budget);
      CHECK(IsConflictFree(conflicts, found));
      CHECK(found.size() >= last);
      CHECK(found == LargestConflictFreeSet(conflicts, All(60), {}, budget));
      last = found.size();
    }
  }
  // Each of 1000 tasks conflicts with two others on average: more than 450 of them fit together, even at first sight.
  CHECK(LargestConflictFreeSet(RandomConflicts(1000, 1000, 1), All(1000), {}, 0).size() > 450);
}
