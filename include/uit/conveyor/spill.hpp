#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>

namespace uit::detail {

/// Queues of items, one for each destination, that share places. The places are allocated in pieces when they are first needed, and
/// kept.
template <TriviallyCopyable T>
class Spill {
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  struct Place {
    T item{};
    std::uint32_t next = none;
  };

 public:
  /// Bytes of an item that waits.
  static constexpr std::size_t place_bytes = sizeof(Place);

  /// Queues for so many destinations, of at most `max_items` together. Throws InputError if that is 0.
  Spill(std::size_t num_destinations, std::size_t max_items)
      : queues_(num_destinations), max_items_(std::min<std::size_t>(max_items, none)) {
    if (max_items == 0) throw InputError("the spill of a conveyor needs at least one place");
  }

  std::size_t NumFree() const { return max_items_ - size_; }
  std::size_t Size() const { return size_; }
  std::size_t MaxItems() const { return max_items_; }
  std::size_t NumBytes() const { return num_places_ * place_bytes; }
  bool IsEmpty(std::size_t destination) const { return queues_[destination].first == none; }
  /// Returns the oldest item of a queue that is not empty.
  const T& Front(std::size_t destination) const { return At(queues_[destination].first).item; }
  /// Appends to a queue. Returns false if all places are taken. Throws std::bad_alloc if the system gives no memory.
  bool TryPush(std::size_t destination, const T& item) {
    if (first_free_ == none && !TryGrow()) return false;
    const std::uint32_t place = first_free_;
    first_free_ = At(place).next;
    At(place) = {item, none};
    Queue& queue = queues_[destination];
    (queue.first == none ? queue.first : At(queue.last).next) = place;
    queue.last = place;
    ++size_;
    return true;
  }
  /// Removes the oldest item of a queue that is not empty.
  void Pop(std::size_t destination) {
    Queue& queue = queues_[destination];
    const std::uint32_t place = queue.first;
    queue.first = At(place).next;
    At(place).next = first_free_;
    first_free_ = place;
    --size_;
  }

 private:
  static constexpr std::size_t piece_items = 4096;
  struct Queue {
    std::uint32_t first = none;
    std::uint32_t last = none;
  };

  Place& At(std::uint32_t place) { return pieces_[place / piece_items][place % piece_items]; }
  const Place& At(std::uint32_t place) const { return pieces_[place / piece_items][place % piece_items]; }
  /// Adds a piece, of which all places are free. Returns false if there are as many as there may be.
  UIT_NOINLINE bool TryGrow() {
    const std::size_t count = std::min(piece_items, max_items_ - num_places_);
    if (count == 0) return false;
    std::vector<Place> piece(count);
    for (std::size_t i = 0; i + 1 < count; ++i) piece[i].next = static_cast<std::uint32_t>(num_places_ + i + 1);
    pieces_.push_back(std::move(piece));
    first_free_ = static_cast<std::uint32_t>(num_places_);
    num_places_ += count;
    return true;
  }

  std::vector<std::vector<Place>> pieces_;  // all but the last have piece_items places
  std::vector<Queue> queues_;
  std::size_t max_items_;
  std::size_t num_places_ = 0;
  std::size_t size_ = 0;
  std::uint32_t first_free_ = none;
};

}  // namespace uit::detail
