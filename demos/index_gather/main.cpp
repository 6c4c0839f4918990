// Reads random words of a distributed table, as the program ig of the bale collection. Compares, in one run, two conveyors, one for
// requests and one for answers, with the exchange of batches by MPI_Ialltoallv and with an MPI_Get per word.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <CLI/CLI.hpp>

#include <netuit/app/guarded_main.hpp>
#include <uit/config.hpp>
#include <uit/team/member.hpp>

#include "by_conveyors.hpp"
#include "by_mpi.hpp"
#include "demos/common/contest.hpp"
#include "demos/common/places.hpp"
#include "values.hpp"

namespace index_gather {
namespace {

struct Options {
  demo::ContestOptions contest{};
  std::uint64_t seed = 1;
  std::size_t reads = 2'000'000;
  unsigned log2_words = 20;
  std::size_t buffer_bytes = 65'536;
  std::size_t under_way = 16'384;
  std::size_t batch = 65'536;
};

void Run(uit::Member& me, const Options& options) {
  const std::vector<demo::Place> places = demo::RandomPlaces(options.seed, me.Rank(), options.reads, me.Size(), options.log2_words);
  std::vector<std::uint64_t> values(places.size());
  const std::vector<std::uint64_t> table = MakeTable(me.Rank(), options.log2_words);
  // Each get is slow, so this method makes fewer.
  const auto some_places = std::span(places).first(std::max<std::size_t>(1, places.size() / 16));
  const auto find_fault = [&](std::size_t) { return FindFault(places, values); };
  const auto num_items = [&](std::size_t) { return static_cast<double>(places.size() * me.Size()); };

  ByConveyors conveyors{me, options.buffer_bytes, options.under_way, table, places, values};
  ByAlltoallv collective{me.Size(), options.batch, table};
  std::optional<ByGets> gets;
  std::vector<demo::Method> methods;
  if (options.contest.threads == 1) {
    gets.emplace(options.batch, table);
    methods.push_back({"alltoallv", [&](std::size_t) { collective.Run(places, values); }, find_fault, num_items});
    methods.push_back({"get", [&](std::size_t) { gets->Run(some_places, values); },
                       [&](std::size_t) { return FindFault(some_places, values); },
                       [&](std::size_t) { return static_cast<double>(some_places.size() * me.Size()); }});
  }
  methods.push_back({"conveyors", [&](std::size_t) { conveyors.Run(); }, find_fault, num_items});
  demo::Compete(me, methods, options.contest.rounds);
  if (gets) gets->Close();
}

}  // namespace
}  // namespace index_gather

int main(int argc, char** argv) {
  return netuit::GuardedMain(argc, argv, [&](const uit::World& world) {
    index_gather::Options options;
    CLI::App app{
        "Reads random words of a table that is distributed over the members, by two conveyors, by batches of requests that all\n"
        "exchange (MPI_Ialltoallv), and by one MPI_Get per word. Start it with mpirun."};
    app.set_version_flag("--version", "index_gather of Conduit " UIT_VERSION);
    options.contest.AddTo(app);
    app.add_option("--log2-words", options.log2_words, "words of each member's part of the table, as an exponent of two")
        ->check(CLI::Range(1, 30))->capture_default_str();
    app.add_option("--reads", options.reads, "reads of each member; gets are a sixteenth of them")
        ->check(CLI::Range(1ULL, (1ULL << 32U) - 1))->capture_default_str();
    app.add_option("--buffer-bytes", options.buffer_bytes, "size of the conveyors' frames")
        ->check(CLI::Range(64ULL, 1ULL << 24U))->capture_default_str();
    app.add_option("--under-way", options.under_way, "requests of a member that may be under way over its conveyor")
        ->check(CLI::Range(1ULL, 1ULL << 24U))->capture_default_str();
    app.add_option("--batch", options.batch, "reads of a process between two exchanges over MPI")
        ->check(CLI::Range(1ULL, 1ULL << 24U))->capture_default_str();
    app.add_option("--seed", options.seed, "seed of the places")->capture_default_str();
    if (!demo::ParseOnRoot(world, app, argc, argv)) return 0;
    demo::RunTeam(world, options.contest, [&options](uit::Member& me) { index_gather::Run(me, options); });
    return 0;
  });
}
