// How long does it take to choose tasks of which no two conflict, and how many are chosen? The other is the search of the system
// from which the idea comes: include or skip one task after another, until 100 tries have met a conflict. Both have the same
// budget, and the graph is in the form that each wants.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <netuit/graph/conflict_free_set.hpp>
#include <netuit/graph/random_stream.hpp>
#include <netuit/graph/topology.hpp>
#include <uit/support/clock.hpp>

#include "microbenchmarks/support/program.hpp"

namespace {

using netuit::NodeId;

constexpr std::size_t budget = 100;

struct Case {
  NodeId num_tasks;
  std::size_t num_conflicts;
  std::size_t num_ready;
};

struct Conflicts {
  explicit Conflicts(const Case& of) : ready(of.num_ready), neighbors(of.num_tasks) {
    netuit::RandomStream random{1};
    std::vector<netuit::Edge> edges;
    for (std::size_t i = 0; i < of.num_conflicts; ++i) {
      const NodeId a = random.Below(of.num_tasks);
      const NodeId b = random.Below(of.num_tasks);
      if (a == b) continue;
      edges.push_back({a, b});
      neighbors[a].push_back(b);
      neighbors[b].push_back(a);
    }
    graph = netuit::Topology{of.num_tasks, std::move(edges)};
    std::iota(ready.begin(), ready.end(), NodeId{0});
  }
  netuit::Topology graph;
  std::vector<NodeId> ready;
  std::vector<std::vector<NodeId>> neighbors;  // by task, in both directions
};

/// Tasks without conflicts are always taken. The others are included or skipped, in order.
class IncludeOrSkip {
 public:
  explicit IncludeOrSkip(const Conflicts& conflicts) : conflicts_(conflicts), is_ready_(conflicts.neighbors.size(), false) {
    for (const NodeId task : conflicts.ready) is_ready_[task] = true;
  }
  std::size_t Run() {
    std::size_t num_free = 0;
    for (const NodeId task : conflicts_.ready) {
      const bool is_free = std::ranges::none_of(conflicts_.neighbors[task], [&](NodeId other) { return is_ready_[other]; });
      if (is_free) ++num_free;
      else undecided_.push_back(task);
    }
    is_in_.assign(is_ready_.size(), false);
    Search(0, 0);
    return num_free + largest_;
  }

 private:
  void Search(std::size_t at, std::size_t num_in) {
    largest_ = std::max(largest_, num_in);
    for (; at < undecided_.size() && num_abandoned_ < budget; ++at) {
      const NodeId task = undecided_[at];
      const bool may_join = std::ranges::none_of(conflicts_.neighbors[task], [&](NodeId other) { return is_in_[other]; });
      if (!may_join) {
        ++num_abandoned_;
        continue;
      }
      is_in_[task] = true;
      Search(at + 1, num_in + 1);
      is_in_[task] = false;
    }
  }

  const Conflicts& conflicts_;
  std::vector<bool> is_ready_;
  std::vector<bool> is_in_{};
  std::vector<NodeId> undecided_{};
  std::size_t largest_ = 0;
  std::size_t num_abandoned_ = 0;
};

template <typename Choose>
double Time(std::uint64_t count, Choose&& choose) {
  const uit::TimePoint start = uit::Now();
  std::size_t sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) sum += choose();
  if (sum == 0) std::exit(1);
  return std::chrono::duration<double, std::nano>(uit::Now() - start).count() / static_cast<double>(count);
}

void Measure(bench::Program& program, bench::Crew& crew, const Case& of) {
  const auto conflicts = std::make_shared<Conflicts>(of);
  const std::string name = "conflict-free set of " + std::to_string(of.num_ready) + " tasks among " + std::to_string(of.num_tasks) +
                           " with " + std::to_string(of.num_conflicts) + " conflicts";
  if (const std::string figure = name + ": tasks chosen"; program.IsWanted(figure)) {
    const std::size_t ours = netuit::LargestConflictFreeSet(conflicts->graph, conflicts->ready, {}, budget).size();
    const std::size_t theirs = IncludeOrSkip{*conflicts}.Run();
    if (ours < theirs) {
      std::fprintf(stderr, "%s: the set is smaller than that of the other search\n", name.c_str());
      std::exit(1);
    }
    program.Add({.figure = figure,
                 .value = std::to_string(ours),
                 .spread = "tasks",
                 .target = ">= " + std::to_string(theirs),
                 .verdict = "ok",
                 .proximity = "-",
                 .detail = "the target is what the other search chooses"});
  }
  bench::Contest contest{name, bench::Unit::nanoseconds};
  contest.Add("least degree first", [conflicts](const bench::Load& load) {
    return Time(load.count, [&] { return netuit::LargestConflictFreeSet(conflicts->graph, conflicts->ready, {}, budget).size(); });
  });
  contest.Add("include or skip", [conflicts](const bench::Load& load) {
    return Time(load.count, [&] { return IncludeOrSkip{*conflicts}.Run(); });
  });
  contest.Say({.name = name + ": to include or skip", .ours = "least degree first", .against = {"include or skip"}});
  program.Run(contest, crew);
}

}  // namespace

int main(int argc, char** argv) {
  bench::Program program{argc, argv};
  bench::Crew crew{2};
  for (const std::size_t num_conflicts : {100U, 1000U, 10'000U}) Measure(program, crew, {1000, num_conflicts, 100});
  for (const std::size_t num_conflicts : {1000U, 10'000U}) Measure(program, crew, {1000, num_conflicts, 1000});
  return program.Finish();
}
