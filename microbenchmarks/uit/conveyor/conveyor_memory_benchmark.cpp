// How much memory does a conveyor take for each worker, by the number of its peers? Between processes it is computed, to 1024
// peers; between threads it is also measured.

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <uit/conveyor/conveyor.hpp>
#include <uit/conveyor/conveyor_sizes.hpp>
#include <uit/conveyor/dealer.hpp>
#include <uit/conveyor/grid.hpp>
#include <uit/conveyor/outbox.hpp>
#include <uit/link/world.hpp>
#include <uit/team/team.hpp>

#include "microbenchmarks/support/amount.hpp"
#include "microbenchmarks/support/program.hpp"
#include "tests/support/counted_memory.hpp"

namespace {

constexpr double mebibyte = 1 << 20;

/// Of a conveyor of 8-byte items to so many peers, each in another process: directly, or by two hops.
uit::detail::ConveyorSizes SizesFor(std::size_t num_peers, std::size_t budget_bytes, bool has_two_hops) {
  const std::size_t num_members = num_peers + 1;
  if (!has_two_hops)
    return uit::detail::SizeConveyor({.budget_bytes = budget_bytes, .two_hops_above = num_members},
                                     uit::detail::bytes_of<std::uint64_t>, num_members, {1, num_peers, num_peers});
  std::vector<std::size_t> processes(num_members);
  std::iota(processes.begin(), processes.end(), std::size_t{0});
  const uit::detail::Grid grid{std::vector<std::size_t>(num_members, 0)};
  uit::detail::LaneCounts most;
  for (const std::size_t rank : processes) most = uit::detail::MostOfEach{}(most, uit::detail::CountLanes(grid, processes, rank));
  return uit::detail::SizeConveyor({.budget_bytes = budget_bytes, .two_hops_above = 0},
                                   uit::detail::bytes_of<std::uint64_t, uit::detail::Routed<std::uint64_t>>, num_members, most);
}

void ComputeBetweenProcesses(bench::Program& program, std::size_t budget_bytes, bool has_two_hops) {
  const std::string budget = std::to_string(budget_bytes >> 20U) + " MiB" + (has_two_hops ? ", two hops" : "");
  const std::string name = "conveyor, 1024 peers, budget of " + budget + ": buffers of a worker";
  if (!program.IsWanted(name)) return;
  for (std::size_t num_peers = 1; num_peers <= 1024; num_peers *= 2) {
    const uit::detail::ConveyorSizes sizes = SizesFor(num_peers, budget_bytes, has_two_hops);
    const auto draw = [&](const std::string& quantity, double y) {
      program.Add({.chart = "memory of a conveyor", .x_label = "peers in other processes", .y_label = quantity,
                   .line = "budget of " + budget, .x = static_cast<double>(num_peers)}, y);
    };
    draw("buffers of a worker, MiB", static_cast<double>(sizes.buffers_bytes) / mebibyte);
    draw("frame, KiB", static_cast<double>(sizes.frame_bytes) / 1024);
    if (num_peers == 1024)
      program.Add(bench::Amount(name, static_cast<double>(sizes.buffers_bytes) / mebibyte, "MiB",
                         static_cast<double>(budget_bytes) / mebibyte, "frames of " + std::to_string(sizes.frame_bytes) + " B"));
  }
}

/// What a conveyor takes for each of some threads of a process: what it says, and what it has allocated.
struct Memory {
  double said = 0;
  double allocated = 0;
};

Memory MeasureThreads(std::uint32_t num_threads) {
  Memory memory;
  uit::Team{uit::World{}, {.threads = num_threads}}.Run([&](uit::Member& me) {
    me.Barrier();
    const std::size_t before = uit::testing::num_held_bytes;
    me.Barrier();
    const uit::Conveyor<std::uint64_t> conveyor{me, [](const std::uint64_t&) {}};
    me.Barrier();
    if (!me.IsRoot()) return me.Barrier();
    memory.said = static_cast<double>(conveyor.NumBytes());
    memory.allocated = static_cast<double>(uit::testing::num_held_bytes - before) / num_threads;
    me.Barrier();
  });
  return memory;
}

void MeasureBetweenThreads(bench::Program& program) {
  const std::string name = "conveyor among 16 threads: allocated for a worker";
  if (!program.IsWanted(name)) return;
  for (std::uint32_t num_threads = 1; num_threads <= 16; num_threads *= 2) {
    const Memory memory = MeasureThreads(num_threads);
    const auto draw = [&](const std::string& line, double bytes) {
      program.Add({.chart = "memory of a conveyor between threads", .x_label = "threads", .y_label = "MiB for a worker",
                   .line = line, .x = static_cast<double>(num_threads)}, bytes / mebibyte);
    };
    draw("NumBytes", memory.said);
    draw("allocated", memory.allocated);
    if (num_threads == 16)
      program.Add(bench::Amount(name, memory.allocated / mebibyte, "MiB", 1.1 * memory.said / mebibyte,
                         "NumBytes says " + bench::Digits(memory.said / mebibyte) + " MiB"));
  }
}

}  // namespace

int main(int argc, char** argv) {
  bench::Program program{argc, argv};
  for (const std::size_t mebibytes : {256U, 64U, 16U})
    for (const bool has_two_hops : {false, true}) ComputeBetweenProcesses(program, mebibytes << 20U, has_two_hops);
  MeasureBetweenThreads(program);
  return program.Finish();
}
