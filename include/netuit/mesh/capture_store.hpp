#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include <netuit/mesh/partition.hpp>

namespace netuit::detail {

/// The copies of a field's values that a process has taken during runs. Each thread copies the values of its own nodes.
class CaptureStore {
 public:
  /// Of the field whose values are at `values`, in `num_slots` slots of `num_bytes` bytes, at each `every`-th cut; at most `most`.
  CaptureStore(const std::byte* values, std::size_t num_bytes, std::size_t num_slots, std::uint64_t every, std::size_t most,
               std::size_t num_threads)
      : values_(values),
        num_bytes_(num_bytes),
        frame_bytes_(num_slots * num_bytes),
        every_(every),
        most_(most),
        copies_(std::make_unique_for_overwrite<std::byte[]>(most * frame_bytes_)),
        by_thread_(num_threads) {
    for (Taken& taken : by_thread_) taken.num_updates.resize(most);
  }

  /// Returns the number of updates between two copies.
  std::uint64_t Every() const { return every_; }
  /// Copies the values of a thread's nodes after so many updates, as its next frame, if there is room for one.
  void Take(std::size_t thread, const Partition& partition, std::uint64_t num_updates) {
    Taken& taken = by_thread_[thread];
    if (taken.count == most_) {
      ++taken.num_missed;
      return;
    }
    const std::size_t at = partition.networks.front()->first_slot * num_bytes_;
    std::memcpy(copies_.get() + taken.count * frame_bytes_ + at, values_ + at, partition.NumNodes() * num_bytes_);
    taken.num_updates[taken.count++] = num_updates;
  }

  // Between runs.

  /// Returns the number of frames that all threads of this process have.
  std::size_t Count() const {
    std::size_t count = most_;
    for (const Taken& taken : by_thread_) count = taken.count < count ? taken.count : count;
    return count;
  }
  /// Returns the number of frames for which there was no room, for the thread that had most.
  std::uint64_t NumMissed() const {
    std::uint64_t most = 0;
    for (const Taken& taken : by_thread_) most = taken.num_missed > most ? taken.num_missed : most;
    return most;
  }
  /// Forgets all frames but the first `count`.
  void Keep(std::size_t count) {
    for (Taken& taken : by_thread_) taken.count = count;
  }
  /// Forgets all frames, also those that were missed.
  void Clear() {
    for (Taken& taken : by_thread_) taken.count = taken.num_missed = 0;
  }
  /// Returns a value in a frame.
  const std::byte* Value(std::size_t frame, std::size_t slot) const {
    return copies_.get() + frame * frame_bytes_ + slot * num_bytes_;
  }
  /// Returns the number of updates that a thread had made.
  std::uint64_t NumUpdates(std::size_t frame, std::size_t thread) const { return by_thread_[thread].num_updates[frame]; }

 private:
  struct alignas(64) Taken {
    std::size_t count = 0;
    std::uint64_t num_missed = 0;
    std::vector<std::uint64_t> num_updates;  // by frame
  };

  const std::byte* values_;
  std::size_t num_bytes_;
  std::size_t frame_bytes_;
  std::uint64_t every_;
  std::size_t most_;
  std::unique_ptr<std::byte[]> copies_;  // by frame and slot
  std::vector<Taken> by_thread_;
};

}  // namespace netuit::detail
