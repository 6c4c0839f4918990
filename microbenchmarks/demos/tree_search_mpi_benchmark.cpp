// How well do two processes share the search of an unbalanced tree over conveyors? The competitors are one process alone, which is
// at best half as fast, and work stealing over MPI by hand. Every search must find the published number of nodes.

#include <cstddef>
#include <memory>
#include <string>

#include <uit/link/world.hpp>
#include <uit/team/member.hpp>
#include <uit/team/team.hpp>

#include "by_turns.hpp"
#include "demos/uts/by_mpi.hpp"
#include "demos/uts/by_sharing.hpp"
#include "demos/uts/tree.hpp"
#include "demos/uts/without_sharing.hpp"
#include "microbenchmarks/support/program.hpp"
#include "microbenchmarks/support/rank_main.hpp"
#include "microbenchmarks/support/ranks.hpp"

namespace {

struct Searches {
  static constexpr std::size_t nodes_per_turn = 128;

  Searches(uit::Member& member, const uts::Tree& searched)
      : me{member}, tree{searched}, sharing{me, tree, nodes_per_turn}, stealing{me.Rank(), me.Size(), tree, nodes_per_turn} {}
  ~Searches() { stealing.Close(); }

  void Alone() { found = uts::SearchAlone(me, tree); }
  void Share() { found = sharing.Run(); }
  void Steal() { found = stealing.Run(); }
  std::string FindFault() {
    const uts::Census sum = me.AllReduce(found, uts::Sum);
    return sum == tree.published ? "" : std::to_string(sum.num_nodes) + " nodes, not " + std::to_string(tree.published.num_nodes);
  }

  uit::Member& me;
  uts::Tree tree;
  uts::BySharing sharing;
  uts::ByMpi stealing;
  uts::Census found{};
};

void Measure(bench::Program& program, bench::Ranks& ranks, uit::Member& me, const std::string& name) {
  const uts::Tree tree = uts::TreeOf(name);
  const auto lazy = bench::MakeLazy([&] { return std::make_unique<Searches>(me, tree); });
  const std::string figure = "unbalanced tree " + name;
  bench::Contest contest{figure, bench::Unit::millions_per_second};
  const auto add = [&](const std::string& way, void (Searches::*search)()) {
    bench::AddWork(contest, way, tree.published.num_nodes, [lazy, search] { ((**lazy).*search)(); },
                   [lazy] { return (**lazy).FindFault(); });
  };
  add("sharing", &Searches::Share);
  add("one process alone", &Searches::Alone);
  add("stealing by MPI", &Searches::Steal);
  contest.Say({.name = figure + ": two processes, to one alone", .ours = "sharing", .against = {"one process alone"},
               .at_least = 2 * 0.9});
  contest.Say({.name = figure + ": to work stealing by MPI", .ours = "sharing", .against = {"stealing by MPI"}});
  program.Run(contest, ranks);
}

void MeasureAll(bench::Program& program, bench::Ranks& ranks, const uit::World& world) {
  uit::Team{world}.Run([&](uit::Member& me) {
    for (const char* const name : {"T1", "T3"}) Measure(program, ranks, me, name);
    me.Barrier();
  });
}

}  // namespace

int main(int argc, char** argv) { return bench::MainOfTwoRanks(argc, argv, MeasureAll); }
