#pragma once

#include <cstddef>
#include <cstdint>

#include <uit/config.hpp>

namespace uit {

/// Options of a conveyor. The same on all members.
struct ConveyorOptions {
  std::size_t buffer_bytes = 65'536;       ///< of a frame between two members, at most; smaller if the budget demands it
  std::size_t budget_bytes = 256U << 20U;  ///< of all buffers and the spill of a member
  /// Items that handlers have pushed and that wait for room, for all destinations together, at most. 0: as many as the budget has room
  /// for besides the buffers, and at least for a quarter of its bytes.
  std::size_t spill_items = 0;
  std::size_t num_between_looks = 1024;    ///< a push handles what has arrived after so many pushes
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

/// The sizes of a conveyor's buffers.
struct ConveyorSizes {
  std::size_t frame_bytes = 0;  ///< between members of different processes
  std::size_t depth = 0;         ///< items under way to another member
  std::size_t depth_own = 0;     ///< items under way to the member itself: few, so that they stay in the cache
  std::size_t block_items = 0;   ///< items of a member that are collected before they go to the buffer
  std::size_t buffers_bytes = 0;  ///< of all buffers of this member
  std::size_t spill_items = 0;   ///< that may wait in its spill
};

/// Returns the largest buffers within the budget. `slot_bytes` is the size of an item in a queue between threads, `place_bytes` in the
/// spill. Throws InputError if the budget is too small for any.
ConveyorSizes SizeConveyor(const ConveyorOptions& options, std::size_t item_bytes, std::size_t slot_bytes, std::size_t place_bytes,
                           std::size_t num_here, std::size_t num_elsewhere);

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
