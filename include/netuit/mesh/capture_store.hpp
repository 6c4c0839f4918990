#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <uit/config.hpp>

namespace netuit {
struct Partition;
}  // namespace netuit

namespace netuit::detail {

/// The copies of a field's values that a process has taken during runs. Each thread copies the values of its own nodes.
class CaptureStore {
 public:
  /// Of the field whose values are at `values`, in `num_slots` slots of `num_bytes` bytes, at each `every`-th cut; at most `most`.
  CaptureStore(const std::byte* values, std::size_t num_bytes, std::size_t num_slots, std::uint64_t every, std::size_t most,
               std::size_t num_threads);
  CaptureStore(const CaptureStore&) = delete;
  CaptureStore& operator=(const CaptureStore&) = delete;
  ~CaptureStore();

  /// Returns the number of updates between two copies.
  std::uint64_t Every() const { return every_; }
  /// Copies the values of a thread's nodes after so many updates, as its next frame, if there is room for one.
  void Take(std::size_t thread, const Partition& partition, std::uint64_t num_updates);

  // Between runs.

  /// Returns the number of frames that all threads of this process have.
  std::size_t Count() const;
  /// Returns the number of frames for which there was no room, for the thread that had most.
  std::uint64_t NumMissed() const;
  /// Forgets all frames but the first `count`.
  void Keep(std::size_t count);
  /// Forgets all frames, also those that were missed.
  void Clear();
  /// Returns a value in a frame.
  const std::byte* Value(std::size_t frame, std::size_t slot) const {
    return copies_.get() + frame * frame_bytes_ + slot * num_bytes_;
  }
  /// Returns the number of updates that a thread had made.
  std::uint64_t NumUpdates(std::size_t frame, std::size_t thread) const;

 private:
  struct Taken;

  const std::byte* values_;
  std::size_t num_bytes_;
  std::size_t frame_bytes_;
  std::uint64_t every_;
  std::size_t most_;
  std::unique_ptr<std::byte[]> copies_;  // by frame and slot
  std::vector<Taken> by_thread_;
};

}  // namespace netuit::detail

#if !UIT_COMPILED
#include <netuit/mesh/capture_store.ipp>
#endif
