#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "pattern.hpp"
#include "raw_loop.hpp"

namespace bench::task_graphs {

/// Two ranks that send each other their values, one message each way per update, by persistent requests (MPI 3.1, section 3.9). A
/// receive is posted before the work of its update, and both ends use the values in place.
class MpiLink {
 public:
  MpiLink(const Pattern& pattern, std::size_t worker, Values& values) {
    const Told told = ToldBy(pattern, worker);
    const Told heard = ToldBy(pattern, 1 - worker);
    const int other = static_cast<int>(1 - worker);
    for (std::size_t i = 0; i < 2; ++i) {
      MPI_Recv_init(&values[i][heard.first], static_cast<int>(heard.count), MPI_UINT64_T, other, 0, MPI_COMM_WORLD, &receives_[i]);
      MPI_Send_init(&values[i][told.first], static_cast<int>(told.count), MPI_UINT64_T, other, 0, MPI_COMM_WORLD, &sends_[i]);
    }
  }
  MpiLink(const MpiLink&) = delete;
  MpiLink& operator=(const MpiLink&) = delete;
  ~MpiLink() {
    for (auto* const requests : {&receives_, &sends_})
      for (MPI_Request& request : *requests) MPI_Request_free(&request);
  }

  void Begin(std::uint64_t update) {
    MPI_Wait(&sends_[update % 2], MPI_STATUS_IGNORE);  // of two updates before
    MPI_Start(&receives_[update % 2]);
  }
  void Await(std::uint64_t update) { MPI_Wait(&receives_[update % 2], MPI_STATUS_IGNORE); }
  void Tell(std::uint64_t update) { MPI_Start(&sends_[update % 2]); }
  void End(std::uint64_t update) {
    Await(update);
    MPI_Waitall(2, sends_.data(), MPI_STATUSES_IGNORE);
  }

 private:
  std::array<MPI_Request, 2> receives_{};  // of even updates and odd ones
  std::array<MPI_Request, 2> sends_{};
};

}  // namespace bench::task_graphs
