#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <mpi.h>

#include <uit/mpi/error.hpp>

#include "demos/common/complete.hpp"
#include "demos/common/exchange.hpp"
#include "demos/common/places.hpp"

namespace index_gather {

/// Reads words of other processes in batches: all exchange requests by MPI_Ialltoallv, then the answers.
class ByAlltoallv {
 public:
  ByAlltoallv(std::size_t num_ranks, std::size_t batch, std::span<const std::uint64_t> table)
      : batch_(batch), table_(table), exchange_(num_ranks), next_(num_ranks) {}

  /// Collective. The value for places[i] goes to values[i].
  void Run(std::span<const demo::Place> places, std::span<std::uint64_t> values) {
    for (std::size_t done = 0; done < places.size(); done += batch_) {
      const auto batch = places.subspan(done, std::min(batch_, places.size() - done));
      for (const demo::Place& place : batch) exchange_.Put(place.owner, place.word);
      exchange_.Swap();
      own_answers_.clear();
      for (const std::uint64_t word : exchange_.Incoming()) own_answers_.push_back(table_[word]);
      const std::span<const std::uint64_t> answers = exchange_.Answer(own_answers_);
      for (std::size_t rank = 0; rank < next_.size(); ++rank) next_[rank] = exchange_.AnswerStart(rank);
      for (std::size_t i = 0; i < batch.size(); ++i) values[done + i] = answers[next_[batch[i].owner]++];
    }
  }

 private:
  std::size_t batch_;
  std::span<const std::uint64_t> table_;
  demo::Exchange<std::uint64_t> exchange_;
  std::vector<std::size_t> next_;  // answer, by rank
  std::vector<std::uint64_t> own_answers_{};
};

/// Reads each word by an MPI_Get, and completes those of a batch together. A process that throws does not free its window, because
/// that would wait for the others.
class ByGets {
 public:
  /// Collective. Copies the table to memory from which others can read.
  ByGets(std::size_t batch, std::span<const std::uint64_t> table) : batch_(batch) {
    std::uint64_t* memory = nullptr;
    uit::mpi::Check(MPI_Win_allocate(static_cast<MPI_Aint>(table.size_bytes()), sizeof(std::uint64_t), MPI_INFO_NULL,
                                     MPI_COMM_WORLD, &memory, &window_),
                    "MPI_Win_allocate");
    uit::mpi::Check(MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
    uit::mpi::Check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
    std::ranges::copy(table, memory);
    uit::mpi::Check(MPI_Win_sync(window_), "MPI_Win_sync");
    demo::Complete("MPI_Ibarrier", [](MPI_Request* request) { return MPI_Ibarrier(MPI_COMM_WORLD, request); });
  }
  ByGets(const ByGets&) = delete;
  ByGets& operator=(const ByGets&) = delete;
  /// Collective.
  void Close() {
    uit::mpi::Check(MPI_Win_unlock_all(window_), "MPI_Win_unlock_all");
    uit::mpi::Check(MPI_Win_free(&window_), "MPI_Win_free");
  }

  /// The value for places[i] goes to values[i].
  void Run(std::span<const demo::Place> places, std::span<std::uint64_t> values) {
    for (std::size_t done = 0; done < places.size(); done += batch_) {
      for (std::size_t i = done; i < std::min(places.size(), done + batch_); ++i) {
        uit::mpi::Check(MPI_Get(&values[i], 1, MPI_UINT64_T, static_cast<int>(places[i].owner),
                                static_cast<MPI_Aint>(places[i].word), 1, MPI_UINT64_T, window_),
                        "MPI_Get");
      }
      uit::mpi::Check(MPI_Win_flush_all(window_), "MPI_Win_flush_all");
    }
  }

 private:
  std::size_t batch_;
  MPI_Win window_ = MPI_WIN_NULL;
};

}  // namespace index_gather
