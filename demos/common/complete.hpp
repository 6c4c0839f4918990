#pragma once

#include <concepts>

#include <mpi.h>

#include <uit/mpi/await.hpp>
#include <uit/mpi/error.hpp>

namespace demo {

/// Starts the operation named `call` and waits for it outside MPI, because MPI spins even if there are more processes than cores.
template <std::invocable<MPI_Request*> F>
void Complete(const char* call, F&& begin) {
  MPI_Request request = MPI_REQUEST_NULL;
  uit::mpi::Check(begin(&request), call);
  uit::mpi::Await(request);
}

}  // namespace demo
