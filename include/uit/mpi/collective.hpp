#pragma once

#include <concepts>
#include <memory>
#include <utility>

#include <mpi.h>

#include <uit/mpi/await.hpp>
#include <uit/mpi/error.hpp>
#include <uit/mpi/keep.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/link/process_state.hpp>

namespace uit::mpi {

/// Takes part in the collective named `call`. `start(&request)` starts it, or completes it at once and leaves the request
/// null. Returns false at the deadline; the collective may then be neither cancelled nor freed. Without a deadline, throws
/// PeerLost if a process has ended.
///
/// Throws if MPI fails. The others may then wait in the collective for ever. So the process is marked as failed
/// (ProcessState::Fail), and every later collective throws at once. If the collective does not complete, `buffers`, which
/// `start` gave to MPI, are kept.
template <std::invocable<MPI_Request*> Start>
bool Collective(ProcessState& process, const char* call, std::shared_ptr<const void> buffers, Start&& start,
                Deadline deadline = never) {
  if (process.HasFailed()) throw uit::Error(process.Trouble());
  MPI_Request request = MPI_REQUEST_NULL;
  try {
    Check(std::forward<Start>(start)(&request), call);
    if (request == MPI_REQUEST_NULL || AwaitAll(request, process.Watch(), deadline)) return true;
  } catch (const uit::Error& error) {
    Keep(std::move(buffers));
    if (HasPeerEnded(process.Watch())) {
      process.Break();
      if (deadline == never) process.Watch().Check(call);
      return false;
    }
    process.Fail(error.what());
    throw;
  }
  Keep(std::move(buffers));
  process.Break();
  if (deadline == never) process.Watch().Check(call);
  return false;
}

}  // namespace uit::mpi
