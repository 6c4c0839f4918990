#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>

#include <uit/support/bytes.hpp>

namespace uit::detail {

/// A queue of the items that a member of a conveyor has pushed to itself. Handlers read them where they lie. One thread uses it.
template <TriviallyCopyable T>
class OwnLane {
 public:
  /// The most items that TakeSome returns, of a queue with room for `capacity` of them.
  static constexpr std::size_t MostAtOnce(std::size_t capacity) { return std::min<std::size_t>(capacity, 256); }
  /// The number of items that it has memory for.
  static constexpr std::size_t NumSlots(std::size_t capacity) { return capacity + MostAtOnce(capacity); }

  /// Has room for `capacity` items, at least 1.
  explicit OwnLane(std::size_t capacity)
      : capacity_(capacity), num_slots_(NumSlots(capacity)), slots_(std::make_unique<T[]>(num_slots_)) {}

  /// Adds items, from the first on, as many as there is room for. Returns how many.
  std::size_t Add(std::span<const T> items) {
    const std::size_t count = std::min(items.size(), capacity_ - num_items_);
    const std::size_t num_before_end = std::min(count, num_slots_ - next_);
    std::ranges::copy(items.first(num_before_end), slots_.get() + next_);
    std::ranges::copy(items.first(count).subspan(num_before_end), slots_.get());
    next_ = After(next_, count);
    num_items_ += count;
    return count;
  }
  /// Takes up to `most` items, from the oldest on. They stay where they are until the next call, and others may be added meanwhile.
  std::span<const T> TakeSome(std::size_t most) {
    const std::size_t count = std::min({most, num_items_, num_slots_ - first_, MostAtOnce(capacity_)});
    const std::span<const T> some(slots_.get() + first_, count);
    first_ = After(first_, count);
    num_items_ -= count;
    return some;
  }

 private:
  std::size_t After(std::size_t slot, std::size_t count) const {
    return slot + count < num_slots_ ? slot + count : slot + count - num_slots_;
  }

  std::size_t capacity_;
  std::size_t num_slots_;
  std::unique_ptr<T[]> slots_;
  std::size_t first_ = 0;      // slot of the oldest item
  std::size_t next_ = 0;       // slot of the next one that is added
  std::size_t num_items_ = 0;
};

}  // namespace uit::detail
