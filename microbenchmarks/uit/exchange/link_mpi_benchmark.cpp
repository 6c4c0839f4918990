// What does a conduit between two processes cost beyond its transport: a hand-written ring of nonblocking sends with credits,
// windows of nonblocking sends as in the OSU Micro-Benchmarks, or a ring in shared memory? And what does shared memory gain over MPI?

#include <cstdint>
#include <memory>
#include <string>

#include <uit/link/world.hpp>

#include "microbenchmarks/support/conduit_side.hpp"
#include "microbenchmarks/support/mpi_baselines.hpp"
#include "microbenchmarks/support/program.hpp"
#include "microbenchmarks/support/rank_main.hpp"
#include "microbenchmarks/support/ranks.hpp"

namespace {

constexpr std::size_t num_credits = 64;
using Message = std::uint64_t;
using Windows = bench::hand::Windows<Message, num_credits>;

/// Adds competitors to two contests: one way, and round trip.
template <typename S>
void Add(bench::Contest& rate, bench::Contest& latency, const bench::Ranks& ranks, const std::string& name,
         std::shared_ptr<S> side) {
  rate.Add(name, [&ranks, side](const bench::Load& load) { return StreamTime(ranks, *side, load.count); });
  latency.Add(name, [&ranks, side](const bench::Load& load) { return HalfRoundTripTime(ranks, *side, load.count); });
}

/// Adds MPI by hand, in windows of messages, one way.
void AddWindows(bench::Contest& rate, const bench::Ranks& ranks, const std::string& name) {
  rate.Add(name, [&ranks, windows = std::make_shared<Windows>()](const bench::Load& load) { return windows->Time(ranks, load.count); });
}

void MeasureMpi(bench::Program& program, bench::Ranks& ranks, const uit::World& world) {
  bench::Contest rate{"process, MPI, 8 B", bench::Unit::millions_per_second};
  bench::Contest latency{"process, MPI, 8 B, half round trip", bench::Unit::nanoseconds};
  Add(rate, latency, ranks, "conduit",
      std::make_shared<bench::ConduitSide<Message>>(
          world, bench::ConduitOptions{.num_slots = num_credits, .depth = num_credits, .shares_memory = false}));
  Add(rate, latency, ranks, "Isend ring",
      std::make_shared<bench::hand::IsendSide<Message>>(1 - ranks.Rank(), num_credits));
  rate.Say({.name = "process, MPI, unpooled, rate: to the Isend ring",
            .ours = "conduit",
            .against = {"Isend ring"},
            .at_least = 0.85});
  AddWindows(rate, ranks, "MPI in windows of 64");
  rate.Say({.name = "process, MPI, unpooled, rate: to MPI in windows of 64",
            .ours = "conduit",
            .against = {"MPI in windows of 64"},
            .at_least = 0.85});
  latency.Say({.name = "process, MPI, unpooled, half round trip: to the Isend ring",
               .ours = "conduit",
               .against = {"Isend ring"},
               .at_most = 1.2});
  program.Run(rate, ranks);
  program.Run(latency, ranks);
}

constexpr std::size_t deep = 1024;

/// One way, at the same depth on both sides: shared memory against MPI.
void MeasureSharedMemoryRate(bench::Program& program, bench::Ranks& ranks, bench::Contest& contest) {
  for (const std::size_t depth : {deep, num_credits}) {
    const std::string text = std::to_string(depth);
    contest.Add("Isend ring of " + text,
                [&ranks, side = std::make_shared<bench::hand::IsendSide<Message>>(1 - ranks.Rank(), depth)](
                    const bench::Load& load) { return StreamTime(ranks, *side, load.count); });
    contest.Say({.name = "process, shared memory, rate at a depth of " + text + ": to an Isend ring",
                 .ours = "conduit of " + text,
                 .against = {"Isend ring of " + text},
                 .at_least = 8});
  }
  contest.Say({.name = "process, shared memory, time per message: to a bare ring",
               .ours = "conduit of 1024",
               .against = {"bare ring of 1024"},
               .at_most = 1.15});
  program.Run(contest, ranks);
}

/// In windows of 64 messages, each answered before the next begins, as in the OSU Micro-Benchmarks.
void MeasureWindows(bench::Program& program, bench::Ranks& ranks, const bench::ConduitOptions& options, const uit::World& world) {
  constexpr std::size_t window = num_credits;
  bench::Contest contest{"process, shared memory, 8 B, windows of 64", bench::Unit::millions_per_second};
  contest.Add("conduit", [&ranks, side = std::make_shared<bench::ConduitSide<Message>>(world, options)](
                             const bench::Load& load) { return bench::WindowTime<window>(ranks, *side, load.count); });
  AddWindows(contest, ranks, "MPI_Isend, MPI_Irecv");
  contest.Say({.name = "process, shared memory, rate in windows of 64: to MPI's",
               .ours = "conduit",
               .against = {"MPI_Isend, MPI_Irecv"},
               .at_least = 8});
  program.Run(contest, ranks);
}

void MeasureSharedMemory(bench::Program& program, bench::Ranks& ranks, const uit::World& world) {
  bench::Contest rate{"process, shared memory, 8 B", bench::Unit::millions_per_second};
  bench::Contest latency{"process, shared memory, 8 B, half round trip", bench::Unit::nanoseconds};
  const bench::ConduitOptions shallow{.num_slots = num_credits, .depth = num_credits};
  Add(rate, latency, ranks, "conduit of 1024",
      std::make_shared<bench::ConduitSide<Message>>(world, bench::ConduitOptions{.num_slots = deep, .depth = deep}));
  Add(rate, latency, ranks, "bare ring of 1024", std::make_shared<bench::hand::SharedRingSide<Message, deep>>(ranks.Rank()));
  rate.Add("conduit of 64", [&ranks, side = std::make_shared<bench::ConduitSide<Message>>(world, shallow)](
                                const bench::Load& load) { return StreamTime(ranks, *side, load.count); });
  latency.Add("MPI_Send, MPI_Recv",
              [&ranks](const bench::Load& load) { return bench::hand::SendReceiveTime<Message>(ranks, load.count); });
  const std::string name = "process, shared memory, half round trip: to ";
  latency.Say({.name = name + "MPI_Send and MPI_Recv",
               .ours = "conduit of 1024",
               .against = {"MPI_Send, MPI_Recv"},
               .at_most = 0.5});
  latency.Say({.name = name + "a bare ring", .ours = "conduit of 1024", .against = {"bare ring of 1024"}, .at_most = 1.15});
  MeasureSharedMemoryRate(program, ranks, rate);
  program.Run(latency, ranks);
  MeasureWindows(program, ranks, shallow, world);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::MainOfTwoRanks(argc, argv, [](auto& program, auto& ranks, const auto& world) {
    MeasureMpi(program, ranks, world);
    MeasureSharedMemory(program, ranks, world);
  });
}
