#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <mpi.h>

#include <uit/mpi/error.hpp>
#include <uit/link/world.hpp>

#include "demos/common/complete.hpp"
#include "demos/common/exchange.hpp"
#include "table.hpp"

namespace gups {

/// A hand-written version with a collective. In each round, every process makes a batch of updates for their owners. Then all
/// exchange their batches by MPI_Ialltoallv.
class ByAlltoallv {
 public:
  ByAlltoallv(const uit::World& world, std::size_t batch) : batch_(batch), exchange_(world.Size()) {}

  void Run(UpdateStream updates, std::uint64_t num_updates, Table& table) {
    for (std::uint64_t done = 0; done < num_updates; done += batch_) {
      for (std::uint64_t i = done; i < done + batch_ && i < num_updates; ++i) {
        const Update update = updates.Next();
        exchange_.Put(table.OwnerOf(update), update);
      }
      exchange_.Swap();
      for (const Update update : exchange_.Incoming()) table.Apply(update);
    }
  }

 private:
  std::size_t batch_;
  demo::Exchange<Update> exchange_;
};

/// A one-sided version. Each update is one MPI_Put into memory that its owner reserves for this process. After a batch, the
/// owners apply the updates. A process that throws does not free its window, because that would wait for the others.
class ByPuts {
 public:
  /// Collective.
  ByPuts(const uit::World& world, std::size_t batch) : rank_(world.Rank()), size_(world.Size()), batch_(batch) {
    const auto num_bytes = static_cast<MPI_Aint>(size_ * batch_ * sizeof(Update));
    uit::mpi::Check(MPI_Win_allocate(num_bytes, sizeof(Update), MPI_INFO_NULL, MPI_COMM_WORLD, &landing_, &window_),
                    "MPI_Win_allocate");
    uit::mpi::Check(MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
    uit::mpi::Check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
  }
  ByPuts(const ByPuts&) = delete;
  ByPuts& operator=(const ByPuts&) = delete;
  /// Collective.
  void Close() {
    uit::mpi::Check(MPI_Win_unlock_all(window_), "MPI_Win_unlock_all");
    uit::mpi::Check(MPI_Win_free(&window_), "MPI_Win_free");
  }

  void Run(UpdateStream updates, std::uint64_t num_updates, Table& table) {
    std::vector<int> sent(size_), received(size_);
    std::vector<Update> origin(batch_);  // must keep until the flush
    for (std::uint64_t done = 0; done < num_updates; done += batch_) {
      sent.assign(size_, 0);
      for (std::uint64_t i = 0; i < batch_ && done + i < num_updates; ++i) {
        origin[i] = updates.Next();
        const std::size_t owner = table.OwnerOf(origin[i]);
        if (owner == rank_) {
          table.Apply(origin[i]);
          continue;
        }
        const std::size_t place = rank_ * batch_ + static_cast<std::size_t>(sent[owner]++);
        uit::mpi::Check(MPI_Put(&origin[i], 1, MPI_UINT64_T, static_cast<int>(owner), static_cast<MPI_Aint>(place), 1,
                                MPI_UINT64_T, window_),
                        "MPI_Put");
      }
      uit::mpi::Check(MPI_Win_flush_all(window_), "MPI_Win_flush_all");
      demo::Complete("MPI_Ialltoall", [&](MPI_Request* request) {
        return MPI_Ialltoall(sent.data(), 1, MPI_INT, received.data(), 1, MPI_INT, MPI_COMM_WORLD, request);
      });
      uit::mpi::Check(MPI_Win_sync(window_), "MPI_Win_sync");
      for (std::size_t source = 0; source < size_; ++source) {
        for (int i = 0; i < received[source]; ++i) table.Apply(landing_[source * batch_ + static_cast<std::size_t>(i)]);
      }
      // No process writes the next batch to landing_ before all have applied this one.
      demo::Complete("MPI_Ibarrier", [](MPI_Request* request) { return MPI_Ibarrier(MPI_COMM_WORLD, request); });
    }
  }

 private:
  std::size_t rank_;
  std::size_t size_;
  std::size_t batch_;
  Update* landing_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
};

}  // namespace gups
