#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <uit/support/clock.hpp>

#include "baselines.hpp"
#include "isend_ring.hpp"
#include "message.hpp"
#include "rank_pair.hpp"
#include "ranks.hpp"

/// Code written by hand between two processes: the limits for our conduits between them.
namespace bench::hand {

/// One message at a time over such a ring.
template <typename T>
class IsendSide {
 public:
  IsendSide(int peer, std::size_t num_credits) : ring_{peer, sizeof(T), num_credits} {}

  bool TrySend(std::uint32_t number) {
    std::byte* const room = ring_.Room();
    if (room == nullptr) return false;
    Mark(*reinterpret_cast<T*>(room), number);
    ring_.Send(sizeof(T));
    return true;
  }
  bool TryTake(std::uint64_t& sum) {
    const std::byte* const arrived = ring_.Arrived();
    if (arrived == nullptr) return false;
    sum += Check(*reinterpret_cast<const T*>(arrived));
    ring_.Release();
    return true;
  }
  bool TryFlush() { return true; }

 private:
  IsendRing ring_;
};

/// Words of 8 bytes, several to a message of such a ring.
class BatchSide {
 public:
  BatchSide(int peer, std::size_t num_words, std::size_t num_credits)
      : num_words_{num_words}, ring_{peer, num_words * sizeof(Word), num_credits} {}

  bool TrySend(std::uint32_t number) {
    if (room_ == nullptr && (room_ = reinterpret_cast<Word*>(ring_.Room())) == nullptr) return false;
    room_[num_written_] = number;
    if (++num_written_ == num_words_) Send();
    return true;
  }
  bool TryTake(std::uint64_t& sum) {
    if (arrived_ == nullptr) {
      arrived_ = reinterpret_cast<const Word*>(ring_.Arrived());
      if (arrived_ == nullptr) return false;
      num_arrived_ = ring_.NumBytes() / sizeof(Word);
    }
    sum += 2 * arrived_[num_read_];
    if (++num_read_ == num_arrived_) {
      ring_.Release();
      arrived_ = nullptr;
      num_read_ = 0;
    }
    return true;
  }
  bool TryFlush() {
    if (num_written_ != 0) Send();
    return true;
  }

 private:
  using Word = std::uint64_t;
  void Send() {
    ring_.Send(num_written_ * sizeof(Word));
    room_ = nullptr;
    num_written_ = 0;
  }

  std::size_t num_words_;
  IsendRing ring_;
  Word* room_ = nullptr;
  std::size_t num_written_ = 0;
  const Word* arrived_ = nullptr;
  std::size_t num_arrived_ = 0;
  std::size_t num_read_ = 0;
};

/// Two rings in memory that both ranks share, one each way.
template <typename T, std::size_t capacity>
class SharedRingSide {
 public:
  explicit SharedRingSide(int rank) : rings_{MPI_COMM_WORLD}, rank_{static_cast<std::size_t>(rank)} {}

  bool TrySend(std::uint32_t number) {
    Mark(message_, number);
    return (*rings_)[rank_].TryPush(message_);
  }
  bool TryTake(std::uint64_t& sum) {
    return (*rings_)[1 - rank_].TryPop([&](const T& message) { sum += Check(message); });
  }
  bool TryFlush() { return true; }

 private:
  SharedMemory<std::array<Ring<T, capacity>, 2>> rings_;
  std::size_t rank_;
  T message_{};
};

/// ns per half round trip of MPI_Send and MPI_Recv: the job of osu_latency of the OSU Micro-Benchmarks.
template <typename T>
double SendReceiveTime(const Ranks& ranks, std::uint64_t count) {
  T message{};
  std::uint64_t sum = 0;
  const auto send = [&](std::uint64_t i) {
    Mark(message, static_cast<std::uint32_t>(i));
    MPI_Send(&message, sizeof message, MPI_BYTE, 1 - ranks.Rank(), 0, MPI_COMM_WORLD);
  };
  const auto take = [&] {
    MPI_Recv(&message, sizeof message, MPI_BYTE, 1 - ranks.Rank(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum += Check(message);
  };
  MPI_Barrier(MPI_COMM_WORLD);
  const uit::TimePoint start = uit::Now();
  for (std::uint64_t i = 1; i <= count; ++i) {
    if (ranks.Rank() == 0) send(i);
    take();
    if (ranks.Rank() == 1) send(i);
  }
  const double time = Span(start, uit::Now());
  if (sum != count * (count + 1)) std::abort();
  return time / static_cast<double>(2 * count);
}

/// Windows of nonblocking messages, each answered by one message: the job of osu_bw and osu_mbw_mr of the OSU Micro-Benchmarks
/// (Ohio State University), whose windows have 64. There all messages of a window share a buffer. Here each has its own, so that
/// every message is checked.
template <typename T, std::size_t window>
class Windows {
 public:
  /// ns per message from rank 0 to rank 1.
  double Time(const Ranks& ranks, std::uint64_t count) {
    const std::uint64_t num_windows = (count + window - 1) / window;
    const int peer = 1 - ranks.Rank();
    std::uint64_t sum = 0;
    char answer = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    const uit::TimePoint start = uit::Now();
    for (std::uint64_t i = 1; i <= num_windows; ++i) {
      for (std::size_t j = 0; j < window; ++j) {
        if (ranks.Rank() == 0) {
          Mark(messages_[j], static_cast<std::uint32_t>(i));
          MPI_Isend(&messages_[j], sizeof(T), MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests_[j]);
        } else {
          MPI_Irecv(&messages_[j], sizeof(T), MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests_[j]);
        }
      }
      MPI_Waitall(window, requests_.data(), MPI_STATUSES_IGNORE);
      if (ranks.Rank() == 0) {
        MPI_Recv(&answer, 1, MPI_CHAR, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      } else {
        for (const T& message : messages_) sum += Check(message);
        MPI_Send(&answer, 1, MPI_CHAR, peer, 1, MPI_COMM_WORLD);
      }
    }
    const double time = Span(start, uit::Now());
    if (ranks.Rank() == 1 && sum != window * num_windows * (num_windows + 1)) std::abort();
    return time / static_cast<double>(num_windows * window);
  }

 private:
  std::vector<T> messages_ = std::vector<T>(window);
  std::vector<MPI_Request> requests_ = std::vector<MPI_Request>(window);
};

}  // namespace bench::hand
