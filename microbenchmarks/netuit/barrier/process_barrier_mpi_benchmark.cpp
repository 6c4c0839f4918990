// What does it cost processes to wait for each other?

#include <memory>
#include <string>

#include <uit/exchange/fabric.hpp>
#include <uit/support/clock.hpp>
#include <uit/wire/world.hpp>

#include <netuit/barrier/process_barrier.hpp>

#include "microbenchmarks/support/program.hpp"
#include "microbenchmarks/support/rank_main.hpp"
#include "microbenchmarks/support/rank_pair.hpp"
#include "microbenchmarks/support/ranks.hpp"

namespace {

/// ns per barrier.
template <std::invocable Wait>
double BarrierTime(std::uint64_t count, Wait&& wait) {
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
  for (const bool shares_memory : {false, true}) {
    contest.Add(shares_memory ? "shared flags" : "own messages",
                [ours = std::make_shared<Ours>(world, shares_memory)](const bench::Load& load) {
                  return BarrierTime(load.count, [&] { ours->Wait(); });
                });
  }
  contest.Add("MPI_Barrier", [](const bench::Load& load) {
    return BarrierTime(load.count, [] { MPI_Barrier(MPI_COMM_WORLD); });
  });
  contest.Say({.name = name + ", own messages: to MPI_Barrier",
               .ours = "own messages",
               .against = {"MPI_Barrier"},
               .at_most = 1.0});
  contest.Say({.name = name + ", shared flags: to MPI_Barrier",
               .ours = "shared flags",
               .against = {"MPI_Barrier"},
               .at_most = 0.35});
  program.Run(contest, ranks);
}

}  // namespace

int main(int argc, char** argv) { return bench::MainOfTwoRanks(argc, argv, Measure); }
