// Counts how often random places of a distributed table are hit, as the program histo of the bale collection. Compares, in one run,
// a conveyor with the exchange of batches by MPI_Ialltoallv.
#include <cstddef>
#include <cstdint>
#include <vector>

#include <CLI/CLI.hpp>

#include <netuit/app/guarded_main.hpp>
#include <uit/config.hpp>
#include <uit/conveyor/conveyor.hpp>
#include <uit/team/member.hpp>

#include "counts.hpp"
#include "demos/common/contest.hpp"
#include "demos/common/exchange.hpp"
#include "demos/common/places.hpp"
#include "ways.hpp"

namespace histogram {
namespace {

struct Options {
  demo::ContestOptions contest{};
  Work work{};
  std::size_t buffer_bytes = 65'536;
  std::size_t batch = 65'536;
};

void Run(uit::Member& me, const Options& options) {
  const Work& work = options.work;
  const std::vector<demo::Place> places = demo::RandomPlaces(work.seed, me.Rank(), work.updates, me.Size(), work.log2_words);
  Counts counts{me, work};
  uit::Conveyor<std::uint64_t> conveyor{me, [&counts](const std::uint64_t& word) { counts.Add(word); },
                                        {.buffer_bytes = options.buffer_bytes}};
  demo::Exchange<std::uint64_t> exchange{me.Size()};
  const auto num_items = [&](std::size_t) { return static_cast<double>(work.updates * me.Size()); };
  const auto find_fault = [&](std::size_t) { return counts.FindFault(); };
  std::vector<demo::Method> methods;
  if (options.contest.threads == 1)
    methods.push_back(
        {"alltoallv", [&](std::size_t) { CountByAlltoallv(exchange, options.batch, places, counts); }, find_fault, num_items});
  methods.push_back({"conveyor", [&](std::size_t) { CountByConveyor(conveyor, places); }, find_fault, num_items});
  demo::Compete(me, methods, options.contest.rounds);
}

}  // namespace
}  // namespace histogram

int main(int argc, char** argv) {
  return netuit::GuardedMain(argc, argv, [&](const uit::World& world) {
    histogram::Options options;
    CLI::App app{
        "Counts how often random places of a table are hit. The table is distributed over the members, by a conveyor and by\n"
        "batches that all exchange (MPI_Ialltoallv). Start it with mpirun."};
    app.set_version_flag("--version", "histogram of Conduit " UIT_VERSION);
    options.contest.AddTo(app);
    app.add_option("--log2-words", options.work.log2_words, "words of each member's part of the table, as an exponent of two")
        ->check(CLI::Range(1, 30))->capture_default_str();
    app.add_option("--updates", options.work.updates, "updates of each member")
        ->check(CLI::Range(1ULL, 1ULL << 32U))
        ->capture_default_str();
    app.add_option("--buffer-bytes", options.buffer_bytes, "size of the conveyor's frames")
        ->check(CLI::Range(64ULL, 1ULL << 24U))->capture_default_str();
    app.add_option("--batch", options.batch, "updates of a process between two exchanges over MPI")
        ->check(CLI::Range(1ULL, 1ULL << 24U))->capture_default_str();
    app.add_option("--seed", options.work.seed, "seed of the places")->capture_default_str();
    if (!demo::ParseOnRoot(world, app, argc, argv)) return 0;
    demo::RunTeam(world, options.contest, [&options](uit::Member& me) { histogram::Run(me, options); });
    return 0;
  });
}
