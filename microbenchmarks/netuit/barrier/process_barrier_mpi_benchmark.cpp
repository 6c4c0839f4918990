// What does a barrier between processes cost?

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <uit/exchange/fabric.hpp>
#include <uit/support/clock.hpp>
#include <uit/link/world.hpp>

#include <netuit/barrier/process_barrier.hpp>

#include "microbenchmarks/support/barriers.hpp"
#include "microbenchmarks/support/program.hpp"
#include "microbenchmarks/support/rank_main.hpp"
#include "microbenchmarks/support/rank_pair.hpp"
#include "microbenchmarks/support/ranks.hpp"

namespace {

using Check = bench::SharedMemory<bench::hand::BarrierCheck<2>>;

/// ns per barrier, after a test that it works.
template <std::invocable Wait>
double BarrierTime(std::size_t rank, const Check& check, std::uint64_t count, Wait&& wait) {
  check->Run(rank, wait);
  MPI_Barrier(MPI_COMM_WORLD);
  const uit::TimePoint start = uit::Now();
  for (std::uint64_t i = 0; i < count; ++i) wait();
  return bench::Span(start, uit::Now()) / static_cast<double>(count);
}

struct Ours {
  Ours(const uit::World& world, bool shares_memory) : fabric{world}, barrier{world, fabric, shares_memory} {
    world.Agree({});
  }
  ~Ours() { barrier.Close(uit::After(std::chrono::seconds{10})); }
  void Wait() { barrier.ArriveAndWait({}, uit::never, uit::NoIdle{}); }
  uit::Fabric fabric;
  netuit::ProcessBarrier barrier;
};

void Measure(bench::Program& program, bench::Ranks& ranks, const uit::World& world) {
  const std::string name = "process barrier, 2 processes";
  bench::Contest contest{name, bench::Unit::nanoseconds};
  const auto rank = static_cast<std::size_t>(ranks.Rank());
  const auto make_check = [] { return std::make_shared<Check>(MPI_COMM_WORLD); };
  for (const bool shares_memory : {false, true}) {
    contest.Add(shares_memory ? "shared flags" : "own messages",
                [rank, check = make_check(), ours = std::make_shared<Ours>(world, shares_memory)](const bench::Load& load) {
                  return BarrierTime(rank, *check, load.count, [&] { ours->Wait(); });
                });
  }
  contest.Add("MPI_Barrier", [rank, check = make_check()](const bench::Load& load) {
    return BarrierTime(rank, *check, load.count, [] { MPI_Barrier(MPI_COMM_WORLD); });
  });
  using HandFlags = bench::SharedMemory<bench::hand::FlagBarrier<2>>;
  contest.Add("hand flags",
              [rank, check = make_check(), flags = std::make_shared<HandFlags>(MPI_COMM_WORLD)](const bench::Load& load) {
                return BarrierTime(rank, *check, load.count, [&] { (*flags)->ArriveAndWait(rank); });
              });
  contest.Say({.name = name + ", own messages: to MPI_Barrier",
               .ours = "own messages",
               .against = {"MPI_Barrier"},
               .at_most = 1.0});
  contest.Say({.name = name + ", shared flags: to MPI_Barrier",
               .ours = "shared flags",
               .against = {"MPI_Barrier"},
               .at_most = 0.35});
  contest.Say({.name = name + ", shared flags: to flags by hand",
               .ours = "shared flags",
               .against = {"hand flags"},
               .at_most = 1.2});
  program.Run(contest, ranks);
}

}  // namespace

int main(int argc, char** argv) { return bench::MainOfTwoRanks(argc, argv, Measure); }
