#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <mpi.h>

#include <uit/link/world.hpp>
#include <uit/support/bytes.hpp>

#include "demos/common/complete.hpp"

namespace graphs {

/// Items for other processes, which all exchange at the same time: counts by MPI_Ialltoall, then items by MPI_Ialltoallv.
template <uit::TriviallyCopyable T>
class Exchange {
 public:
  explicit Exchange(const uit::World& world)
      : by_rank_(world.Size()), mine_(world.Size()), theirs_(world.Size()), num_bytes_(world.Size()), starts_(world.Size()),
        their_counts_(world.Size()), their_bytes_(world.Size()), their_starts_(world.Size()) {}

  /// Keeps an item for a process.
  void Put(std::size_t rank, const T& item) { by_rank_[rank].push_back(item); }
  /// Exchanges all items. Returns whether any process has sent one or says that it goes on. Collective.
  bool Swap(bool goes_on) {
    outgoing_.clear();
    for (std::size_t rank = 0; rank < by_rank_.size(); ++rank) {
      mine_[rank].count = static_cast<int>(by_rank_[rank].size());
      num_bytes_[rank] = mine_[rank].count * item_bytes;
      starts_[rank] = static_cast<int>(outgoing_.size()) * item_bytes;
      outgoing_.insert(outgoing_.end(), by_rank_[rank].begin(), by_rank_[rank].end());
      by_rank_[rank].clear();
    }
    for (std::size_t rank = 0; rank < by_rank_.size(); ++rank) mine_[rank].goes_on = goes_on || !outgoing_.empty() ? 1 : 0;
    demo::Complete([&](MPI_Request* request) {
      return MPI_Ialltoall(mine_.data(), 2, MPI_INT, theirs_.data(), 2, MPI_INT, MPI_COMM_WORLD, request);
    });
    int num_incoming = 0;
    bool is_anybody_going_on = false;
    for (std::size_t rank = 0; rank < by_rank_.size(); ++rank) {
      their_counts_[rank] = theirs_[rank].count;
      their_bytes_[rank] = theirs_[rank].count * item_bytes;
      their_starts_[rank] = num_incoming * item_bytes;
      num_incoming += theirs_[rank].count;
      is_anybody_going_on |= theirs_[rank].goes_on != 0;
    }
    incoming_.resize(static_cast<std::size_t>(num_incoming));
    if (!is_anybody_going_on) return false;
    demo::Complete([&](MPI_Request* request) {
      return MPI_Ialltoallv(outgoing_.data(), num_bytes_.data(), starts_.data(), MPI_BYTE, incoming_.data(), their_bytes_.data(),
                            their_starts_.data(), MPI_BYTE, MPI_COMM_WORLD, request);
    });
    return true;
  }
  /// What others have sent in the last exchange, by rank.
  std::span<const T> Incoming() const { return incoming_; }
  /// How many items each rank has sent.
  std::span<const int> IncomingCounts() const { return their_counts_; }

 private:
  static constexpr int item_bytes = sizeof(T);
  struct Head {
    int count = 0;
    int goes_on = 0;
  };

  std::vector<std::vector<T>> by_rank_;
  std::vector<Head> mine_;
  std::vector<Head> theirs_;
  std::vector<int> num_bytes_;  // by rank, as the following
  std::vector<int> starts_;
  std::vector<int> their_counts_;
  std::vector<int> their_bytes_;
  std::vector<int> their_starts_;
  std::vector<T> outgoing_;
  std::vector<T> incoming_;
};

}  // namespace graphs
