#pragma once

#include <chrono>

#include <mpi.h>

#include <uit/mpi/error.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/pause.hpp>
#include <uit/support/peer_watch.hpp>

namespace uit::mpi {

/// Whether a request is complete; moves it on. Never waits.
inline bool IsComplete(MPI_Request& request) {
  int is_done = 0;
  Check(MPI_Test(&request, &is_done, MPI_STATUS_IGNORE), "MPI_Test");
  return is_done != 0;
}

/// Waits for a request without ever blocking inside MPI, which would spin. False at the deadline: then the request is
/// still pending.
inline bool Await(MPI_Request& request, Deadline deadline = never) {
  return WaitUntil([&request] { return IsComplete(request); }, deadline);
}

/// Likewise for what wants all processes of the watch: false also as soon as one is known to have ended.
inline bool AwaitAll(MPI_Request& request, const PeerWatch& watch, Deadline deadline = never) {
  bool is_complete = false;
  return WaitUntil(
             [&] {
               const bool is_anybody_gone = watch.Gone().has_value();  // what it did before is done
               is_complete = IsComplete(request);
               return is_complete || is_anybody_gone;
             },
             deadline) &&
         is_complete;
}

/// Whether MPI has failed because a process has ended, for one that hears of it: the watch knows within moments.
inline bool IsForTheDead(const PeerWatch& watch) {
  return WaitUntil([&watch] { return watch.Gone().has_value(); }, After(std::chrono::milliseconds(100)));
}

}  // namespace uit::mpi
