#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <mpi.h>

#include <uit/link/world.hpp>
#include <uit/mpi/await.hpp>
#include <uit/mpi/error.hpp>
#include <uit/mpi/keep.hpp>
#include <uit/mpi/probe.hpp>

namespace uit::mpi {

/// One exchange of each process with each other, by messages from one to another. Never blocks inside MPI.
class SurvivorExchange {
 public:
  /// Sends outgoing[r] to the process that `communicator` calls peers[r]. `own` is this process's number in both.
  SurvivorExchange(MPI_Comm communicator, int tag, std::vector<int> peers, std::size_t own, std::vector<Bytes> outgoing)
      : communicator_(communicator),
        tag_(tag),
        peers_(std::move(peers)),
        own_(own),
        buffers_(std::make_shared<Buffers>()),
        sends_(peers_.size(), MPI_REQUEST_NULL),
        receives_(peers_.size(), MPI_REQUEST_NULL),
        has_come_(peers_.size()) {
    buffers_->incoming.resize(peers_.size());
    buffers_->incoming[own_] = std::move(outgoing[own_]);
    has_come_[own_] = true;
    buffers_->outgoing = std::move(outgoing);
  }
  SurvivorExchange(const SurvivorExchange&) = delete;
  SurvivorExchange& operator=(const SurvivorExchange&) = delete;
  /// Keeps the buffers that MPI may still use.
  ~SurvivorExchange() {
    const auto is_pending = [](MPI_Request request) { return request != MPI_REQUEST_NULL; };
    if (std::ranges::any_of(sends_, is_pending) || std::ranges::any_of(receives_, is_pending)) Keep(std::move(buffers_));
  }

  /// Returns whether all messages have gone and come. Never waits.
  bool TryFinish() {
    if (!std::exchange(has_started_, true)) StartSends();
    bool is_complete = true;
    for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
      has_come_[rank] = has_come_[rank] || TryStart(rank);
      is_complete &= has_come_[rank] && (receives_[rank] == MPI_REQUEST_NULL || IsComplete(receives_[rank]));
      is_complete &= sends_[rank] == MPI_REQUEST_NULL || IsComplete(sends_[rank]);
    }
    return is_complete;
  }
  /// Returns by rank what the others have sent, after TryFinish.
  std::vector<Bytes> TakeIncoming() { return std::move(buffers_->incoming); }

 private:
  struct Buffers {
    std::vector<Bytes> outgoing;
    std::vector<Bytes> incoming;
  };

  void StartSends() {
    for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
      if (rank == own_) continue;
      const Bytes& bytes = buffers_->outgoing[rank];
      Check(MPI_Isend(bytes.data(), CheckedCount(bytes.size()), MPI_BYTE, peers_[rank], tag_, communicator_, &sends_[rank]),
            "MPI_Isend");
    }
  }
  /// If a message has come, starts to receive it.
  bool TryStart(std::size_t rank) {
    const std::optional<Arrival> arrival = Probe(communicator_, peers_[rank], tag_);
    if (!arrival) return false;
    Bytes& bytes = buffers_->incoming[rank];
    bytes.resize(arrival->num_bytes);
    Check(MPI_Irecv(bytes.data(), CheckedCount(bytes.size()), MPI_BYTE, peers_[rank], tag_, communicator_, &receives_[rank]), "MPI_Irecv");
    return true;
  }

  MPI_Comm communicator_;
  int tag_;
  std::vector<int> peers_;
  std::size_t own_;
  std::shared_ptr<Buffers> buffers_;
  std::vector<MPI_Request> sends_;     // by rank
  std::vector<MPI_Request> receives_;  // likewise
  std::vector<bool> has_come_;         // likewise
  bool has_started_ = false;
};

}  // namespace uit::mpi
