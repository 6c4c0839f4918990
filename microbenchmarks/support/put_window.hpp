#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "ranks.hpp"

namespace bench::hand {

/// A value that rank 0 puts into rank 1's memory, by a window that is open for good. With versions a reader sees
/// whole values only.
template <typename T, bool is_versioned>
class PutWindow {
 public:
  explicit PutWindow(int rank) {
    MPI_Win_allocate(rank == 1 ? sizeof(Slot) : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &slot_, &window_);
    if (rank == 1) *slot_ = Slot{};
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
  }
  PutWindow(const PutWindow&) = delete;
  PutWindow& operator=(const PutWindow&) = delete;
  ~PutWindow() {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }

  void Write(const T& value) {
    if constexpr (!is_versioned) {
      PutAt(offsetof(Slot, value), &value, sizeof value);
      MPI_Win_flush_local(1, window_);
    } else {
      ++version_;
      PutAt(offsetof(Slot, begun), &version_, sizeof version_);
      MPI_Win_flush(1, window_);
      PutAt(offsetof(Slot, value), &value, sizeof value);
      MPI_Win_flush(1, window_);
      PutAt(offsetof(Slot, done), &version_, sizeof version_);
      MPI_Win_flush(1, window_);
    }
  }
  /// False if the value is being written.
  bool Read(T& value) {
    // MPICH over UCX moves a put only while the reader is inside MPI.
    int is_there = 0;
    if (needs_calls_) MPI_Iprobe(0, 0, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
    MPI_Win_sync(window_);
    const volatile Slot& slot = *slot_;
    const std::uint64_t done = slot.done;
    MPI_Win_sync(window_);
    value = slot_->value;
    MPI_Win_sync(window_);
    return !is_versioned || slot.begun == done;
  }

 private:
  struct Slot {
    std::uint64_t begun = 0;
    T value{};
    std::uint64_t done = 0;
  };
  void PutAt(std::size_t offset, const void* bytes, std::size_t size) {
    const int count = static_cast<int>(size);
    MPI_Put(bytes, count, MPI_BYTE, 1, static_cast<MPI_Aint>(offset), count, MPI_BYTE, window_);
  }

  MPI_Win window_ = MPI_WIN_NULL;
  Slot* slot_ = nullptr;
  std::uint64_t version_ = 0;
  bool needs_calls_ = MpiName().starts_with("MPICH");
};

}  // namespace bench::hand
