#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <mpi.h>

#include <uit/link/world.hpp>
#include <uit/mpi/await.hpp>
#include <uit/mpi/error.hpp>
#include <uit/support/pause.hpp>

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

/// The method of the HPC Challenge's program, under its rule: a process stores 1024 updates at most. Then it sends those for the
/// process that gets most of them. It looks for a message before each update. The last message to each process is empty.
class ByMessages {
 public:
  explicit ByMessages(const uit::World& world)
      : rank_(world.Rank()), stored_(world.Size()), incoming_(most_stored), ends_(world.Size(), MPI_REQUEST_NULL) {}

  /// A run begins after every process has ended the one before.
  void Run(UpdateStream updates, std::uint64_t num_updates, Table& table) {
    std::size_t num_going = stored_.size() - 1;
    std::size_t num_stored = 0;
    Receive();
    for (std::uint64_t i = 0; i < num_updates || num_stored != 0;) {
      while (num_going != 0 && IsReceived()) num_going -= Take(table);
      if (i == num_updates || num_stored == most_stored) {
        if (uit::mpi::IsComplete(sending_)) num_stored -= SendMost();
        continue;
      }
      const Update update = updates.Next();
      const std::size_t owner = table.OwnerOf(update);
      ++i;
      if (owner == rank_) {
        table.Apply(update);
      } else {
        stored_[owner].push_back(update);
        ++num_stored;
      }
    }
    for (std::size_t rank = 0; rank < ends_.size(); ++rank)
      if (rank != rank_)
        uit::mpi::Check(MPI_Isend(nullptr, 0, MPI_UINT64_T, static_cast<int>(rank), tag, MPI_COMM_WORLD, &ends_[rank]), "MPI_Isend");
    uit::WaitUntil([&] {
      while (num_going != 0 && IsReceived()) num_going -= Take(table);
      return num_going == 0 && uit::mpi::IsComplete(sending_);
    });
    for (MPI_Request& end : ends_) uit::mpi::Await(end);
    uit::mpi::Check(MPI_Cancel(&request_), "MPI_Cancel");
    uit::mpi::Await(request_);
  }

 private:
  static constexpr std::size_t most_stored = 1024;
  static constexpr int tag = 7;

  void Receive() {
    uit::mpi::Check(MPI_Irecv(incoming_.data(), static_cast<int>(incoming_.size()), MPI_UINT64_T, MPI_ANY_SOURCE, tag,
                              MPI_COMM_WORLD, &request_),
                    "MPI_Irecv");
  }
  bool IsReceived() {
    int is_done = 0;
    uit::mpi::Check(MPI_Test(&request_, &is_done, &status_), "MPI_Test");
    return is_done != 0;
  }
  /// Applies the updates of a message. Returns 1 if it is the last of its process.
  std::size_t Take(Table& table) {
    int count = 0;
    uit::mpi::Check(MPI_Get_count(&status_, MPI_UINT64_T, &count), "MPI_Get_count");
    for (int i = 0; i < count; ++i) table.Apply(incoming_[static_cast<std::size_t>(i)]);
    Receive();
    return count == 0 ? 1 : 0;
  }
  /// Returns how many updates it sends.
  std::size_t SendMost() {
    const auto most = std::ranges::max_element(stored_, {}, [](const auto& updates) { return updates.size(); });
    outgoing_.clear();
    outgoing_.swap(*most);
    uit::mpi::Check(MPI_Isend(outgoing_.data(), static_cast<int>(outgoing_.size()), MPI_UINT64_T,
                              static_cast<int>(most - stored_.begin()), tag, MPI_COMM_WORLD, &sending_),
                    "MPI_Isend");
    return outgoing_.size();
  }

  std::size_t rank_;
  std::vector<std::vector<Update>> stored_;  // by the process that gets them
  std::vector<Update> outgoing_{};
  std::vector<Update> incoming_;
  std::vector<MPI_Request> ends_;
  MPI_Request request_ = MPI_REQUEST_NULL;  // of what arrives next
  MPI_Request sending_ = MPI_REQUEST_NULL;
  MPI_Status status_{};
};

}  // namespace gups
