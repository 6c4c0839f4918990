#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/conveyor/blocks.hpp>
#include <uit/conveyor/conveyor_sizes.hpp>
#include <uit/conveyor/conveyors.hpp>
#include <uit/conveyor/lanes.hpp>
#include <uit/conveyor/spill.hpp>
#include <uit/support/bytes.hpp>

namespace uit::detail {

/// Of an item of the type `T` that travels as `Sent`.
template <TriviallyCopyable T, TriviallyCopyable Sent = T>
inline constexpr ItemBytes bytes_of{
    .item = sizeof(T), .sent = sizeof(Sent), .slot = sizeof(RingSlot<Sent>), .place = Spill<T>::place_bytes};

/// What a member of a conveyor has pushed, until its lanes take it: a block for each destination, and the spill. Never waits.
template <TriviallyCopyable T>
class Outbox {
 public:
  /// If a lane throws, the set is refused from then on.
  explicit Outbox(Conveyors& set) : set_(set), own_(set.GetMember().Rank()) {}

  /// Makes the buffers.
  void Open(std::unique_ptr<Lanes<T>> lanes, const Places& places, const ConveyorSizes& sizes) {
    lanes_ = std::move(lanes);
    const std::vector<std::size_t>& processes = places.processes;
    for (std::size_t to = 0; to < processes.size(); ++to)
      if (processes[lanes_->Next(to)] == processes[own_]) here_.push_back(to);
    spill_ = Spill<T>(processes.size(), sizes.spill_items);
    block_items_ = sizes.block_items;
    blocks_.Open(processes.size(), block_items_);
  }

  Lanes<T>& GetLanes() { return *lanes_; }
  const Lanes<T>& GetLanes() const { return *lanes_; }
  /// Where a push writes if there is room.
  Block<T>& BlockOf(std::size_t to) { return blocks_[to]; }

  /// Pushes an item, into the spill if need be. Throws Error if that is full.
  void Push(std::size_t to, const T& item, ConveyorTally& tally) {
    Block<T>& block = blocks_[to];
    if (block.next != block.end || TryDrain(to)) {
      *block.next++ = item;
      return;
    }
    if (!spill_.TryPush(to, item)) RefuseSpill(spill_.MaxItems());
    ++tally.spilled;
    tally.most_spilled = std::max<std::uint64_t>(tally.most_spilled, spill_.Size());
  }
  /// Returns whether Push finds room for so many items. A try leaves to handlers half of what is free in the spill, and takes nothing
  /// of it while earlier items wait.
  bool HasRoom(std::size_t to, std::size_t count, bool is_try) {
    const Block<T>& block = blocks_[to];
    if (count <= block.NumFree()) return true;
    const bool is_drained = TryDrain(to);
    const std::size_t num_places = is_try ? spill_.NumFree() / 2 : spill_.NumFree();
    return (is_drained || !is_try) && count <= block.NumFree() + num_places;
  }

  /// Moves items for a member from its block, and then from the spill, to its lane. Returns whether none is left.
  bool TryDrain(std::size_t to) {
    Block<T>& block = blocks_[to];
    block.first += Stage(to, {block.first, block.next});
    if (block.first != block.next) return false;
    block.first = block.next = block.end = block.begin;
    while (!spill_.IsEmpty(to)) {
      const std::span<const T> oldest = spill_.Front(to);
      const std::size_t num_taken = Stage(to, oldest);
      spill_.Pop(to, num_taken);
      if (num_taken != oldest.size()) return false;
    }
    block.end = block.begin + block_items_;
    return true;
  }
  /// The same for all members with items in the spill. Returns whether the spill has become smaller.
  bool DrainSpill() {
    const std::size_t size = spill_.Size();
    if (size == 0) return false;
    for (std::size_t to = 0; to < blocks_.Size(); ++to)
      if (!spill_.IsEmpty(to)) TryDrain(to);
    return spill_.Size() != size;
  }
  /// Sends what the lane of a member holds. Returns whether nothing is left in it.
  bool TryFlush(std::size_t to) {
    return Guarded([&] { return lanes_->TryFlush(to); });
  }
  /// Sends all items, as far as there is room.
  void FlushAll() {
    ForEachAfter(own_, blocks_.Size(), [this](std::size_t to) {
      if (HasAny(to)) TryDrain(to);
    });
    Guarded([&] { lanes_->FlushAll(false); });
  }
  /// Sends items that go to members of this process, which costs little even if they are few.
  void FlushHere() {
    for (const std::size_t to : here_)
      if (HasAny(to)) TryDrain(to);
    Guarded([&] { lanes_->FlushAll(true); });
  }
  /// As Lanes::EndPass.
  void EndPass() {
    Guarded([&] { lanes_->EndPass(); });
  }
  /// Lets every later push find its block full.
  void Close() { blocks_.Close(); }

  /// Items that were pushed: those that wait here, and those that lanes have taken.
  std::uint64_t NumPushed() const { return num_taken_ + spill_.Size() + blocks_.NumItems(); }
  std::size_t NumSpilled() const { return spill_.Size(); }
  std::size_t NumFreeInSpill() const { return spill_.NumFree(); }
  std::size_t NumSpillBytes() const { return spill_.NumBytes(); }

 private:
  bool HasAny(std::size_t to) const { return blocks_[to].first != blocks_[to].next || !spill_.IsEmpty(to); }
  std::size_t Stage(std::size_t to, std::span<const T> items) {
    const std::size_t count = Guarded([&] { return lanes_->Take(to, items); });
    num_taken_ += count;
    return count;
  }
  /// Calls lanes. If they throw, some items may have gone, so the set is refused from then on.
  template <std::invocable F>
  decltype(auto) Guarded(F&& call) {
    try {
      return call();
    } catch (...) {
      set_.all_sets_.Refuse();
      throw;
    }
  }

  Conveyors& set_;
  std::size_t own_;                  // destination that is the member itself
  std::unique_ptr<Lanes<T>> lanes_{};
  std::vector<std::size_t> here_{};  // destinations whose items go to a member of this process
  Spill<T> spill_{0, 1};
  Blocks<T> blocks_{};
  std::size_t block_items_ = 0;
  std::uint64_t num_taken_ = 0;      // by lanes
};

}  // namespace uit::detail
