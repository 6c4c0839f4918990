#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>

namespace uit::detail {

/// Queues of items, one for each destination, that share a fixed number of places. Makes no allocation after its construction.
template <TriviallyCopyable T>
class Spill {
 public:
  /// Throws InputError if `num_places` is 0 or too large.
  Spill(std::size_t num_destinations, std::size_t num_places) : queues_(num_destinations), num_free_(num_places) {
    if (num_places == 0 || num_places >= none) throw InputError("the spill of a conveyor needs between 1 and 2^32 - 2 places");
    places_.resize(num_places);
    for (std::size_t i = 0; i < num_places; ++i) places_[i].next = i + 1 < num_places ? static_cast<std::uint32_t>(i + 1) : none;
    first_free_ = 0;
  }

  std::size_t NumFree() const { return num_free_; }
  std::size_t Size() const { return places_.size() - num_free_; }
  std::size_t NumBytes() const { return places_.size() * sizeof(Place); }
  bool IsEmpty(std::size_t destination) const { return queues_[destination].first == none; }
  /// Returns the oldest item of a queue that is not empty.
  const T& Front(std::size_t destination) const { return places_[queues_[destination].first].item; }
  /// Appends to a queue. Returns false if all places are taken.
  bool TryPush(std::size_t destination, const T& item) {
    if (first_free_ == none) return false;
    const std::uint32_t place = first_free_;
    first_free_ = places_[place].next;
    places_[place] = {item, none};
    Queue& queue = queues_[destination];
    (queue.first == none ? queue.first : places_[queue.last].next) = place;
    queue.last = place;
    --num_free_;
    return true;
  }
  /// Removes the oldest item of a queue that is not empty.
  void Pop(std::size_t destination) {
    Queue& queue = queues_[destination];
    const std::uint32_t place = queue.first;
    queue.first = places_[place].next;
    places_[place].next = first_free_;
    first_free_ = place;
    ++num_free_;
  }

 private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  struct Place {
    T item{};
    std::uint32_t next = none;
  };
  struct Queue {
    std::uint32_t first = none;
    std::uint32_t last = none;
  };

  std::vector<Place> places_;
  std::vector<Queue> queues_;
  std::uint32_t first_free_ = none;
  std::size_t num_free_;
};

}  // namespace uit::detail
