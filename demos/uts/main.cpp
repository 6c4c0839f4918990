// The Unbalanced Tree Search benchmark: counts the nodes of a tree whose shape only its visit shows. Compares, in one run, members
// that share their nodes over conveyors with one member alone, with a split at the beginning, and with work stealing over MPI.
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <netuit/app/guarded_main.hpp>
#include <netuit/mesh/on_root.hpp>
#include <uit/config.hpp>
#include <uit/team/member.hpp>

#include "by_sharing.hpp"
#include "demos/common/contest.hpp"
#include "tree.hpp"
#include "without_sharing.hpp"
#if UIT_WITH_MPI
#include "by_mpi.hpp"
#endif

namespace uts {
namespace {

struct Options {
  demo::ContestOptions contest{};
  std::string tree = "T1";
  std::size_t nodes_per_turn = 128;
};

std::string Words(const Census& census) {
  return std::to_string(census.num_nodes) + " nodes with " + std::to_string(census.num_leaves) + " leaves down to depth " +
         std::to_string(census.depth);
}

void Run(uit::Member& me, const Options& options) {
  const Tree tree = TreeOf(options.tree);
  const Census alone = me.Broadcast(SearchAlone(me, tree));
  const Census expected = tree.published == Census{} ? alone : tree.published;
  Census found;
  const auto find_fault = [&](std::size_t) {
    const Census sum = me.AllReduce(found, Sum);
    return sum == expected ? "" : "found " + Words(sum) + ", not " + Words(expected);
  };
  BySharing sharing{me, tree, options.nodes_per_turn};
  const auto num_items = [&](std::size_t) { return static_cast<double>(expected.num_nodes); };
  std::vector<demo::Method> methods{
      {"alone", [&](std::size_t) { found = SearchAlone(me, tree); }, find_fault, num_items},
      {"split", [&](std::size_t) { found = SearchSplit(me, tree); }, find_fault, num_items}};
#if UIT_WITH_MPI
  std::optional<ByMpi> stealing;
  if (options.contest.threads == 1) {
    stealing.emplace(me.Rank(), me.Size(), tree, options.nodes_per_turn);
    methods.push_back({"mpi", [&](std::size_t) { found = stealing->Run(); }, find_fault, num_items});
  }
#endif
  methods.push_back({"sharing", [&](std::size_t) { found = sharing.Run(); }, find_fault, num_items});
  demo::Compete(me, methods, options.contest.rounds);
#if UIT_WITH_MPI
  if (stealing) stealing->Close();
#endif
}

}  // namespace
}  // namespace uts

int main(int argc, char** argv) {
  return netuit::GuardedMain(argc, argv, [&](const uit::World& world) {
    uts::Options options;
    CLI::App app{
        "Counts the nodes of a random tree, of which nobody knows in advance where it has many nodes (Unbalanced Tree Search).\n"
        "Members without nodes get some from others over conveyors. Compares that with one member alone, with a split at the\n"
        "beginning, and with work stealing over MPI, written by hand. Start it with mpirun."};
    app.set_version_flag("--version", "uts of Conduit " UIT_VERSION);
    options.contest.AddTo(app);
    app.add_option("--tree", options.tree, "one of: " + uts::TreeNames())->capture_default_str();
    app.add_option("--nodes-per-turn", options.nodes_per_turn, "nodes that a member visits before it handles what others send")
        ->check(CLI::Range(1ULL, 1ULL << 30U))->capture_default_str();
    if (!demo::ParseOnRoot(world, app, argc, argv)) return 0;
    netuit::OnRoot(world, [&options] { return uts::TreeOf(options.tree); });  // so that one process refuses a wrong name
    demo::RunTeam(world, options.contest, [&options](uit::Member& me) { uts::Run(me, options); });
    return 0;
  });
}
