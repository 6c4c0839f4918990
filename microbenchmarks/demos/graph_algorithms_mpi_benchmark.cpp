// How fast are the demos of graph algorithms, beside MPI by hand, on two processes?
//
// PageRank is computed until the sum of all errors is at most 1e-8, for certain: in a number of iterations that is enough, or in
// best effort until the mass that is left at a cut is little enough. Also while each process does its work three times for 10 ms, in
// turn, as noise on a cluster would make it slow.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <netuit/graph/random_stream.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/edge_field.hpp>
#include <netuit/mesh/gather.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node.hpp>
#include <uit/link/world.hpp>

#include "by_turns.hpp"
#include "demos/bfs/by_calls.hpp"
#include "demos/bfs/by_mpi.hpp"
#include "demos/bfs/complaint.hpp"
#include "demos/common/pace.hpp"
#include "demos/connected_components/by_calls.hpp"
#include "demos/connected_components/by_mpi.hpp"
#include "demos/graphs/difference.hpp"
#include "demos/graphs/input.hpp"
#include "demos/graphs/options.hpp"
#include "demos/graphs/over_processes.hpp"
#include "demos/graphs/part.hpp"
#include "demos/graphs/slots.hpp"
#include "demos/page_rank/by_field.hpp"
#include "demos/page_rank/by_mpi.hpp"
#include "demos/page_rank/problem.hpp"
#include "demos/sssp/by_calls.hpp"
#include "demos/sssp/by_mpi.hpp"
#include "demos/triangle_count/by_calls.hpp"
#include "demos/triangle_count/by_mpi.hpp"
#include "microbenchmarks/support/program.hpp"
#include "microbenchmarks/support/rank_main.hpp"
#include "microbenchmarks/support/ranks.hpp"

namespace {

/// A graph, and the roots of searches in it.
struct Problem {
  Problem(const uit::World& world, const graphs::Options& options, const graphs::Weight& weight = {})
      : input{world, options, weight}, part{world, input.Mesh()}, slots{input.Mesh(), part}, roots{input.ChooseRoots()} {}

  netuit::Mesh& Mesh() { return input.Mesh(); }
  /// The next root. Begins anew with each `way`, so that all search from the same.
  netuit::NodeId NextRoot(std::size_t way) {
    if (way >= num_searches.size()) num_searches.resize(way + 1);
    return root = roots[num_searches[way]++ % roots.size()];
  }

  graphs::Input input;
  graphs::Part part;
  graphs::Slots slots;
  std::vector<netuit::NodeId> roots;
  std::vector<std::size_t> num_searches{};  // by way
  netuit::NodeId root = 0;
};

std::uint64_t NumLinks(unsigned scale) { return std::uint64_t{16} << scale; }  // that are drawn; a few are drawn twice

struct Searches : Problem {
  static constexpr unsigned scale = 16;
  static constexpr std::size_t num_roots = 64;  // as Graph500 has them

  explicit Searches(const uit::World& world)
      : Problem{world, {.scale = scale, .trials = num_roots}}, by_mpi{world, part}, by_levels{Mesh()} {}

  void ByMpi() { by_mpi.Search(NextRoot(0)); }
  void ByLevels() { by_levels.Search(NextRoot(1)); }
  /// Says what is wrong with the last tree of calls, or nothing.
  std::string FaultOfCalls() {
    return bfs::Complaint(Mesh(), root, netuit::ValuesOfRoot(Mesh().GetWorld(), Mesh().Gather(by_levels.Parents())));
  }

  bfs::ByMpi by_mpi;
  bfs::ByLevels by_levels;
};

std::string NoFault() { return {}; }

void MeasureSearches(bench::Program& program, bench::Ranks& ranks, const uit::World& world) {
  const auto lazy = bench::MakeLazy([&] { return std::make_unique<Searches>(world); });
  const std::string name = "breadth-first search, scale " + std::to_string(Searches::scale);
  bench::Contest contest{name, bench::Unit::millions_per_second};
  bench::AddWork(contest, "calls", NumLinks(Searches::scale), [lazy] { (**lazy).ByLevels(); },
                 [lazy] { return (**lazy).FaultOfCalls(); });
  bench::AddWork(contest, "MPI by hand", NumLinks(Searches::scale), [lazy] { (**lazy).ByMpi(); }, NoFault);
  contest.Say({.name = name + ": calls, to MPI by hand", .ours = "calls", .against = {"MPI by hand"}, .at_least = 1.0});
  program.Run(contest, ranks);

  const std::string figure = name + ": valid trees of calls, of 64 roots";
  if (!program.IsWanted(figure)) return;
  std::size_t num_valid = 0;
  std::string fault;
  for (std::size_t i = 0; i < Searches::num_roots; ++i) {
    (**lazy).ByLevels();
    const std::string complaint = (**lazy).FaultOfCalls();
    if (complaint.empty()) ++num_valid;
    else fault = complaint;
  }
  program.Add({.figure = figure,
               .value = std::to_string(num_valid),
               .spread = "trees",
               .target = "64",
               .verdict = num_valid == Searches::num_roots ? "ok" : "short",
               .proximity = "-",
               .detail = fault});
}

struct RankedGraph : Problem {
  static constexpr unsigned scale = 15;  // the values of a process for the other fit into shared memory

  explicit RankedGraph(const uit::World& world)
      : Problem{world, {.scale = scale}},
        problem{.num_nodes = Mesh().NumNodes(), .num_edges = Mesh().NumEdges()},
        exact{page_rank::SolveSerially(input.Whole(), problem)},
        by_mpi{Mesh(), part, problem},
        by_field{Mesh(), problem},
        by_free_field{Mesh(), problem} {}

  std::string FindFault(const std::vector<double>& ranks) const {
    double error = 0;
    for (std::size_t node = 0; node < exact.size(); ++node) error += std::abs(ranks[node] - exact[node]);
    return error <= problem.error ? "" : "the sum of all errors is " + std::to_string(error / problem.error) + " times the bound";
  }

  page_rank::Problem problem;
  std::vector<double> exact;
  page_rank::ByMpi by_mpi;
  page_rank::ByField by_field;
  page_rank::ByFreeField by_free_field;
};

void MeasureRanks(bench::Program& program, bench::Ranks& ranks, const uit::World& world) {
  const auto lazy = bench::MakeLazy([&] { return std::make_unique<RankedGraph>(world); });
  for (const demo::Slow slow : {demo::Slow::nobody, demo::Slow::in_turn}) {
    const bool is_slow = slow != demo::Slow::nobody;
    const std::string name = std::string{"PageRank to 1e-8, "} + (is_slow ? "slow in turn" : "undisturbed");
    bench::Contest contest{name, bench::Unit::millions_per_second};
    const auto add = [&, slow](const std::string& way, auto RankedGraph::*solver, auto gather) {
      bench::AddWork(contest, way, NumLinks(RankedGraph::scale), [lazy, solver, slow] { ((**lazy).*solver).Solve(slow); },
                     [lazy, gather] { return (**lazy).FindFault(gather(**lazy)); });
    };
    add("published field", &RankedGraph::by_field, [](RankedGraph& all) { return all.Mesh().Gather(all.by_field.Ranks()); });
    add("best effort", &RankedGraph::by_free_field, [](RankedGraph& all) { return all.Mesh().Gather(all.by_free_field.Ranks()); });
    add("MPI by hand", &RankedGraph::by_mpi, [](RankedGraph& all) { return netuit::GatherByNode(all.Mesh(), all.by_mpi.Ranks()); });
    contest.Say({.name = name + ": published field, to MPI by hand", .ours = "published field", .against = {"MPI by hand"},
                 .at_least = 1.0});
    contest.Say({.name = name + ": best effort, to MPI by hand", .ours = "best effort", .against = {"MPI by hand"},
                 .at_most = is_slow ? 1 / 1.5 : 1.1});
    program.Run(contest, ranks);
  }
}

struct Ways : Problem {
  static constexpr unsigned scale = 14;

  explicit Ways(const uit::World& world)
      : Problem{world, {.scale = scale}, [](netuit::NodeId source, netuit::NodeId target) {
                  const auto [low, high] = std::minmax(source, target);
                  return netuit::RandomStream{1, std::uint64_t{low} << 32U | high}.Uniform();
                }},
        by_mpi{Mesh(), part, slots, 0.03}, by_local_steps{Mesh(), part, slots, 0.03} {}

  sssp::ByMpi by_mpi;
  sssp::ByLocalSteps by_local_steps;
};

/// Measures calls beside MPI by hand, without a target. Their result must be that of MPI.
template <typename All>
void MeasureOthers(bench::Program& program, bench::Ranks& ranks, const uit::World& world, const std::string& what, auto calls,
                   auto by_mpi, auto find_fault) {
  const auto lazy = bench::MakeLazy([&] { return std::make_unique<All>(world); });
  const std::string name = what + ", scale " + std::to_string(All::scale);
  bench::Contest contest{name, bench::Unit::millions_per_second};
  bench::AddWork(contest, "MPI by hand", NumLinks(All::scale), [lazy, by_mpi] { by_mpi(**lazy); }, NoFault);
  bench::AddWork(contest, "calls", NumLinks(All::scale), [lazy, calls] { calls(**lazy); },
                 [lazy, find_fault] { return find_fault(**lazy); });
  contest.Say({.name = name + ": calls, to MPI by hand", .ours = "calls", .against = {"MPI by hand"}});
  program.Run(contest, ranks);
}

struct Components : Problem {
  static constexpr unsigned scale = 14;

  explicit Components(const uit::World& world)
      : Problem{world, {.scale = scale}}, by_mpi{Mesh(), part, slots}, by_sets{Mesh(), part, slots} {}

  connected_components::ByMpi by_mpi;
  connected_components::BySets by_sets;
};

struct Triangles : Problem {
  static constexpr unsigned scale = 13;

  explicit Triangles(const uit::World& world) : Problem{world, {.scale = scale}}, by_mpi{world, part}, by_calls{Mesh()} {}

  triangle_count::ByMpi by_mpi;
  triangle_count::ByCalls by_calls;
  std::uint64_t count_by_mpi = 0;
  std::uint64_t count_by_calls = 0;
};

void MeasureAll(bench::Program& program, bench::Ranks& ranks, const uit::World& world) {
  MeasureSearches(program, ranks, world);
  MeasureRanks(program, ranks, world);
  MeasureOthers<Ways>(
      program, ranks, world, "shortest ways", [](Ways& all) { all.by_local_steps.Search(all.roots.front()); },
      [](Ways& all) { all.by_mpi.Search(all.roots.front()); },
      [](Ways& all) {
        all.by_mpi.Search(all.roots.front());
        return graphs::Difference(netuit::GatherByNode(all.Mesh(), all.by_local_steps.Lengths()),
                                  netuit::GatherByNode(all.Mesh(), all.by_mpi.Lengths()));
      });
  MeasureOthers<Components>(
      program, ranks, world, "connected components", [](Components& all) { all.by_sets.Solve(); },
      [](Components& all) { all.by_mpi.Solve(); },
      [](Components& all) {
        all.by_mpi.Solve();
        return graphs::Difference(netuit::GatherByNode(all.Mesh(), all.by_sets.Labels()),
                                  netuit::GatherByNode(all.Mesh(), all.by_mpi.Labels()));
      });
  MeasureOthers<Triangles>(
      program, ranks, world, "triangles", [](Triangles& all) { all.count_by_calls = all.by_calls.Count(); },
      [](Triangles& all) { all.count_by_mpi = all.by_mpi.Count(); },
      [](Triangles& all) {
        all.count_by_mpi = all.by_mpi.Count();
        return all.count_by_calls == all.count_by_mpi ? std::string{} : std::to_string(all.count_by_calls) + " triangles";
      });
}

}  // namespace

int main(int argc, char** argv) { return bench::MainOfTwoRanks(argc, argv, MeasureAll); }
