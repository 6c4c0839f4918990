#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "pattern.hpp"
#include "raw_loop.hpp"

namespace bench::task_graphs {

/// Two ranks that send each other their values, one message each way per update. A receive is posted before the work of its update,
/// and both ends use the values in place.
class MpiLink {
 public:
  MpiLink(const Pattern& pattern, std::size_t worker, Values& values)
      : told_{ToldBy(pattern, worker)}, heard_{ToldBy(pattern, 1 - worker)}, values_{values}, other_{static_cast<int>(1 - worker)} {
    receives_.fill(MPI_REQUEST_NULL);
    sends_.fill(MPI_REQUEST_NULL);
  }

  void Begin(std::uint64_t update) {
    MPI_Wait(&sends_[update % 2], MPI_STATUS_IGNORE);  // of two updates before
    MPI_Irecv(&values_[update % 2][heard_.first], static_cast<int>(heard_.count), MPI_UINT64_T, other_, 0, MPI_COMM_WORLD,
              &receives_[update % 2]);
  }
  void Await(std::uint64_t update) { MPI_Wait(&receives_[update % 2], MPI_STATUS_IGNORE); }
  void Tell(std::uint64_t update) {
    MPI_Isend(&values_[update % 2][told_.first], static_cast<int>(told_.count), MPI_UINT64_T, other_, 0, MPI_COMM_WORLD,
              &sends_[update % 2]);
  }
  void End(std::uint64_t update) {
    Await(update);
    MPI_Waitall(2, sends_.data(), MPI_STATUSES_IGNORE);
  }

 private:
  Told told_;
  Told heard_;
  Values& values_;
  int other_;
  std::array<MPI_Request, 2> receives_{};  // of even updates and odd ones
  std::array<MPI_Request, 2> sends_{};
};

}  // namespace bench::task_graphs
