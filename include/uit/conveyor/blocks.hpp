#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <uit/support/bytes.hpp>

namespace uit::detail {

/// An item in a ring between threads.
template <TriviallyCopyable T>
struct RingSlot {
  std::uint32_t newest;
  T item;
};

/// Items for a member that are not in its lane yet. A push writes here, and so takes the same path for members of this and of
/// other processes: a branch on the destination would often be mispredicted.
template <TriviallyCopyable T>
struct Block {
  T* first = nullptr;  // not in the lane yet
  T* next = nullptr;   // end of the items
  T* end = nullptr;    // of the room. While items for the member are in the spill, there is none
  T* begin = nullptr;

  std::size_t NumFree() const { return static_cast<std::size_t>(end - next); }
};

/// The blocks of a conveyor, by destination.
template <TriviallyCopyable T>
class Blocks {
 public:
  void Open(std::size_t num_destinations, std::size_t block_items) {
    items_ = std::make_unique<T[]>(num_destinations * block_items);
    for (std::size_t to = 0; to < num_destinations; ++to) {
      T* const begin = items_.get() + to * block_items;
      blocks_.push_back({begin, begin, begin + block_items, begin});
    }
  }
  std::size_t Size() const { return blocks_.size(); }
  Block<T>& operator[](std::size_t to) { return blocks_[to]; }
  const Block<T>& operator[](std::size_t to) const { return blocks_[to]; }
  /// Leaves no room in any.
  void Close() {
    for (Block<T>& block : blocks_) block.end = block.next;
  }
  /// The number of items in all of them.
  std::uint64_t NumItems() const {
    std::uint64_t count = 0;
    for (const Block<T>& block : blocks_) count += static_cast<std::uint64_t>(block.next - block.first);
    return count;
  }

 private:
  std::vector<Block<T>> blocks_{};
  std::unique_ptr<T[]> items_{};  // a std::vector<bool> has no elements
};

}  // namespace uit::detail
