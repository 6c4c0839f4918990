// How much work must a task have so that two processes spend half of their time on it? The graphs of task_graphs_benchmark.cpp by a
// mesh in mode 5, and by a loop over MPI by hand.

#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <uit/link/world.hpp>
#include <uit/support/clock.hpp>
#include <uit/team/team.hpp>

#include "half_efficiency.hpp"
#include "microbenchmarks/support/program.hpp"
#include "microbenchmarks/support/rank_main.hpp"
#include "microbenchmarks/support/ranks.hpp"
#include "mpi_link.hpp"
#include "on_mesh.hpp"
#include "raw_loop.hpp"

namespace {

using namespace bench::task_graphs;

/// Each rank has its loop.
template <bool is_persistent>
class ByMpi final : public System {
 public:
  ByMpi(int rank, const Pattern& pattern) : loop_{pattern, static_cast<std::size_t>(rank)} {}

  double Time(std::uint64_t num_updates, std::uint64_t num_steps) override {
    MPI_Barrier(MPI_COMM_WORLD);
    const uit::TimePoint start = uit::Now();
    loop_.Run(num_updates, num_steps);
    double elapsed = std::chrono::duration<double, std::nano>(uit::Now() - start).count();
    MPI_Allreduce(MPI_IN_PLACE, &elapsed, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return elapsed / static_cast<double>(num_updates);
  }
  std::uint64_t Digest() override {
    std::uint64_t sum = loop_.Digest();
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return sum;
  }

 private:
  RawLoop<MpiLink<is_persistent>> loop_;
};

void Measure(bench::Program& program, bench::Ranks& ranks, const uit::World& world) {
  const uit::Team team{world};
  for (const Pattern& pattern : patterns) {
    const std::string name = "METG, " + pattern.name + ", 2 processes";
    bench::Contest contest{name, bench::Unit::nanoseconds};
    contest.window = sample_window;
    AddSystem(contest, "Mesh, mode 5", ranks, pattern, std::make_shared<OnMesh>(team, pattern));
    AddSystem(contest, "Mesh, mode 5, over MPI", ranks, pattern,
              std::make_shared<OnMesh>(team, pattern, netuit::MeshOptions{.shares_memory = false}));
    AddSystem(contest, "MPI, new requests", ranks, pattern, std::make_shared<ByMpi<false>>(ranks.Rank(), pattern));
    AddSystem(contest, "MPI, persistent requests", ranks, pattern, std::make_shared<ByMpi<true>>(ranks.Rank(), pattern));
    const std::vector<std::string> by_hand{"MPI, new requests", "MPI, persistent requests"};
    contest.Say({.name = name + ": to MPI by hand", .ours = "Mesh, mode 5", .against = by_hand, .at_most = 1.1});
    contest.Say({.name = name + ", over MPI: to MPI by hand", .ours = "Mesh, mode 5, over MPI", .against = by_hand});
    program.Run(contest, ranks);
  }
}

}  // namespace

int main(int argc, char** argv) { return bench::MainOfTwoRanks(argc, argv, Measure); }
