// What is gained by sending small messages together, and how close is this to one MPI message of the same total size?

#include <cstdint>
#include <memory>
#include <string>

#include <uit/policy.hpp>
#include <uit/link/world.hpp>

#include "microbenchmarks/support/conduit_side.hpp"
#include "microbenchmarks/support/mpi_baselines.hpp"
#include "microbenchmarks/support/program.hpp"
#include "microbenchmarks/support/rank_main.hpp"
#include "microbenchmarks/support/ranks.hpp"

namespace {

using Message = std::uint64_t;
constexpr std::size_t num_channels = 64;
constexpr std::size_t num_credits = 64;
constexpr uit::Policy pooled{.consolidate = uit::Consolidate::pooled};

/// Pools depart when they are full, so counts are whole pools.
template <bench::Side S>
void Add(bench::Contest& contest, const bench::Ranks& ranks, const std::string& name, std::shared_ptr<S> side) {
  contest.Add(name, [&ranks, side](const bench::Load& load) {
    return StreamTime(ranks, *side, (load.count + num_channels - 1) / num_channels * num_channels);
  });
}

void Measure(bench::Program& program, bench::Ranks& ranks, const uit::World& world, bool shares_memory) {
  const std::string name =
      shares_memory ? "process, shared memory, pooled, 64 channels" : "process, MPI, pooled, 64 channels";
  bench::Contest contest{name, bench::Unit::millions_per_second};
  Add(contest, ranks, "pooled",
      std::make_shared<bench::ConduitSide<Message, pooled>>(
          world, bench::ConduitOptions{.num_slots = num_credits,
                                       .depth = num_credits,
                                       .num_channels = num_channels,
                                       .shares_memory = shares_memory}));
  Add(contest, ranks, "unpooled",
      std::make_shared<bench::ConduitSide<Message>>(
          world, bench::ConduitOptions{.num_slots = num_credits, .depth = num_credits, .shares_memory = shares_memory}));
  Add(contest, ranks, "hand-pooled Isend",
      std::make_shared<bench::hand::BatchSide>(1 - ranks.Rank(), num_channels, num_credits));
  // In shared memory a message costs little, so pooling saves little.
  if (!shares_memory)
    contest.Say({.name = name + ": to unpooled", .ours = "pooled", .against = {"unpooled"}, .at_least = 5});
  contest.Say({.name = name + ": to hand-pooled", .ours = "pooled", .against = {"hand-pooled Isend"}, .at_least = 0.95});
  program.Run(contest, ranks);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::MainOfTwoRanks(argc, argv, [](auto& program, auto& ranks, const auto& world) {
    for (const bool shares_memory : {false, true}) Measure(program, ranks, world, shares_memory);
  });
}
