#pragma once

#include <mpi.h>

#include "tests/support/pmpi/inside.hpp"

/// Macros for shim.cpp and foreign.cpp, which define MPI's functions.
namespace uit::testing::pmpi::inside {

/// The usual wrapper: fails if it must, otherwise does `call`.
template <typename F>
int Do(Call which, F call) {
  const Visit visit(which);
  return MustFail(which) ? MPI_ERR_OTHER : call();
}

}  // namespace uit::testing::pmpi::inside

// Parameters, and the same names as arguments.
#define UIT_PMPI_WRAP(name, parameters, arguments) \
  int MPI_##name parameters { \
    return Do(Call::name, [&] { return PMPI_##name arguments; }); \
  }
