#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <mpi.h>

#include <uit/link/world.hpp>
#include <uit/mpi/error.hpp>
#include <uit/support/bytes.hpp>

#include "demos/common/complete.hpp"

namespace graphs {

/// Items for other processes, which all exchange at the same time: counts by MPI_Ialltoall, then items by MPI_Ialltoallv.
template <uit::TriviallyCopyable T>
class Exchange {
 public:
  explicit Exchange(const uit::World& world)
      : by_rank_(world.Size()), mine_(world.Size()), theirs_(world.Size()), counts_(world.Size()), starts_(world.Size()),
        their_counts_(world.Size()), their_starts_(world.Size()) {
    uit::mpi::Check(MPI_Type_contiguous(sizeof(T), MPI_BYTE, &type_), "MPI_Type_contiguous");
    uit::mpi::Check(MPI_Type_commit(&type_), "MPI_Type_commit");
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange() { MPI_Type_free(&type_); }

  /// Keeps an item for a process.
  void Put(std::size_t rank, const T& item) { by_rank_[rank].push_back(item); }
  /// Exchanges all items. Returns whether any process has sent one or says that it goes on. Collective.
  bool Swap(bool goes_on) {
    outgoing_.clear();
    for (std::size_t rank = 0; rank < by_rank_.size(); ++rank) {
      counts_[rank] = static_cast<int>(by_rank_[rank].size());
      starts_[rank] = static_cast<int>(outgoing_.size());
      outgoing_.insert(outgoing_.end(), by_rank_[rank].begin(), by_rank_[rank].end());
      by_rank_[rank].clear();
    }
    for (std::size_t rank = 0; rank < by_rank_.size(); ++rank) mine_[rank] = {counts_[rank], goes_on || !outgoing_.empty() ? 1 : 0};
    demo::Complete([&](MPI_Request* request) {
      return MPI_Ialltoall(mine_.data(), 2, MPI_INT, theirs_.data(), 2, MPI_INT, MPI_COMM_WORLD, request);
    });
    int num_incoming = 0;
    bool is_anybody_going_on = false;
    for (std::size_t rank = 0; rank < by_rank_.size(); ++rank) {
      their_counts_[rank] = theirs_[rank].count;
      their_starts_[rank] = num_incoming;
      num_incoming += theirs_[rank].count;
      is_anybody_going_on |= theirs_[rank].goes_on != 0;
    }
    incoming_.resize(static_cast<std::size_t>(num_incoming));
    if (!is_anybody_going_on) return false;
    demo::Complete([&](MPI_Request* request) {
      return MPI_Ialltoallv(outgoing_.data(), counts_.data(), starts_.data(), type_, incoming_.data(), their_counts_.data(),
                            their_starts_.data(), type_, MPI_COMM_WORLD, request);
    });
    return true;
  }
  /// What others have sent in the last exchange, by rank.
  std::span<const T> Incoming() const { return incoming_; }
  /// How many items each rank has sent.
  std::span<const int> IncomingCounts() const { return their_counts_; }

 private:
  struct Head {
    int count = 0;
    int goes_on = 0;
  };

  std::vector<std::vector<T>> by_rank_;
  std::vector<Head> mine_;
  std::vector<Head> theirs_;
  std::vector<int> counts_;
  std::vector<int> starts_;
  std::vector<int> their_counts_;
  std::vector<int> their_starts_;
  std::vector<T> outgoing_;
  std::vector<T> incoming_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

}  // namespace graphs
