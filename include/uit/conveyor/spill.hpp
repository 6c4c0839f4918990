#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>

namespace uit::detail {

/// Queues of items, one for each destination, in chunks that they share. Chunks are allocated when they are first needed, and kept.
template <TriviallyCopyable T>
class Spill {
 public:
  /// Bytes of an item that waits, at most. A queue may have a chunk at each end that is not full.
  static constexpr std::size_t place_bytes = (3 * sizeof(T) + 1) / 2 + 1;

  /// Queues for so many destinations, of at most `max_items` together. Throws InputError if that is 0.
  Spill(std::size_t num_destinations, std::size_t max_items)
      : queues_(num_destinations),
        max_items_(max_items),
        chunk_items_(static_cast<std::uint32_t>(std::clamp<std::size_t>(max_items / (4 * num_destinations + 1), 1, 256))) {
    if (max_items == 0) throw InputError("the spill of a conveyor needs at least one place");
  }

  std::size_t MaxItems() const { return max_items_; }
  std::size_t NumFree() const { return max_items_ - size_; }
  std::size_t Size() const { return size_; }
  std::size_t NumBytes() const { return chunks_.size() * chunk_items_ * sizeof(T); }
  bool IsEmpty(std::size_t destination) const { return queues_[destination].first == none; }
  /// Returns the oldest items of a queue, not all of them. Not empty unless the queue is.
  std::span<const T> Front(std::size_t destination) {
    const Queue& queue = queues_[destination];
    if (queue.first == none) return {};
    const std::uint32_t end = queue.first == queue.last ? queue.end : chunk_items_;
    return {Items(queue.first) + queue.begin, end - queue.begin};
  }
  /// Appends to a queue. Returns false if there are max_items already. Throws std::bad_alloc if the system gives no memory.
  bool TryPush(std::size_t destination, const T& item) {
    if (size_ == max_items_) return false;
    Queue& queue = queues_[destination];
    if (queue.first == none || queue.end == chunk_items_) {
      const std::uint32_t chunk = TakeChunk();
      (queue.first == none ? queue.first : next_[queue.last]) = chunk;
      queue.last = chunk;
      queue.end = 0;
    }
    Items(queue.last)[queue.end++] = item;
    ++size_;
    return true;
  }
  /// Removes the oldest items of a queue: at most as many as Front returns.
  void Pop(std::size_t destination, std::size_t count) {
    Queue& queue = queues_[destination];
    size_ -= count;
    queue.begin += static_cast<std::uint32_t>(count);
    const bool is_last = queue.first == queue.last;
    if (queue.begin != (is_last ? queue.end : chunk_items_)) return;
    const std::uint32_t chunk = std::exchange(queue.first, is_last ? none : next_[queue.first]);
    next_[chunk] = std::exchange(first_free_, chunk);
    queue.begin = 0;
  }

 private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  struct Queue {
    std::uint32_t first = none;  // chunk
    std::uint32_t begin = 0;     // of the items in the first chunk
    std::uint32_t last = none;   // chunk
    std::uint32_t end = 0;       // of the items in the last chunk
  };

  T* Items(std::uint32_t chunk) { return chunks_[chunk].get(); }
  std::uint32_t TakeChunk() {
    if (first_free_ == none) Grow();
    return std::exchange(first_free_, next_[first_free_]);
  }
  UIT_NOINLINE void Grow() {
    chunks_.push_back(std::make_unique_for_overwrite<T[]>(chunk_items_));
    next_.resize(chunks_.size(), none);
    first_free_ = static_cast<std::uint32_t>(next_.size() - 1);
  }

  std::vector<std::unique_ptr<T[]>> chunks_;
  std::vector<std::uint32_t> next_;  // by chunk: of its queue, or of those that are free
  std::vector<Queue> queues_;
  std::size_t max_items_;
  std::uint32_t chunk_items_;
  std::size_t size_ = 0;
  std::uint32_t first_free_ = none;
};

}  // namespace uit::detail
