#pragma once

#include <cstddef>
#include <vector>

#include <mpi.h>

#include <uit/mpi/error.hpp>
#include <uit/support/peer_watch.hpp>
#include <uit/support/simulation.hpp>

namespace uit::mpi {

/// The processes of this computer among those of a communicator, whose ranks are spoken of; none in a simulation, where
/// they are all one process to the system. Collective.
inline std::vector<ProcessIdentity> FindNeighbors(MPI_Comm communicator) {
  if (is_simulated) return {};
  int rank = 0;
  Check(MPI_Comm_rank(communicator, &rank), "MPI_Comm_rank");
  MPI_Comm node = MPI_COMM_NULL;
  Check(MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node), "MPI_Comm_split_type");
  Check(MPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  int size = 0;
  Check(MPI_Comm_size(node, &size), "MPI_Comm_size");
  const ProcessIdentity own = ProcessIdentity::OfThis(static_cast<std::size_t>(rank));
  std::vector<ProcessIdentity> all(static_cast<std::size_t>(size));
  Check(MPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, node), "MPI_Allgather");
  Check(MPI_Comm_free(&node), "MPI_Comm_free");
  return all;
}

}  // namespace uit::mpi
