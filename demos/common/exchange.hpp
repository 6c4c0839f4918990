#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include <mpi.h>

#include <uit/support/bytes.hpp>

#include "complete.hpp"

namespace demo {

/// The many-to-many exchange of MPI programs by hand: each process collects items for others, then all exchange theirs at the same
/// time, their numbers by MPI_Ialltoall and the items by MPI_Ialltoallv. The receivers can answer each item by an item.
template <uit::TriviallyCopyable T>
class Exchange {
 public:
  /// Between so many processes of MPI_COMM_WORLD.
  explicit Exchange(std::size_t num_ranks)
      : outgoing_(num_ranks * room_), counts_(num_ranks), mine_(num_ranks), theirs_(num_ranks), regions_(num_ranks),
        sent_bytes_(num_ranks), answer_starts_(num_ranks), received_bytes_(num_ranks), received_starts_(num_ranks) {}

  /// Keeps an item for a process.
  void Put(std::size_t rank, const T& item) {
    if (counts_[rank] == room_) [[unlikely]] Grow();
    outgoing_[rank * room_ + counts_[rank]++] = item;
  }
  /// Exchanges all items. Returns whether any process has sent one or says that it goes on. Collective.
  bool Swap(bool goes_on = false) {
    goes_on |= std::ranges::any_of(counts_, [](std::size_t count) { return count != 0; });
    for (std::size_t rank = 0; rank < counts_.size(); ++rank) {
      mine_[rank] = {static_cast<int>(counts_[rank]), goes_on ? 1 : 0};
      sent_bytes_[rank] = mine_[rank].count * item_bytes;
      regions_[rank] = static_cast<int>(rank * room_) * item_bytes;
      counts_[rank] = 0;
    }
    Complete("MPI_Ialltoall", [&](MPI_Request* request) {
      return MPI_Ialltoall(mine_.data(), 2, MPI_INT, theirs_.data(), 2, MPI_INT, MPI_COMM_WORLD, request);
    });
    std::ranges::transform(theirs_, received_bytes_.begin(), [](const Head& head) { return head.count * item_bytes; });
    std::exclusive_scan(received_bytes_.begin(), received_bytes_.end(), received_starts_.begin(), 0);
    incoming_.resize(static_cast<std::size_t>((received_starts_.back() + received_bytes_.back()) / item_bytes));
    if (std::ranges::none_of(theirs_, [](const Head& head) { return head.goes_on != 0; })) return false;
    Complete("MPI_Ialltoallv", [&](MPI_Request* request) {
      return MPI_Ialltoallv(outgoing_.data(), sent_bytes_.data(), regions_.data(), MPI_BYTE, incoming_.data(),
                            received_bytes_.data(), received_starts_.data(), MPI_BYTE, MPI_COMM_WORLD, request);
    });
    return true;
  }
  /// What has come in the last exchange, by rank, in the order of Put.
  std::span<const T> Incoming() const { return incoming_; }
  /// How many of these items a rank has sent.
  int IncomingCount(std::size_t rank) const { return theirs_[rank].count; }

  /// Sends back one answer to each item that has come, in the same order. Returns the answers to this process's items, by rank, in
  /// the order of Put. Collective.
  std::span<const T> Answer(std::span<const T> own_answers) {
    std::exclusive_scan(sent_bytes_.begin(), sent_bytes_.end(), answer_starts_.begin(), 0);
    answers_.resize(static_cast<std::size_t>((answer_starts_.back() + sent_bytes_.back()) / item_bytes));
    Complete("MPI_Ialltoallv", [&](MPI_Request* request) {
      return MPI_Ialltoallv(own_answers.data(), received_bytes_.data(), received_starts_.data(), MPI_BYTE, answers_.data(),
                            sent_bytes_.data(), answer_starts_.data(), MPI_BYTE, MPI_COMM_WORLD, request);
    });
    return answers_;
  }
  /// Returns the index of a rank's first answer in the result of Answer.
  std::size_t AnswerStart(std::size_t rank) const { return static_cast<std::size_t>(answer_starts_[rank] / item_bytes); }

 private:
  static constexpr int item_bytes = sizeof(T);
  struct Head {
    int count = 0;
    int goes_on = 0;
  };

  void Grow() {
    std::vector<T> larger(2 * outgoing_.size());
    for (std::size_t rank = 0; rank < counts_.size(); ++rank)
      std::copy_n(outgoing_.begin() + static_cast<std::ptrdiff_t>(rank * room_), counts_[rank],
                  larger.begin() + static_cast<std::ptrdiff_t>(rank * 2 * room_));
    outgoing_.swap(larger);
    room_ *= 2;
  }

  std::size_t room_ = 1024;  // items for each rank
  std::vector<T> outgoing_;  // by rank, each in a region of its own
  std::vector<std::size_t> counts_;  // by rank, as the following
  std::vector<Head> mine_;
  std::vector<Head> theirs_;
  std::vector<int> regions_;  // where they begin; in bytes, as the following
  std::vector<int> sent_bytes_;
  std::vector<int> answer_starts_;
  std::vector<int> received_bytes_;
  std::vector<int> received_starts_;
  std::vector<T> incoming_{};
  std::vector<T> answers_{};
};

}  // namespace demo
