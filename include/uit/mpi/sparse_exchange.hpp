#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <utility>

#include <mpi.h>

#include <uit/link/world.hpp>
#include <uit/mpi/await.hpp>
#include <uit/mpi/error.hpp>
#include <uit/mpi/keep.hpp>
#include <uit/mpi/probe.hpp>

namespace uit::mpi {

/// One exchange in which each process sends messages to some others, and none knows how many will come to it. What a process sends
/// depends on the number of its receivers, not on the number of processes.
///
/// A send of MPI_Issend completes only when its receiver has begun to receive it. So when all sends of a process are complete, all its
/// messages are being received, and it enters a barrier. When the barrier is complete, this holds for all processes, and no further
/// message will come. (Hoefler, Siebert, Lumsdaine: Scalable communication protocols for dynamic sparse data exchange, PPoPP 2010.)
/// Never blocks inside MPI.
///
/// Two exchanges that follow each other need different tags, because a process may begin the next one while another has not yet
/// noticed that this one is over.
class SparseExchange {
 public:
  /// Sends each part of `outgoing` that is not empty to its rank in `communicator`, where this process is `own`.
  SparseExchange(MPI_Comm communicator, int tag, std::size_t own, BytesByRank outgoing)
      : communicator_(communicator), tag_(tag), buffers_(std::make_shared<Buffers>()) {
    std::erase_if(outgoing, [](const auto& part) { return part.second.empty(); });
    buffers_->incoming.insert(outgoing.extract(own));
    buffers_->outgoing = std::move(outgoing);
  }
  SparseExchange(const SparseExchange&) = delete;
  SparseExchange& operator=(const SparseExchange&) = delete;
  /// Keeps the buffers that MPI may still use.
  ~SparseExchange() {
    if (!sends_.empty() || !receives_.empty()) Keep(std::move(buffers_));
  }

  /// Returns whether all messages of all processes have gone and come. Never waits.
  bool TryFinish() {
    if (!std::exchange(has_started_, true)) StartSends();
    while (TryStartReceive()) {
    }
    std::erase_if(sends_, IsComplete);
    std::erase_if(receives_, IsComplete);
    if (!sends_.empty()) return false;
    if (!std::exchange(has_entered_, true)) Check(MPI_Ibarrier(communicator_, &barrier_), "MPI_Ibarrier");
    return IsComplete(barrier_) && receives_.empty();
  }
  /// Returns by rank what has come, after TryFinish.
  BytesByRank TakeIncoming() { return std::move(buffers_->incoming); }

 private:
  struct Buffers {
    BytesByRank outgoing;
    BytesByRank incoming;
  };

  void StartSends() {
    for (const auto& [rank, bytes] : buffers_->outgoing)
      Check(MPI_Issend(bytes.data(), CheckedCount(bytes.size()), MPI_BYTE, static_cast<int>(rank), tag_, communicator_,
                       &sends_.emplace_back(MPI_REQUEST_NULL)),
            "MPI_Issend");
  }
  /// If a message has come, starts to receive it.
  bool TryStartReceive() {
    const std::optional<Arrival> arrival = Probe(communicator_, MPI_ANY_SOURCE, tag_);
    if (!arrival) return false;
    Bytes& bytes = buffers_->incoming[static_cast<std::size_t>(arrival->source)];
    bytes.resize(arrival->num_bytes);
    Check(MPI_Irecv(bytes.data(), CheckedCount(bytes.size()), MPI_BYTE, arrival->source, tag_, communicator_,
                    &receives_.emplace_back(MPI_REQUEST_NULL)),
          "MPI_Irecv");
    return true;
  }

  MPI_Comm communicator_;
  int tag_;
  std::shared_ptr<Buffers> buffers_;
  // Not yet complete. In lists, because the tests' watch over MPI knows requests by their addresses.
  std::list<MPI_Request> sends_;
  std::list<MPI_Request> receives_;
  MPI_Request barrier_ = MPI_REQUEST_NULL;
  bool has_started_ = false;
  bool has_entered_ = false;
};

}  // namespace uit::mpi
