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

/// Takes part in a collective of the name `call`: `start(&request)` begins it, unless it ends it at once. False at the
/// deadline: then it may be neither cancelled nor freed. Without a deadline, throws PeerLost if a process has ended.
///
/// Throws if MPI fails. The others may then wait in it for ever, so that the process has failed (ProcessState::Fail), and
/// every collective after it throws at once. `buffers`, which `start` gives to MPI, are kept if it does not end.
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
    if (IsForTheDead(process.Watch())) {
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
