#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include <mpi.h>

#include <uit/config.hpp>
#include <uit/exchange/world.hpp>
#include <uit/mpi/error.hpp>

namespace uit::mpi {

/// The processes of a job that share this one's memory, and windows of memory that they all see.
///
/// The environment variable UIT_SHARED_MEMORY=0 keeps a process out of it, so that it is as if on a node of its own.
class NodeGroup {
 public:
  /// Finds them among those of `communicator`, whose ranks are spoken of from here on. Collective.
  explicit NodeGroup(MPI_Comm communicator) {
    int rank = 0;
    Check(MPI_Comm_rank(communicator, &rank), "MPI_Comm_rank");
    const char* wish = std::getenv("UIT_SHARED_MEMORY");
    const bool is_off = wish != nullptr && std::string_view(wish) == "0";
    Check(MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &communicator_),
          "MPI_Comm_split_type");
    MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
    // Those who share memory with us and want to, in order of rank, because the split has ordered them so.
    MPI_Comm willing = MPI_COMM_NULL;
    Check(MPI_Comm_split(communicator_, is_off ? MPI_UNDEFINED : 0, rank, &willing), "MPI_Comm_split");
    MPI_Comm_free(&communicator_);
    communicator_ = willing;
    if (willing == MPI_COMM_NULL) return;
    Check(MPI_Comm_set_errhandler(willing, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    int size = 0;
    Check(MPI_Comm_size(willing, &size), "MPI_Comm_size");
    std::vector<int> ranks(static_cast<std::size_t>(size));
    Check(MPI_Allgather(&rank, 1, MPI_INT, ranks.data(), 1, MPI_INT, willing), "MPI_Allgather");
    ranks_.assign(ranks.begin(), ranks.end());
  }
  NodeGroup(const NodeGroup&) = delete;
  NodeGroup& operator=(const NodeGroup&) = delete;
  /// Gives the communicator back unless MPI has ended.
  ~NodeGroup() {
    int is_over = 0;
    MPI_Finalized(&is_over);
    if (is_over == 0 && communicator_ != MPI_COMM_NULL) MPI_Comm_free(&communicator_);
  }

  /// In the job, ascending; none, if this process shares no memory.
  const std::vector<std::size_t>& Ranks() const { return ranks_; }

  /// Opens a window of `num_bytes` of this process's and as many as they want of the others'. Null, and with no memory,
  /// if MPI cannot, or if it is not wanted here. Collective over Ranks.
  NodeMemory OpenWindow(std::size_t num_bytes, MPI_Win& window) const {
    window = MPI_WIN_NULL;
    if (communicator_ == MPI_COMM_NULL) return {};
    MPI_Info info = MPI_INFO_NULL;
    Check(MPI_Info_create(&info), "MPI_Info_create");
    MPI_Info_set(info, "alloc_shared_noncontig", "true");  // each part on pages of its own
    void* mine = nullptr;
    const int code = MPI_Win_allocate_shared(static_cast<MPI_Aint>(num_bytes + cache_line), 1, info, communicator_,
                                             &mine, &window);
    MPI_Info_free(&info);
    int can_all = code == MPI_SUCCESS ? 1 : 0;
    Check(MPI_Allreduce(MPI_IN_PLACE, &can_all, 1, MPI_INT, MPI_MIN, communicator_), "MPI_Allreduce");
    if (can_all == 0) return {};  // where some have a window, it stays: only all could give it back
    Check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window), "MPI_Win_lock_all");
    NodeMemory memory;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      MPI_Aint size = 0;
      int unit = 0;
      void* base = nullptr;
      Check(MPI_Win_shared_query(window, static_cast<int>(i), &size, &unit, &base), "MPI_Win_shared_query");
      auto room = static_cast<std::size_t>(size);
      base = std::align(cache_line, room - cache_line, base, room);
      memory.emplace(ranks_[i], MutableByteView{static_cast<std::byte*>(base), static_cast<std::size_t>(size) - cache_line});
    }
    return memory;
  }
  /// Gives a window back. Collective over Ranks, and only once all have come this far: it waits inside MPI.
  static void CloseWindow(MPI_Win& window) {
    if (window == MPI_WIN_NULL) return;
    Check(MPI_Win_unlock_all(window), "MPI_Win_unlock_all");
    Check(MPI_Win_free(&window), "MPI_Win_free");
  }

 private:
  MPI_Comm communicator_ = MPI_COMM_NULL;
  std::vector<std::size_t> ranks_;
};

}  // namespace uit::mpi
