// What does a conduit between two processes cost beyond what carries its messages: a ring of nonblocking sends with
// credits, or one in shared memory, written by hand? And what does shared memory bring to those who would use MPI?

#include <cstdint>
#include <memory>
#include <string>

#include <uit/wire/world.hpp>

#include "microbenchmarks/support/conduit_side.hpp"
#include "microbenchmarks/support/mpi_baselines.hpp"
#include "microbenchmarks/support/program.hpp"
#include "microbenchmarks/support/rank_main.hpp"
#include "microbenchmarks/support/ranks.hpp"

namespace {

constexpr std::size_t num_credits = 64;
using Message = std::uint64_t;

/// Adds competitors that send one way in one contest and to and fro in another.
template <typename S>
void Add(bench::Contest& rate, bench::Contest& latency, const bench::Ranks& ranks, const std::string& name,
         std::shared_ptr<S> side) {
  rate.Add(name, [&ranks, side](const bench::Load& load) { return StreamTime(ranks, *side, load.count); });
  latency.Add(name, [&ranks, side](const bench::Load& load) { return HalfRoundTripTime(ranks, *side, load.count); });
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
  latency.Say({.name = "process, MPI, unpooled, half round trip: to the Isend ring",
               .ours = "conduit",
               .against = {"Isend ring"},
               .at_most = 1.2});
  program.Run(rate, ranks);
  program.Run(latency, ranks);
}

void MeasureSharedMemory(bench::Program& program, bench::Ranks& ranks, const uit::World& world) {
  constexpr std::size_t capacity = 1024;
  bench::Contest rate{"process, shared memory, 8 B", bench::Unit::millions_per_second};
  bench::Contest latency{"process, shared memory, 8 B, half round trip", bench::Unit::nanoseconds};
  Add(rate, latency, ranks, "conduit",
      std::make_shared<bench::ConduitSide<Message>>(world,
                                                    bench::ConduitOptions{.num_slots = capacity, .depth = capacity}));
  Add(rate, latency, ranks, "bare ring",
      std::make_shared<bench::hand::SharedRingSide<Message, capacity>>(ranks.Rank()));
  rate.Add("MPI window of 64",
           [&ranks](const bench::Load& load) { return bench::hand::WindowTime<Message>(ranks, load.count); });
  latency.Add("MPI_Send, MPI_Recv",
              [&ranks](const bench::Load& load) { return bench::hand::SendReceiveTime<Message>(ranks, load.count); });
  const std::string name = "process, shared memory, ";
  rate.Say({.name = name + "rate: to an MPI window", .ours = "conduit", .against = {"MPI window of 64"}, .at_least = 8});
  rate.Say({.name = name + "time per message: to a bare ring", .ours = "conduit", .against = {"bare ring"}, .at_most = 1.15});
  latency.Say({.name = name + "half round trip: to MPI_Send and MPI_Recv",
               .ours = "conduit",
               .against = {"MPI_Send, MPI_Recv"},
               .at_most = 0.5});
  latency.Say({.name = name + "half round trip: to a bare ring", .ours = "conduit", .against = {"bare ring"}, .at_most = 1.15});
  program.Run(rate, ranks);
  program.Run(latency, ranks);
}

}  // namespace

int main(int argc, char** argv) { 
  return bench::MainOfTwoRanks(argc, argv, [](auto& program, auto& ranks, const auto& world) {
    MeasureMpi(program, ranks, world);
    MeasureSharedMemory(program, ranks, world);
  });
}
