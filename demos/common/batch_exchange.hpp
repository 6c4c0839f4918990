#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

#include <mpi.h>

#include "complete.hpp"

namespace demo {

/// An unsigned number that an exchange can carry.
template <typename T>
concept ExchangedWord = std::same_as<T, std::uint32_t> || std::same_as<T, std::uint64_t>;

/// The hand-written many-to-many exchange of MPI programs: each process sorts a batch of items by their ranks, then all exchange them
/// by MPI_Ialltoallv. The receiver can answer each item by an item.
template <ExchangedWord T>
class BatchExchange {
 public:
  /// Between so many processes of MPI_COMM_WORLD.
  explicit BatchExchange(std::size_t num_ranks)
      : send_counts_(num_ranks), send_offsets_(num_ranks), receive_counts_(num_ranks), receive_offsets_(num_ranks), next_(num_ranks) {}

  /// Sorts items 0 to count - 1. `rank_of(i)` is called twice for each, and then `put(i, place)`, which writes that item to Outgoing().
  template <std::invocable<std::size_t> RankOf, std::invocable<std::size_t, std::size_t> Put>
  void Sort(std::size_t count, RankOf&& rank_of, Put&& put) {
    outgoing_.resize(count);
    std::fill(next_.begin(), next_.end(), 0);
    for (std::size_t i = 0; i < count; ++i) ++next_[rank_of(i)];
    std::size_t sum = 0;
    for (std::size_t rank = 0; rank < next_.size(); ++rank) {
      send_counts_[rank] = static_cast<int>(next_[rank]);
      send_offsets_[rank] = static_cast<int>(sum);
      sum += static_cast<std::size_t>(send_counts_[rank]);
      next_[rank] = static_cast<std::size_t>(send_offsets_[rank]);
    }
    for (std::size_t i = 0; i < count; ++i) put(i, next_[rank_of(i)]++);
  }
  /// The items of this batch, by rank.
  std::span<T> Outgoing() { return outgoing_; }
  /// Collective. Sends the outgoing items, and returns those that have arrived, in order of their senders.
  std::span<const T> Exchange() {
    Complete([&](MPI_Request* request) {
      return MPI_Ialltoall(send_counts_.data(), 1, MPI_INT, receive_counts_.data(), 1, MPI_INT, MPI_COMM_WORLD, request);
    });
    std::exclusive_scan(receive_counts_.begin(), receive_counts_.end(), receive_offsets_.begin(), 0);
    incoming_.resize(static_cast<std::size_t>(receive_offsets_.back() + receive_counts_.back()));
    Complete([&](MPI_Request* request) {
      return MPI_Ialltoallv(outgoing_.data(), send_counts_.data(), send_offsets_.data(), Type<T>(), incoming_.data(),
                            receive_counts_.data(), receive_offsets_.data(), Type<T>(), MPI_COMM_WORLD, request);
    });
    return incoming_;
  }
  /// Collective. Sends back one answer to each item that has arrived, in the same order. The answers to this process's items come to
  /// `answers`, in the order of its outgoing items.
  template <ExchangedWord R>
  void Answer(std::span<const R> own_answers, std::span<R> answers) {
    Complete([&](MPI_Request* request) {
      return MPI_Ialltoallv(own_answers.data(), receive_counts_.data(), receive_offsets_.data(), Type<R>(), answers.data(),
                            send_counts_.data(), send_offsets_.data(), Type<R>(), MPI_COMM_WORLD, request);
    });
  }

 private:
  template <ExchangedWord R>
  static MPI_Datatype Type() {
    return std::same_as<R, std::uint32_t> ? MPI_UINT32_T : MPI_UINT64_T;
  }

  std::vector<T> outgoing_{};
  std::vector<T> incoming_{};
  std::vector<int> send_counts_;  // by rank, as the following
  std::vector<int> send_offsets_;
  std::vector<int> receive_counts_;
  std::vector<int> receive_offsets_;
  std::vector<std::size_t> next_;  // the next place among the outgoing items
};

}  // namespace demo
