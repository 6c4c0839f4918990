#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "ranks.hpp"

/// A value that rank 0 puts into rank 1's memory, through a window that stays open.
///
/// Puts are not ordered. If one must be seen after another, it waits for MPI_Win_flush, which returns when the other has arrived.
/// If only the writer's own memory must become free, MPI_Win_flush_local suffices.
namespace bench::hand {

/// Rank 1's memory, which holds one `T`.
template <typename T>
class OpenWindow {
 public:
  explicit OpenWindow(int rank) {
    MPI_Win_allocate(rank == 1 ? sizeof(T) : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &object_, &window_);
    if (rank == 1) *object_ = T{};
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
  }
  OpenWindow(const OpenWindow&) = delete;
  OpenWindow& operator=(const OpenWindow&) = delete;
  ~OpenWindow() {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }

  template <typename Part>
  void Put(std::size_t offset, const Part& part) {
    const int count = static_cast<int>(sizeof part);
    MPI_Put(&part, count, MPI_BYTE, 1, static_cast<MPI_Aint>(offset), count, MPI_BYTE, window_);
  }
  void Flush() { MPI_Win_flush(1, window_); }
  void FlushLocal() { MPI_Win_flush_local(1, window_); }

  /// Lets puts arrive. Rank 1 calls it before it reads.
  void Progress() {
    // MPICH over UCX moves a put only while the reader is inside MPI.
    int is_there = 0;
    if (needs_calls_) MPI_Iprobe(0, 0, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
    Sync();
  }
  /// Orders reads before it ahead of reads after it. Rank 1 only.
  void Sync() { MPI_Win_sync(window_); }
  [[nodiscard]] const volatile T& Now() const { return *object_; }
  /// The same for a whole copy.
  [[nodiscard]] const T& Object() const { return *object_; }

 private:
  MPI_Win window_ = MPI_WIN_NULL;
  T* object_ = nullptr;
  bool needs_calls_ = MpiName().starts_with("MPICH");
};

/// The value without protection: a reader may see half of it.
template <typename T>
class BarePut {
 public:
  explicit BarePut(int rank) : window_{rank} {}

  void Write(const T& value) {
    window_.Put(0, value);
    window_.FlushLocal();
  }
  bool Read(T& value) {
    window_.Progress();
    value = window_.Object();
    return true;
  }

 private:
  OpenWindow<T> window_;
};

/// One slot between two version words. A reader accepts its copy if both words are equal.
template <typename T>
class VersionedPut {
 public:
  explicit VersionedPut(int rank) : window_{rank} {}

  void Write(const T& value) {
    ++version_;
    window_.Put(offsetof(Slot, begun), version_);
    window_.Flush();  // before any of the value
    window_.Put(offsetof(Slot, value), value);
    window_.Flush();  // before the other word
    window_.Put(offsetof(Slot, done), version_);
    window_.FlushLocal();
  }
  /// False if the value is being written.
  bool Read(T& value) {
    window_.Progress();
    const std::uint64_t done = window_.Now().done;
    window_.Sync();
    value = window_.Object().value;
    window_.Sync();
    return window_.Now().begun == done;
  }

 private:
  struct Slot {
    std::uint64_t begun = 0;
    T value{};
    std::uint64_t done = 0;
  };
  OpenWindow<Slot> window_;
  std::uint64_t version_ = 0;
};

/// Four slots in turn, and the number of the newest, with one flush between slot and number.
template <typename T>
class SlotsPut {
 public:
  explicit SlotsPut(int rank) : window_{rank} {}

  void Write(const T& value) {
    ++newest_;
    window_.Put(offsetof(Slots, values) + newest_ % num_slots * sizeof(T), value);
    window_.Flush();  // before its number, and after that of the previous slot
    window_.Put(offsetof(Slots, newest), newest_);
    window_.FlushLocal();
  }
  /// False if the slot may have been overwritten during the copy.
  bool Read(T& value) {
    window_.Progress();
    const std::uint64_t newest = window_.Now().newest;
    window_.Sync();
    value = window_.Object().values[newest % num_slots];
    window_.Sync();
    // While n is the newest visible number, value n + 2 may be in flight into the slot of n - 2, but no later value.
    return window_.Now().newest - newest <= 1;
  }

 private:
  static constexpr std::uint64_t num_slots = 4;
  struct Slots {
    std::uint64_t newest = 0;
    std::array<T, num_slots> values{};
  };
  OpenWindow<Slots> window_;
  std::uint64_t newest_ = 0;
};

}  // namespace bench::hand
