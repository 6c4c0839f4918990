// DC power flow by Jacobi's iteration, by four processes on two cores: a mesh and programs by hand over MPI.

#include <cstdlib>

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
  power_flow.Compare(program, ranks, "twice as many workers as cores", 0, 0, 0.9);
}

}  // namespace

int main(int argc, char** argv) {
  ::setenv("OMPI_MCA_mpi_yield_when_idle", "1", 1);  // as Open MPI does by itself with more processes than cores
  return bench::MainOfRanks(4, argc, argv, Measure);
}
