#pragma once

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <mpi.h>

#include <uit/config.hpp>
#include <uit/mpi/await.hpp>
#include <uit/mpi/collective.hpp>
#include <uit/mpi/error.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/support/simulation.hpp>
#include <uit/link/process_state.hpp>
#include <uit/link/world.hpp>

namespace uit::mpi {

/// The processes of a job that share memory with this one, and the memory windows that they all see. A window that is
/// given back is kept and lent again, because to open one, MPI makes the processes wait for each other in a spinning loop.
///
/// A process that takes no part is treated as alone on its host. A simulated process never takes part.
class HostGroup {
 public:
  /// Finds these processes among those of `communicator`. All ranks below are ranks in `communicator`. Collective.
  HostGroup(MPI_Comm communicator, std::shared_ptr<ProcessState> process, bool takes_part) : process_(std::move(process)) {
    int rank = 0;
    Check(MPI_Comm_rank(communicator, &rank), "MPI_Comm_rank");
    rank_ = static_cast<std::size_t>(rank);
    const bool is_off = is_simulated || !takes_part;
    const PeerWatch::Blocking blocking(process_->Watch(), "MPI_Comm_split");
    Check(MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &communicator_),
          "MPI_Comm_split_type");
    Check(MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    // The processes that share memory with this one and take part, ordered by rank, because the split orders them so.
    MPI_Comm willing = MPI_COMM_NULL;
    Check(MPI_Comm_split(communicator_, is_off ? MPI_UNDEFINED : 0, rank, &willing), "MPI_Comm_split");
    Check(MPI_Comm_free(&communicator_), "MPI_Comm_free");
    communicator_ = willing;
    if (willing == MPI_COMM_NULL) return;
    Check(MPI_Comm_set_errhandler(willing, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    int size = 0;
    Check(MPI_Comm_size(willing, &size), "MPI_Comm_size");
    std::vector<int> ranks(static_cast<std::size_t>(size));
    Check(MPI_Allgather(&rank, 1, MPI_INT, ranks.data(), 1, MPI_INT, willing), "MPI_Allgather");
    ranks_.assign(ranks.begin(), ranks.end());
    Check(MPI_Comm_dup(willing, &agreement_), "MPI_Comm_dup");
  }
  HostGroup(const HostGroup&) = delete;
  HostGroup& operator=(const HostGroup&) = delete;
  /// Gives all windows and communicators back; this is collective, see MayFreeTogether. If MPI fails, notes the error in the
  /// process's state.
  ~HostGroup() {
    if (communicator_ == MPI_COMM_NULL || !MayFreeTogether(*process_)) return;
    const PeerWatch::Blocking blocking(process_->Watch(), "MPI_Win_free");
    for (Window& window : windows_) {
      Close(window);
      if (process_->HasFailed()) return;
    }
    for (MPI_Comm* mine : {&agreement_, &communicator_}) Try(MPI_Comm_free(mine), "MPI_Comm_free");
  }

  /// The ranks of these processes in the job, ascending. Empty if this process shares no memory.
  const std::vector<std::size_t>& Ranks() const { return ranks_; }

  /// Lends a window and returns its number: at least `num_bytes` of this process, and as many bytes of each other process
  /// as it asked for. Returns no memory, on all processes of the group, if MPI cannot provide it or this process takes no
  /// part. Collective over Ranks.
  HostMemory Lend(std::size_t num_bytes, std::size_t& number) {
    if (communicator_ == MPI_COMM_NULL) return {};
    number = FindFree(num_bytes);
    if (number == windows_.size() && !TryOpen(num_bytes)) return {};
    windows_[number].is_lent = true;
    return windows_[number].memory;
  }
  /// Takes back a window that no process uses any more. Called on all of Ranks, in the same order relative to Lend.
  void TakeBack(std::size_t number) { windows_[number].is_lent = false; }

 private:
  struct Window {
    MPI_Win handle = MPI_WIN_NULL;
    HostMemory memory{};
    bool is_locked = false;
    bool is_lent = false;
  };

  /// If a call failed, notes the error and returns false.
  bool Try(int code, const char* call) {
    if (code != MPI_SUCCESS) process_->Note(Error(code, call).what());
    return code == MPI_SUCCESS;
  }
  /// Returns the first window that is not lent and in which every process has as many bytes as it asks for, or the number of windows.
  std::size_t FindFree(std::size_t num_bytes) const {
    std::vector<std::size_t> free;  // the same on all processes
    for (std::size_t i = 0; i < windows_.size(); ++i)
      if (!windows_[i].is_lent) free.push_back(i);
    std::size_t first = 0;
    do {  // at least once, because to find a window is to wait for the others
      std::uint64_t fitting = 0;
      for (std::size_t bit = 0; bit < 64 && first + bit < free.size(); ++bit)
        if (windows_[free[first + bit]].memory.at(rank_).size() >= num_bytes) fitting |= std::uint64_t{1} << bit;
      fitting = CommonBits(fitting);
      if (fitting != 0) return free[first + static_cast<std::size_t>(std::countr_zero(fitting))];
      first += 64;
    } while (first < free.size());
    return windows_.size();
  }
  /// The bits set on all processes. Throws at the deadline.
  std::uint64_t CommonBits(std::uint64_t mine, Deadline deadline = never) const {
    struct Bits {
      std::uint64_t mine, all;
    };
    const auto bits = std::make_shared<Bits>(Bits{mine, 0});
    const auto start = [&](MPI_Request* request) {
      return MPI_Iallreduce(&bits->mine, &bits->all, 1, MPI_UINT64_T, MPI_BAND, agreement_, request);
    };
    if (!Collective(*process_, "MPI_Iallreduce", bits, start, deadline))
      throw uit::Error("the processes of this host do not answer");
    return bits->all;
  }
  /// Opens one more window. False on all processes if one of them cannot. A call that fails on some processes only does
  /// not keep them from agreeing on that.
  bool TryOpen(std::size_t num_bytes) {
    constexpr std::uint64_t is_open = 1;
    constexpr std::uint64_t is_mapped = 2;
    constexpr std::size_t least = 64 * 1024;
    const std::size_t rounded = std::bit_ceil(std::max(num_bytes, least));
    const PeerWatch::Blocking blocking(process_->Watch(), "MPI_Win_allocate_shared");
    MPI_Info info = MPI_INFO_NULL;
    const bool is_ready = MPI_Info_create(&info) == MPI_SUCCESS &&
                          MPI_Info_set(info, "alloc_shared_noncontig", "true") == MPI_SUCCESS;  // separate pages
    const bool are_ready = CommonBits(is_ready ? 1 : 0) != 0;
    Window window;
    void* mine = nullptr;
    const int code = !are_ready ? MPI_SUCCESS
                                : MPI_Win_allocate_shared(static_cast<MPI_Aint>(rounded + cache_line), 1, info,
                                                          communicator_, &mine, &window.handle);
    const bool is_freed = info == MPI_INFO_NULL || MPI_Info_free(&info) == MPI_SUCCESS;
    if (!are_ready) return false;
    const std::uint64_t common = code == MPI_SUCCESS ? CommonBits(is_open | (TryMap(window) && is_freed ? is_mapped : 0))
                                                     : CommonBitsAfter(code);
    if (common == (is_open | is_mapped)) windows_.push_back(std::move(window));
    else if (common == is_open) Close(window);
    return common == (is_open | is_mapped);  // if only some have a window, it stays open: all would have to free it
  }
  /// Called if this process may be the only one without a window, while the others wait for it in MPI.
  std::uint64_t CommonBitsAfter(int code) const {
    if (HasPeerEnded(process_->Watch())) {
      process_->Break();
      process_->Watch().Check("MPI_Win_allocate_shared");
    }
    try {
      return CommonBits(0, After(std::chrono::seconds(5)));
    } catch (const uit::Error&) {
      const Error error(code, "MPI_Win_allocate_shared");
      process_->Fail(error.what());
      throw error;
    }
  }
  /// Finds the address of each process's part of a window.
  bool TryMap(Window& window) const {
    if (MPI_Win_set_errhandler(window.handle, MPI_ERRORS_RETURN) != MPI_SUCCESS) return false;
    window.is_locked = MPI_Win_lock_all(MPI_MODE_NOCHECK, window.handle) == MPI_SUCCESS;
    if (!window.is_locked) return false;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      MPI_Aint size = 0;
      int unit = 0;
      void* base = nullptr;
      if (MPI_Win_shared_query(window.handle, static_cast<int>(i), &size, &unit, &base) != MPI_SUCCESS) return false;
      auto room = static_cast<std::size_t>(size);
      base = std::align(cache_line, room - cache_line, base, room);
      window.memory.emplace(ranks_[i],
                            MutableByteView{static_cast<std::byte*>(base), static_cast<std::size_t>(size) - cache_line});
    }
    return true;
  }
  /// Frees a window. Collective.
  void Close(Window& window) {
    if (window.is_locked) Try(MPI_Win_unlock_all(window.handle), "MPI_Win_unlock_all");
    const int code = MPI_Win_free(&window.handle);
    if (code != MPI_SUCCESS) process_->Fail(Error(code, "MPI_Win_free").what());  // the others wait in this call
  }

  std::shared_ptr<ProcessState> process_;
  MPI_Comm communicator_ = MPI_COMM_NULL;
  MPI_Comm agreement_ = MPI_COMM_NULL;  // a copy of it: if a window failed on some, others still wait on the first
  std::size_t rank_ = 0;                // in the job
  std::vector<std::size_t> ranks_;
  std::vector<Window> windows_;
};

}  // namespace uit::mpi
