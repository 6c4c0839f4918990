// How many messages of 8 B per second go one way if any number of them share a buffer, and which buffer size is best? The
// competitor is hand-written MPI, with buffers that are written and read word by word.

#include <cstddef>
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
constexpr std::size_t num_frames = 16;
constexpr std::size_t length_of_row = 64;  // of messages that StageSome and TakeSome copy at once
constexpr uit::Policy aggregated{.consolidate = uit::Consolidate::aggregated};

[[nodiscard]] std::string SizeText(std::size_t bytes) {
  return bytes >= 1024 ? std::to_string(bytes >> 10) + " KiB" : std::to_string(bytes) + " B";
}

template <bench::Side S>
void Add(bench::Contest& contest, const bench::Ranks& ranks, const std::string& line, std::size_t buffer_bytes,
         std::shared_ptr<S> side) {
  const std::string name = line + ", " + SizeText(buffer_bytes);
  contest.Add(name, [&ranks, side](const bench::Load& load) { return StreamTime(ranks, *side, load.count); });
  contest.Draw({.chart = contest.name,
                .x_label = "buffer size, bytes",
                .y_label = "million messages of 8 B per second",
                .line = line,
                .x = static_cast<double>(buffer_bytes),
                .competitor = name,
                .amount = 1e3});
}

void Measure(bench::Program& program, bench::Ranks& ranks, const uit::World& world) {
  bench::Contest contest{"aggregated messages between processes", bench::Unit::millions_per_second};
  for (std::size_t buffer_bytes = 256; buffer_bytes <= std::size_t{256} << 10; buffer_bytes *= 4) {
    for (const bool shares_memory : {false, true}) {
      const bench::ConduitOptions options{.num_slots = num_frames,
                                          .depth = num_frames * buffer_bytes / sizeof(Message),
                                          .shares_memory = shares_memory,
                                          .buffer_bytes = buffer_bytes,
                                          .num_frames = num_frames};
      const std::string line = shares_memory ? "over shared memory" : "over MPI";
      Add(contest, ranks, line, buffer_bytes, std::make_shared<bench::ConduitSide<Message, aggregated>>(world, options));
      Add(contest, ranks, line + " in rows", buffer_bytes,
          std::make_shared<bench::RowSide<Message, aggregated, length_of_row>>(world, options));
    }
    Add(contest, ranks, "MPI by hand", buffer_bytes,
        std::make_shared<bench::hand::BatchSide>(1 - ranks.Rank(), buffer_bytes / sizeof(Message), num_frames));
  }
  for (const std::string buffer : {"64 KiB", "256 KiB"}) {
    for (const std::string line : {"over MPI", "over shared memory", "over MPI in rows", "over shared memory in rows"})
      contest.Say({.name = "process, aggregated, " + buffer + ", " + line + ": to MPI by hand",
                   .ours = line + ", " + buffer,
                   .against = {"MPI by hand, " + buffer},
                   .at_least = 0.7});
  }
  program.Run(contest, ranks);
}

}  // namespace

int main(int argc, char** argv) { return bench::MainOfTwoRanks(argc, argv, Measure); }
