#pragma once

#include <mpi.h>
#include <pthread.h>

#include <cstddef>
#include <cstdint>

#include "ranks.hpp"

namespace bench {

/// Lets rank 0 measure alone, and call the other ranks for a job now and then. Between jobs the others sleep in the kernel, so that
/// they do not take time from competitors without MPI, as they would in an MPI call.
class Servants {
 public:
  /// A job's number, and how often to do it.
  struct Order {
    std::size_t job = 0;
    std::uint64_t count = 0;
    bool is_last = false;
  };

  /// Collective.
  Servants() : board_{MPI_COMM_WORLD} {
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    is_lead_ = rank == 0;
    if (is_lead_) {
      pthread_barrierattr_t options;
      pthread_barrierattr_init(&options);
      pthread_barrierattr_setpshared(&options, PTHREAD_PROCESS_SHARED);
      pthread_barrier_init(&board_->barrier, &options, static_cast<unsigned>(size));
      pthread_barrierattr_destroy(&options);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  [[nodiscard]] bool IsLead() const { return is_lead_; }

  /// Rank 0: calls do_job(job, count) on all ranks, and returns its result on rank 0. Returns when all have done it.
  template <typename Job>
  double Call(std::size_t job, std::uint64_t count, Job&& do_job) {
    board_->order = {.job = job, .count = count};
    Meet();
    const double result = do_job(job, count);
    Meet();
    return result;
  }
  /// The other ranks: does jobs until Dismiss.
  template <typename Job>
  void Serve(Job&& do_job) {
    for (;;) {
      Meet();
      const Order order = board_->order;
      if (order.is_last) return;
      do_job(order.job, order.count);
      Meet();
    }
  }
  /// Rank 0: ends Serve of the others.
  void Dismiss() {
    board_->order = {.is_last = true};
    Meet();
  }

 private:
  struct Board {
    pthread_barrier_t barrier;
    Order order;
  };

  void Meet() { pthread_barrier_wait(&board_->barrier); }

  SharedMemory<Board> board_;
  bool is_lead_ = false;
};

}  // namespace bench
