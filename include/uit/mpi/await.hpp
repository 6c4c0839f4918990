#pragma once

#include <mpi.h>

#include <uit/mpi/error.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/pause.hpp>

namespace uit::mpi {

/// Waits for a request without ever blocking inside MPI, which would spin. False at the deadline: then the request is
/// still pending.
inline bool Await(MPI_Request& request, Deadline deadline = never) {
  return WaitUntil(
      [&request] {
        int is_done = 0;
        Check(MPI_Test(&request, &is_done, MPI_STATUS_IGNORE), "MPI_Test");
        return is_done != 0;
      },
      deadline);
}

}  // namespace uit::mpi
