#pragma once

#include <cstddef>
#include <optional>

#include <mpi.h>

#include <uit/mpi/error.hpp>

namespace uit::mpi {

/// A message that has come and has not been received.
struct Arrival {
  int source = 0;             ///< rank of its sender
  std::size_t num_bytes = 0;  ///< its size
  int tag = 0;                ///< its tag
};

/// Returns the next message from `source`, which may be MPI_ANY_SOURCE, with `tag`, which may be MPI_ANY_TAG, if one has come. Never
/// waits.
inline std::optional<Arrival> Probe(MPI_Comm communicator, int source, int tag) {
  int has_come = 0;
  MPI_Status status;
  Check(MPI_Iprobe(source, tag, communicator, &has_come, &status), "MPI_Iprobe");
  if (has_come == 0) return std::nullopt;
  int count = 0;
  Check(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
  return Arrival{status.MPI_SOURCE, static_cast<std::size_t>(count), status.MPI_TAG};
}

}  // namespace uit::mpi
