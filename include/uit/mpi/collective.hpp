#pragma once

#include <concepts>
#include <exception>
#include <memory>
#include <utility>

#include <mpi.h>

#include <uit/mpi/await.hpp>
#include <uit/mpi/error.hpp>
#include <uit/mpi/keep.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/support/pause.hpp>
#include <uit/support/peer_watch.hpp>
#include <uit/link/process_state.hpp>

namespace uit::mpi {

/// Whether a destructor may free what all processes have made together: MPI is running, and all of them will come.
inline bool MayFreeTogether(ProcessState& process) {
  int is_over = 0;
  if (const int code = MPI_Finalized(&is_over); code != MPI_SUCCESS) process.Note(Error(code, "MPI_Finalized").what());
  return is_over == 0 && !process.IsBroken() && std::uncaught_exceptions() == 0;
}

/// Takes part in something that needs all processes: calls `try_finish` until it returns true. Returns false at the deadline.
/// Without a deadline, throws PeerLost, with `where` in its text, if a process has ended.
///
/// Throws what `try_finish` throws, as when MPI fails. The others may then wait for this process for ever. So the process is marked as
/// failed (ProcessState::Fail), and every later call throws at once.
template <std::predicate F>
bool FinishTogether(ProcessState& process, const char* where, F&& try_finish, Deadline deadline = never) {
  if (process.HasFailed()) throw uit::Error(process.Trouble());
  bool is_finished = false;
  try {
    WaitUntil(
        [&] {
          const bool is_anybody_gone = process.Watch().Gone().has_value();  // read first: the peer may have done its part and ended
          is_finished = try_finish();
          return is_finished || is_anybody_gone;
        },
        deadline);
    if (is_finished) return true;
  } catch (const std::exception& error) {
    if (!HasPeerEnded(process.Watch())) {
      process.Fail(error.what());
      throw;
    }
  }
  process.Break();
  if (deadline == never) process.Watch().Check(where);
  return false;
}

/// Takes part in the collective named `call`. `start(&request)` starts it, or completes it at once and leaves the request
/// null. See FinishTogether. If the collective does not complete, it may be neither cancelled nor freed, and `buffers`, which
/// `start` gave to MPI, are kept.
template <std::invocable<MPI_Request*> Start>
bool Collective(ProcessState& process, const char* call, std::shared_ptr<const void> buffers, Start&& start,
                Deadline deadline = never) {
  MPI_Request request = MPI_REQUEST_NULL;
  bool has_started = false;
  const auto try_finish = [&] {
    if (!std::exchange(has_started, true)) Check(start(&request), call);
    return request == MPI_REQUEST_NULL || IsComplete(request);
  };
  try {
    if (FinishTogether(process, call, try_finish, deadline)) return true;
  } catch (...) {
    Keep(std::move(buffers));
    throw;
  }
  Keep(std::move(buffers));
  return false;
}

}  // namespace uit::mpi
