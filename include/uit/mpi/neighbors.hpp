#pragma once

#include <cstddef>
#include <vector>

#include <mpi.h>

#include <uit/mpi/error.hpp>
#include <uit/support/peer_watch.hpp>
#include <uit/support/simulation.hpp>

namespace uit::mpi {

/// The identities of the processes of this host in `communicator`, with their ranks there. Empty in a simulation, where
/// all processes are one process of the system. Collective.
inline std::vector<ProcessIdentity> FindNeighbors(MPI_Comm communicator) {
  if (is_simulated) return {};
  int rank = 0;
  Check(MPI_Comm_rank(communicator, &rank), "MPI_Comm_rank");
  MPI_Comm host = MPI_COMM_NULL;
  Check(MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host), "MPI_Comm_split_type");
  Check(MPI_Comm_set_errhandler(host, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  int size = 0;
  Check(MPI_Comm_size(host, &size), "MPI_Comm_size");
  const ProcessIdentity own = ProcessIdentity::OfThis(static_cast<std::size_t>(rank));
  std::vector<ProcessIdentity> all(static_cast<std::size_t>(size));
  Check(MPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, host), "MPI_Allgather");
  Check(MPI_Comm_free(&host), "MPI_Comm_free");
  return all;
}

}  // namespace uit::mpi
