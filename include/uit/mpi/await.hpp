#pragma once

#include <chrono>

#include <mpi.h>

#include <uit/mpi/error.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/pause.hpp>
#include <uit/support/peer_watch.hpp>

namespace uit::mpi {

/// True if the request is complete. Makes progress on it. Never waits.
inline bool IsComplete(MPI_Request& request) {
  int is_done = 0;
  Check(MPI_Test(&request, &is_done, MPI_STATUS_IGNORE), "MPI_Test");
  return is_done != 0;
}

/// Waits for a request without blocking inside MPI, which would spin. Returns false at the deadline; the request is then
/// still pending.
inline bool Await(MPI_Request& request, Deadline deadline = never) {
  return WaitUntil([&request] { return IsComplete(request); }, deadline);
}

/// Like Await, for a request that needs all processes of the watch. Also returns false as soon as one is known to have
/// ended.
inline bool AwaitAll(MPI_Request& request, const PeerWatch& watch, Deadline deadline = never) {
  bool is_complete = false;
  return WaitUntil(
             [&] {
               const bool is_anybody_gone = watch.Gone().has_value();  // read first: the peer may have completed it and ended
               is_complete = IsComplete(request);
               return is_complete || is_anybody_gone;
             },
             deadline) &&
         is_complete;
}

/// True if MPI's failure came with the end of a process. Waits up to 100 ms, because the watch may notice the end a little
/// later.
inline bool HasPeerEnded(const PeerWatch& watch) {
  return WaitUntil([&watch] { return watch.Gone().has_value(); }, After(std::chrono::milliseconds(100)));
}

}  // namespace uit::mpi
