#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <mpi.h>

#include <uit/link/process_state.hpp>
#include <uit/link/world.hpp>
#include <uit/mpi/collective.hpp>
#include <uit/mpi/error.hpp>

namespace uit::mpi {

/// Does what a SparseExchange does, by blocking calls: for a simulated MPI, where a call that does not block takes simulated time
/// each time that it is made. `size` is that of the communicator. Collective.
inline BytesByRank ExchangeSimulated(ProcessState& process, MPI_Comm communicator, std::size_t size, BytesByRank outgoing) {
  struct Buffers {
    BytesByRank outgoing, incoming;
    std::vector<int> sent, received;
  };
  const auto buffers = std::make_shared<Buffers>(Buffers{std::move(outgoing), {}, std::vector<int>(size), std::vector<int>(size)});
  Collective(process, "MPI_Alltoall", buffers, [&](MPI_Request*) {
    for (const auto& [rank, bytes] : buffers->outgoing) buffers->sent.at(rank) = CheckedCount(bytes.size());
    return MPI_Alltoall(buffers->sent.data(), 1, MPI_INT, buffers->received.data(), 1, MPI_INT, communicator);
  });
  Collective(process, "a simulated exchange", buffers, [&](MPI_Request*) {
    std::vector<MPI_Request> requests;
    requests.reserve(2 * size);
    for (std::size_t rank = 0; rank < size; ++rank) {
      if (buffers->received[rank] == 0) continue;
      Bytes& bytes = buffers->incoming[rank];
      bytes.resize(static_cast<std::size_t>(buffers->received[rank]));
      Check(MPI_Irecv(bytes.data(), buffers->received[rank], MPI_BYTE, static_cast<int>(rank), 0, communicator,
                      &requests.emplace_back(MPI_REQUEST_NULL)),
            "MPI_Irecv");
    }
    for (const auto& [rank, bytes] : buffers->outgoing) {
      if (bytes.empty()) continue;
      Check(MPI_Isend(bytes.data(), buffers->sent[rank], MPI_BYTE, static_cast<int>(rank), 0, communicator,
                      &requests.emplace_back(MPI_REQUEST_NULL)),
            "MPI_Isend");
    }
    for (MPI_Request& request : requests) Check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
    return MPI_SUCCESS;
  });
  return std::move(buffers->incoming);
}

}  // namespace uit::mpi
