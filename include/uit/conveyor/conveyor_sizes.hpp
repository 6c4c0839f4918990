#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <uit/config.hpp>

namespace uit {

/// Options of a conveyor. The same on all members.
struct ConveyorOptions {
  /// Of a frame between two members, at most; smaller if the budget demands it. Frames of more than 80 KiB have no memory of their own
  /// between processes of a host, and take the slower way of those that share none.
  std::size_t buffer_bytes = 65'536;
  std::size_t budget_bytes = 256U << 20U;  ///< of all buffers and the spill of a member
  /// Items that handlers have pushed and that wait for room, for all destinations together, at most. 0: as many as the budget has room
  /// for besides the buffers, and at least for a quarter of its bytes. A relay's items share the buffers with those of others.
  std::size_t spill_items = 0;
  /// A push handles what has arrived after about so many pushes: it looks only when a block of items for one destination is full.
  std::size_t num_between_looks = 1024;
  /// If not 0: items leave about this time after their push also while their member does not wait. It looks at the clock in
  /// HandleArrived and as often as it handles what has arrived. For items that others wait for; frames that are not full cost more.
  std::chrono::nanoseconds max_age{0};
  /// The largest team in which members send to each other directly. In a larger one an item goes to a relay first, a member of the
  /// sender's host if hosts are large enough. So each member needs buffers for about twice the square root of their number, and sends
  /// fuller frames; but an item is sent twice, and is larger by the size of a word or, if it is aligned to more, by that.
  std::size_t two_hops_above = 256;
};

/// How a CombiningConveyor combines: values of the same key for the same member become `operation(earlier, later)`.
template <typename Operation>
struct Combine {
  Operation operation{};                  ///< returns a value that stands for both
  std::size_t table_bytes = 256U << 10U;  ///< of a member's table, at most; part of the budget
  ConveyorOptions conveyor{};             ///< of the conveyor behind the table
};
/// `Combine{operation}` needs no template argument.
template <typename Operation>
Combine(Operation, std::size_t = 0, ConveyorOptions = {}) -> Combine<Operation>;

/// What a member has done with a conveyor. Once Finish has ended, the sum of pushed over all members is that of handled and
/// combined.
struct ConveyorTally {
  std::uint64_t pushed = 0;        ///< items that this member has pushed, also in its handler
  std::uint64_t handled = 0;       ///< items that its handler has been called with, and has returned
  std::uint64_t combined = 0;      ///< of the pushed: a CombiningConveyor has put them together with an earlier one
  std::uint64_t refused = 0;       ///< items that TryPush has not taken; they are not pushed
  std::uint64_t spilled = 0;       ///< of the pushed: waited in the spill
  std::uint64_t most_spilled = 0;  ///< most that waited there at once
  std::uint64_t waits = 0;         ///< pushes outside of the handler that had to wait for room
};

namespace detail {

/// The members that a member of a conveyor exchanges items with.
struct LaneCounts {
  std::size_t num_here = 0;       ///< of its process, and itself
  std::size_t num_elsewhere = 0;  ///< of other processes
  std::size_t num_processes = 0;  ///< that these are in
};
/// For an all-reduce: what the members with the most lanes have.
struct MostOfEach {
  LaneCounts operator()(const LaneCounts& a, const LaneCounts& b) const {
    return {std::max(a.num_here, b.num_here), std::max(a.num_elsewhere, b.num_elsewhere), std::max(a.num_processes, b.num_processes)};
  }
};
/// The sizes of an item, in bytes.
struct ItemBytes {
  std::size_t item = 0;    ///< alone
  std::size_t sent = 0;    ///< in a frame
  std::size_t slot = 0;    ///< in a queue between threads
  std::size_t place = 0;   ///< in the spill
};

/// The sizes of a conveyor's buffers.
struct ConveyorSizes {
  std::size_t frame_bytes = 0;       ///< between members of different processes
  std::size_t depth = 0;             ///< items under way to another member
  std::size_t depth_own = 0;         ///< items under way to the member itself: few, so that they stay in the cache
  std::size_t block_items = 0;       ///< items for a member that are collected before they go to a lane
  std::size_t lane_block_items = 0;  ///< with two hops: items that are collected in a lane before they go to the buffer
  std::size_t buffers_bytes = 0;     ///< of all buffers of this member
  std::size_t spill_items = 0;       ///< that may wait in its spill
};

/// Whether items take two hops in a team of so many members.
inline bool HasTwoHops(const ConveyorOptions& options, std::size_t num_members) { return num_members > options.two_hops_above; }
/// Returns the largest buffers within the budget for a team of so many members. Throws InputError if the budget is too small for any.
ConveyorSizes SizeConveyor(const ConveyorOptions& options, const ItemBytes& bytes, std::size_t num_members, const LaneCounts& lanes);

/// For an item that none of the members can have pushed.
[[noreturn]] void RefuseOrigin();
/// For a push in a handler that has no room.
[[noreturn]] void RefuseSpill(std::size_t spill_items);
/// Returns the number of slots of a CombiningConveyor's table, a power of two. Throws InputError if there is no room for one in
/// `table_bytes`, or if they take the whole budget.
std::size_t SizeTable(std::size_t table_bytes, std::size_t budget_bytes, std::size_t slot_bytes);

}  // namespace detail
}  // namespace uit

#if !UIT_COMPILED
#include <uit/conveyor/conveyor_sizes.ipp>
#endif
