#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include <netuit/mesh/capture_store.hpp>
#include <netuit/mesh/partition.hpp>
#include <uit/config.hpp>

namespace netuit::detail {

struct alignas(64) CaptureStore::Taken {
  std::size_t count = 0;
  std::uint64_t num_missed = 0;
  std::vector<std::uint64_t> num_updates{};  // by frame
};

UIT_DEFINE CaptureStore::CaptureStore(const std::byte* values, std::size_t num_bytes, std::size_t num_slots, std::uint64_t every,
                                      std::size_t most, std::size_t num_threads)
    : values_(values),
      num_bytes_(num_bytes),
      frame_bytes_(num_slots * num_bytes),
      every_(every),
      most_(most),
      copies_(std::make_unique_for_overwrite<std::byte[]>(most * frame_bytes_)),
      by_thread_(num_threads) {
  for (Taken& taken : by_thread_) taken.num_updates.resize(most);
}

UIT_DEFINE CaptureStore::~CaptureStore() = default;

UIT_DEFINE void CaptureStore::Take(std::size_t thread, const Partition& partition, std::uint64_t num_updates) {
  Taken& taken = by_thread_[thread];
  if (taken.count == most_) {
    ++taken.num_missed;
    return;
  }
  const std::size_t at = partition.networks.front()->first_slot * num_bytes_;
  std::memcpy(copies_.get() + taken.count * frame_bytes_ + at, values_ + at, partition.NumNodes() * num_bytes_);
  taken.num_updates[taken.count++] = num_updates;
}

UIT_DEFINE std::size_t CaptureStore::Count() const {
  std::size_t count = most_;
  for (const Taken& taken : by_thread_) count = taken.count < count ? taken.count : count;
  return count;
}

UIT_DEFINE std::uint64_t CaptureStore::NumMissed() const {
  std::uint64_t most = 0;
  for (const Taken& taken : by_thread_) most = taken.num_missed > most ? taken.num_missed : most;
  return most;
}

UIT_DEFINE void CaptureStore::Keep(std::size_t count) {
  for (Taken& taken : by_thread_) taken.count = count;
}

UIT_DEFINE void CaptureStore::Clear() {
  for (Taken& taken : by_thread_) taken.count = taken.num_missed = 0;
}

UIT_DEFINE std::uint64_t CaptureStore::NumUpdates(std::size_t frame, std::size_t thread) const {
  return by_thread_[thread].num_updates[frame];
}

}  // namespace netuit::detail
