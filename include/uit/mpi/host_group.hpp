#pragma once

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
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

/// The processes of a job that share this one's memory, and windows of memory that they all see. A window is kept when it
/// is given back, and lent again: to open one, MPI makes the processes wait for each other at full speed.
///
/// A process that keeps out of it is as if on a node of its own; a simulated process always is.
class HostGroup {
 public:
  /// Finds them among those of `communicator`, whose ranks are spoken of from here on. Collective.
  HostGroup(MPI_Comm communicator, std::shared_ptr<ProcessState> process, bool takes_part) : process_(std::move(process)) {
    int rank = 0;
    Check(MPI_Comm_rank(communicator, &rank), "MPI_Comm_rank");
    rank_ = static_cast<std::size_t>(rank);
    const bool is_off = is_simulated || !takes_part;
    const PeerWatch::Blocking blocking(process_->Watch(), "MPI_Comm_split");
    Check(MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &communicator_),
          "MPI_Comm_split_type");
    Check(MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    // Those who share memory with us and want to, in order of rank, because the split has ordered them so.
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
  /// Gives everything back, which is collective; nothing, if MPI has ended, or not all may come. If MPI fails, the process's
  /// state has it noted.
  ~HostGroup() {
    int is_over = 0;
    Try(MPI_Finalized(&is_over), "MPI_Finalized");
    if (is_over != 0 || communicator_ == MPI_COMM_NULL || process_->IsBroken() || std::uncaught_exceptions() != 0) return;
    const PeerWatch::Blocking blocking(process_->Watch(), "MPI_Win_free");
    for (Window& window : windows_) {
      Close(window);
      if (process_->HasFailed()) return;
    }
    for (MPI_Comm* mine : {&agreement_, &communicator_}) Try(MPI_Comm_free(mine), "MPI_Comm_free");
  }

  /// In the job, ascending; none, if this process shares no memory.
  const std::vector<std::size_t>& Ranks() const { return ranks_; }

  /// Lends a window of at least `num_bytes` of this process's and as many as they want of the others', and its number.
  /// None, for all of the node, if MPI cannot, or if it is not wanted here. Collective over Ranks.
  HostMemory Lend(std::size_t num_bytes, std::size_t& number) {
    if (communicator_ == MPI_COMM_NULL) return {};
    std::uint64_t fitting = 0;  // a bit per window; the windows are the same on all
    for (std::size_t i = 0; i < windows_.size() && i < 64; ++i) {
      if (!windows_[i].is_lent && windows_[i].memory.at(rank_).size() >= num_bytes) fitting |= std::uint64_t{1} << i;
    }
    fitting = CommonBits(fitting);
    if (fitting != 0) {
      number = static_cast<std::size_t>(std::countr_zero(fitting));
    } else {
      number = windows_.size();
      if (!TryOpen(num_bytes)) return {};
    }
    windows_[number].is_lent = true;
    return windows_[number].memory;
  }
  /// Takes a window back that nobody will use any more. On all of Ranks, in the same order beside Lend.
  void TakeBack(std::size_t number) { windows_[number].is_lent = false; }

 private:
  struct Window {
    MPI_Win handle = MPI_WIN_NULL;
    HostMemory memory{};
    bool is_locked = false;
    bool is_lent = false;
  };

  /// False, and noted, if a call failed.
  bool Try(int code, const char* call) {
    if (code != MPI_SUCCESS) process_->Note(Error(code, call).what());
    return code == MPI_SUCCESS;
  }
  /// The bits that all bring. Throws at the deadline.
  std::uint64_t CommonBits(std::uint64_t mine, Deadline deadline = never) const {
    struct Bits {
      std::uint64_t mine, all;
    };
    const auto bits = std::make_shared<Bits>(Bits{mine, 0});
    const auto start = [&](MPI_Request* request) {
      return MPI_Iallreduce(&bits->mine, &bits->all, 1, MPI_UINT64_T, MPI_BAND, agreement_, request);
    };
    if (!Collective(*process_, "MPI_Iallreduce", bits, start, deadline))
      throw uit::Error("the processes of this node do not answer");
    return bits->all;
  }
  /// Opens one more window. False, on all, if one of them cannot: no call that fails on some alone keeps them from
  /// agreeing on it.
  bool TryOpen(std::size_t num_bytes) {
    constexpr std::uint64_t is_open = 1;
    constexpr std::uint64_t is_mapped = 2;
    constexpr std::size_t least = 64 * 1024;
    const std::size_t rounded = std::bit_ceil(std::max(num_bytes, least));
    const PeerWatch::Blocking blocking(process_->Watch(), "MPI_Win_allocate_shared");
    MPI_Info info = MPI_INFO_NULL;
    const bool is_ready = MPI_Info_create(&info) == MPI_SUCCESS &&
                          MPI_Info_set(info, "alloc_shared_noncontig", "true") == MPI_SUCCESS;  // each on pages of its own
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
    return common == (is_open | is_mapped);  // where only some have a window, it stays: all would have to give it back
  }
  /// This process alone may have no window, while others wait in MPI for it.
  std::uint64_t CommonBitsAfter(int code) const {
    if (IsForTheDead(process_->Watch())) {
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
  /// Finds out where everybody's part of a window is.
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
  /// Gives a window back. Collective.
  void Close(Window& window) {
    if (window.is_locked) Try(MPI_Win_unlock_all(window.handle), "MPI_Win_unlock_all");
    const int code = MPI_Win_free(&window.handle);
    if (code != MPI_SUCCESS) process_->Fail(Error(code, "MPI_Win_free").what());  // others wait in it
  }

  std::shared_ptr<ProcessState> process_;
  MPI_Comm communicator_ = MPI_COMM_NULL;
  MPI_Comm agreement_ = MPI_COMM_NULL;  // of the same: where a window failed on some, the others still wait on the first
  std::size_t rank_ = 0;                // in the job
  std::vector<std::size_t> ranks_;
  std::vector<Window> windows_;
};

}  // namespace uit::mpi
