#pragma once

#include <memory>
#include <utility>

#include <mpi.h>

#include <uit/link/process_state.hpp>
#include <uit/mpi/collective.hpp>
#include <uit/mpi/error.hpp>
#include <uit/support/peer_watch.hpp>

namespace uit::mpi {

/// A copy of a communicator, on which no message meets another program's receive.
class PrivateCommunicator {
 public:
  /// Collective.
  PrivateCommunicator(MPI_Comm original, std::shared_ptr<ProcessState> process) : process_(std::move(process)) {
    const PeerWatch::Blocking blocking(process_->Watch(), "MPI_Comm_dup");
    Check(MPI_Comm_dup(original, &communicator_), "MPI_Comm_dup");
    Check(MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }
  PrivateCommunicator(const PrivateCommunicator&) = delete;
  PrivateCommunicator& operator=(const PrivateCommunicator&) = delete;
  /// Collective; see MayFreeTogether. If MPI fails, notes the error in the process's state.
  ~PrivateCommunicator() {
    if (!MayFreeTogether(*process_)) return;
    const PeerWatch::Blocking blocking(process_->Watch(), "MPI_Comm_free");
    if (const int code = MPI_Comm_free(&communicator_); code != MPI_SUCCESS) process_->Note(Error(code, "MPI_Comm_free").what());
  }

  /// Returns the copy. It returns errors.
  MPI_Comm Get() const { return communicator_; }
  /// Returns the tag for the next exchange on it: never that of the one before. See SparseExchange.
  int NextTag() { return std::exchange(next_tag_, 1 - next_tag_); }

 private:
  std::shared_ptr<ProcessState> process_;
  MPI_Comm communicator_ = MPI_COMM_NULL;
  int next_tag_ = 0;
};

}  // namespace uit::mpi
