// DC power flow by Jacobi's iteration, by two processes: a mesh and programs by hand over MPI, with persistent requests and with a
// neighbourhood collective, when the machine is quiet and when programs of others use the same cores.

#include <uit/link/world.hpp>
#include <uit/team/team.hpp>

#include "microbenchmarks/support/program.hpp"
#include "microbenchmarks/support/rank_main.hpp"
#include "microbenchmarks/support/ranks.hpp"
#include "power_flow.hpp"

namespace {

void Measure(bench::Program& program, bench::Ranks& ranks, const uit::World& world) {
  const uit::Team team{world};
  bench::PowerFlow power_flow{team, ranks};
  power_flow.Check();
  power_flow.Compare(program, ranks, "quiet", 0, 0, 1.0, 1.2);
  power_flow.Compare(program, ranks, "one core shared with a busy program", 1, 0, 0.9);
  power_flow.Compare(program, ranks, "one core shared with a program of low priority", 1, 19, 0.9);
  power_flow.Compare(program, ranks, "both cores shared with busy programs", 2, 0, 0.9);
}

}  // namespace

int main(int argc, char** argv) { return bench::MainOfRanks(2, argc, argv, Measure); }
