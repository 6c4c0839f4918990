#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "pattern.hpp"
#include "raw_loop.hpp"

namespace bench::task_graphs {

/// Two ranks that send each other their values, one message each way per update. A receive is posted before the work of its update,
/// and both ends use the values in place. Requests are persistent (MPI 3.1, section 3.9), or new in every update.
template <bool is_persistent>
class MpiLink {
 public:
  MpiLink(const Pattern& pattern, std::size_t worker, Values& values) {
    const Told told = ToldBy(pattern, worker);
    const Told heard = ToldBy(pattern, 1 - worker);
    for (std::size_t i = 0; i < 2; ++i) {
      told_[i] = {&values[i][told.first], static_cast<int>(told.count), static_cast<int>(1 - worker)};
      heard_[i] = {&values[i][heard.first], static_cast<int>(heard.count), static_cast<int>(1 - worker)};
      if (!is_persistent) continue;
      heard_[i].Pass(MPI_Recv_init, receives_[i]);
      told_[i].Pass(MPI_Send_init, sends_[i]);
    }
  }
  MpiLink(const MpiLink&) = delete;
  MpiLink& operator=(const MpiLink&) = delete;
  ~MpiLink() {
    if (!is_persistent) return;
    for (auto* const requests : {&receives_, &sends_})
      for (MPI_Request& request : *requests) MPI_Request_free(&request);
  }

  void Begin(std::uint64_t update) {
    MPI_Wait(&sends_[update % 2], MPI_STATUS_IGNORE);  // of two updates before
    if constexpr (is_persistent) MPI_Start(&receives_[update % 2]);
    else heard_[update % 2].Pass(MPI_Irecv, receives_[update % 2]);
  }
  void Await(std::uint64_t update) { MPI_Wait(&receives_[update % 2], MPI_STATUS_IGNORE); }
  void Tell(std::uint64_t update) {
    if constexpr (is_persistent) MPI_Start(&sends_[update % 2]);
    else told_[update % 2].Pass(MPI_Isend, sends_[update % 2]);
  }
  void End(std::uint64_t update) {
    Await(update);
    MPI_Waitall(2, sends_.data(), MPI_STATUSES_IGNORE);
  }

 private:
  struct Message {
    std::uint64_t* values;
    int count;
    int peer;

    void Pass(auto begin, MPI_Request& request) const { begin(values, count, MPI_UINT64_T, peer, 0, MPI_COMM_WORLD, &request); }
  };

  std::array<Message, 2> told_{};  // in even updates and odd ones
  std::array<Message, 2> heard_{};
  std::array<MPI_Request, 2> receives_{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  std::array<MPI_Request, 2> sends_{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

}  // namespace bench::task_graphs
