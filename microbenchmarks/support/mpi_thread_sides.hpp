#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <utility>

#include <uit/config.hpp>

#include "isend_ring.hpp"
#include "message.hpp"
#include "thread_sides.hpp"

/// Two threads of one process that send each other messages by MPI. It must allow MPI_THREAD_MULTIPLE.
namespace bench::hand {

/// A communicator for two threads of this process.
class Communicator {
 public:
  Communicator() { MPI_Comm_dup(MPI_COMM_SELF, &communicator_); }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator() { MPI_Comm_free(&communicator_); }
  operator MPI_Comm() const { return communicator_; }

 private:
  MPI_Comm communicator_ = MPI_COMM_NULL;
};

/// MPI_Isend and MPI_Irecv. Messages are written and read in place.
template <typename T>
class alignas(2 * uit::cache_line) ThreadIsendSide {
 public:
  ThreadIsendSide(std::shared_ptr<Communicator> communicator, std::size_t num_bytes, std::size_t num_credits, Tags tags)
      : communicator_{std::move(communicator)}, num_bytes_{num_bytes}, ring_{*communicator_, 0, num_bytes, num_credits, tags} {}

  bool TrySend(std::uint32_t number) {
    std::byte* const room = ring_.Room();
    if (room == nullptr) return false;
    if constexpr (std::ranges::range<T>)
      Mark(std::span{reinterpret_cast<std::uint64_t*>(room), num_bytes_ / word}, number);
    else
      Mark(*reinterpret_cast<T*>(room), number);
    ring_.Send(num_bytes_);
    return true;
  }
  bool TryTake(std::uint64_t& sum) {
    const std::byte* const arrived = ring_.Arrived();
    if (arrived == nullptr) return false;
    if constexpr (std::ranges::range<T>)
      sum += Check(std::span{reinterpret_cast<const std::uint64_t*>(arrived), num_bytes_ / word});
    else
      sum += Check(*reinterpret_cast<const T*>(arrived));
    ring_.Release();
    return true;
  }
  bool TryFlush() { return true; }

 private:
  static constexpr std::size_t word = sizeof(std::uint64_t);

  std::shared_ptr<Communicator> communicator_;  // stays until the ring has ended
  std::size_t num_bytes_;
  IsendRing ring_;
};

/// MPI_Send and MPI_Recv: they wait, so a take is always one.
template <typename T>
class alignas(2 * uit::cache_line) SendReceiveSide {
 public:
  SendReceiveSide(std::shared_ptr<Communicator> communicator, std::size_t num_bytes, Tags tags)
      : communicator_{std::move(communicator)}, num_bytes_{static_cast<int>(num_bytes)}, tags_{tags},
        message_{MakeMessage<T>(num_bytes)} {}

  bool TrySend(std::uint32_t number) {
    Mark(message_, number);
    MPI_Send(Data(), num_bytes_, MPI_BYTE, 0, tags_.out, *communicator_);
    return true;
  }
  bool TryTake(std::uint64_t& sum) {
    MPI_Recv(Data(), num_bytes_, MPI_BYTE, 0, tags_.in, *communicator_, MPI_STATUS_IGNORE);
    sum += Check(message_);
    return true;
  }
  bool TryFlush() { return true; }

 private:
  void* Data() {
    if constexpr (std::ranges::range<T>) return message_.data();
    else return &message_;
  }

  std::shared_ptr<Communicator> communicator_;
  int num_bytes_;
  Tags tags_;
  T message_;
};

/// Two such sides. `options` come after the message's size.
template <typename S, typename... Options>
SidePair<S> MakeThreadSides(std::size_t num_bytes, Options... options) {
  const auto communicator = std::make_shared<Communicator>();
  return {std::make_unique<S>(communicator, num_bytes, options..., Tags{.out = 0, .in = 1}),
          std::make_unique<S>(communicator, num_bytes, options..., Tags{.out = 1, .in = 0})};
}

}  // namespace bench::hand
