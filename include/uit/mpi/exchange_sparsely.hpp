#pragma once

#include <cstddef>
#include <vector>

#include <mpi.h>

#include <uit/mpi/error.hpp>

namespace uit::mpi {

/// Does the same as MPI_Alltoallv of bytes, but sends no empty messages. For a simulated MPI, where each message takes
/// long, the longer the more unexpected messages wait. Collective. Throws if MPI fails; MPI may then still use the
/// buffers.
inline void ExchangeSparsely(const std::byte* outgoing, const std::vector<int>& send_counts,
                             const std::vector<int>& send_offsets, std::byte* incoming,
                             const std::vector<int>& receive_counts, const std::vector<int>& receive_offsets,
                             MPI_Comm communicator) {
  constexpr int tag = 32767;  // the largest tag that every MPI supports
  std::vector<MPI_Request> requests;
  for (std::size_t rank = 0; rank < receive_counts.size(); ++rank) {
    if (receive_counts[rank] == 0) continue;
    Check(MPI_Irecv(incoming + receive_offsets[rank], receive_counts[rank], MPI_BYTE, static_cast<int>(rank), tag,
                    communicator, &requests.emplace_back(MPI_REQUEST_NULL)),
          "MPI_Irecv");
  }
  for (std::size_t rank = 0; rank < send_counts.size(); ++rank) {
    if (send_counts[rank] == 0) continue;
    Check(MPI_Isend(outgoing + send_offsets[rank], send_counts[rank], MPI_BYTE, static_cast<int>(rank), tag, communicator,
                    &requests.emplace_back(MPI_REQUEST_NULL)),
          "MPI_Isend");
  }
  for (MPI_Request& request : requests) Check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
}

}  // namespace uit::mpi
