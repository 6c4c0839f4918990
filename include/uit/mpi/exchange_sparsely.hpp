#pragma once

#include <cstddef>
#include <vector>

#include <mpi.h>

namespace uit::mpi {

/// The same as MPI_Alltoallv of bytes, without messages for what is empty: for a simulated MPI, which takes long over
/// each, the longer the more have come unexpected. Returns MPI's code. Collective.
inline int ExchangeSparsely(const std::byte* outgoing, const std::vector<int>& send_counts,
                            const std::vector<int>& send_offsets, std::byte* incoming,
                            const std::vector<int>& receive_counts, const std::vector<int>& receive_offsets,
                            MPI_Comm communicator) {
  constexpr int tag = 32767;  // the largest that every MPI has
  std::vector<MPI_Request> requests;
  int code = MPI_SUCCESS;
  for (std::size_t rank = 0; rank < receive_counts.size() && code == MPI_SUCCESS; ++rank) {
    if (receive_counts[rank] == 0) continue;
    code = MPI_Irecv(incoming + receive_offsets[rank], receive_counts[rank], MPI_BYTE, static_cast<int>(rank), tag,
                     communicator, &requests.emplace_back(MPI_REQUEST_NULL));
  }
  for (std::size_t rank = 0; rank < send_counts.size() && code == MPI_SUCCESS; ++rank) {
    if (send_counts[rank] == 0) continue;
    code = MPI_Isend(outgoing + send_offsets[rank], send_counts[rank], MPI_BYTE, static_cast<int>(rank), tag, communicator,
                     &requests.emplace_back(MPI_REQUEST_NULL));
  }
  for (MPI_Request& request : requests) {
    const int waited = MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS) code = waited;
  }
  return code;
}

}  // namespace uit::mpi
