#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <string>

#include <uit/conveyor/conveyor_sizes.hpp>
#include <uit/conveyor/own_lane.hpp>
#include <uit/exchange/aggregated/aggregated_frame.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/exchange/frame_window.hpp>
#include <uit/link/connection.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/shared_memory_link.hpp>
#include <uit/link/shared_ring.hpp>
#include <uit/support/error.hpp>
#include <uit/transport/process.hpp>

namespace uit::detail {

/// What a member keeps for each other besides items: a block of four pointers, a queue of the spill, and the way to it.
inline constexpr std::size_t bytes_per_member = 72;
/// Bytes of the lanes to and from a member of another process, at most: the frames that a box holds at either end, one that is written or
/// read, and spare ones; or, where processes share memory, the ring for what comes, and a frame.
inline std::size_t LaneBytes(std::size_t frame_bytes) {
  constexpr std::size_t depth = FrameWindow::BoxDepth(Process{}.num_frames);
  const std::size_t whole_bytes = sizeof(FrameHeader) + frame_bytes;
  return std::max(2 * (depth + 4) * whole_bytes, shared_ring::BytesFor(whole_bytes, depth + 1) + whole_bytes);
}
/// Bytes of the link to another process, at most: the frames that are sent and received, and one that has arrived. Members of a process
/// share it, and each counts it.
inline std::size_t LinkBytes(std::size_t frame_bytes) {
  constexpr std::size_t num_frames = FabricOptions{}.num_slots + Connection::num_uncredited;
  const std::size_t ring_bytes = SharedMemoryLink::RingBytes({.num_receives = num_frames, .payload_bytes = frame_bytes});
  return std::max((2 * num_frames + 1) * (sizeof(FrameHeader) + frame_bytes), ring_bytes);
}

UIT_DEFINE ConveyorSizes SizeConveyor(const ConveyorOptions& options, const ItemBytes& bytes, std::size_t num_members,
                                      const LaneCounts& lanes) {
  constexpr std::size_t num_frames = Process{}.num_frames;
  if (options.num_between_looks == 0) throw InputError("a conveyor needs num_between_looks of at least 1");
  if (options.max_age.count() < 0) throw InputError("the max_age of a conveyor cannot be negative");
  constexpr std::size_t no_memory = std::numeric_limits<std::size_t>::max() / 4;
  if (options.spill_items > no_memory / bytes.place)
    throw InputError("no memory has room for a spill of " + std::to_string(options.spill_items) + " items");
  const bool has_two_hops = HasTwoHops(options, num_members);
  const std::size_t spill_bytes = options.spill_items == 0 ? options.budget_bytes / 4 : options.spill_items * bytes.place;
  // The queue to a member of its own process is counted by the sender.
  std::size_t buffer = options.buffer_bytes;
  while (buffer > options.budget_bytes) buffer /= 2;
  for (;; buffer /= 2) {
    ConveyorSizes sizes;
    const std::size_t head_bytes = sizeof(MessageRun);
    sizes.frame_bytes = AggregatedPayloadBytes(buffer, head_bytes + bytes.sent);
    sizes.depth = std::clamp<std::size_t>(2 * num_frames * buffer / bytes.sent, 1, Process::max_depth);
    sizes.depth_own = std::min(sizes.depth, 2 * std::min(sizes.depth, options.num_between_looks));
    const auto block = [&](std::size_t block_bytes, std::size_t item_bytes) {
      return std::clamp<std::size_t>(block_bytes / item_bytes, 1, sizes.depth);
    };
    sizes.block_items = block(has_two_hops ? 128 : 1024, bytes.item);
    sizes.buffers_bytes = lanes.num_elsewhere * LaneBytes(sizes.frame_bytes) + lanes.num_processes * LinkBytes(sizes.frame_bytes);
    sizes.buffers_bytes += (lanes.num_here - 1) * (sizes.depth + 1) * bytes.slot;
    sizes.buffers_bytes += OwnLane<std::byte>::NumSlots(sizes.depth_own) * bytes.item;
    sizes.buffers_bytes += num_members * (sizes.block_items * bytes.item + bytes_per_member);
    if (has_two_hops) {
      sizes.lane_block_items = block(1024, bytes.sent);
      sizes.buffers_bytes += (lanes.num_here + lanes.num_elsewhere) * sizes.lane_block_items * bytes.sent;
    }
    if (sizes.buffers_bytes + spill_bytes <= options.budget_bytes) {
      const std::size_t free_bytes = options.budget_bytes - sizes.buffers_bytes;
      sizes.spill_items = options.spill_items == 0 ? std::max<std::size_t>(free_bytes / bytes.place, 1) : options.spill_items;
      return sizes;
    }
    const std::size_t least = options.spill_items == 0 ? (sizes.buffers_bytes + 2) / 3 * 4 : sizes.buffers_bytes + spill_bytes;
    if (buffer <= bytes.item)
      throw InputError("a conveyor between " + std::to_string(num_members) + " members needs a budget of at least " +
                       std::to_string(least) + " bytes for each, not " + std::to_string(options.budget_bytes));
  }
}

UIT_DEFINE void RefuseOrigin() { throw Error("an item of a conveyor has arrived that no member can have pushed"); }

UIT_DEFINE void RefuseSpill(std::size_t spill_items) {
  throw Error("the handlers of a conveyor have pushed more than its spill of " + std::to_string(spill_items) +
              " items can keep; raise budget_bytes or spill_items, or push less in a handler");
}

UIT_DEFINE std::size_t SizeTable(std::size_t table_bytes, std::size_t budget_bytes, std::size_t slot_bytes) {
  if (table_bytes < slot_bytes)
    throw InputError("a table to combine items needs at least " + std::to_string(slot_bytes) + " bytes");
  if (table_bytes >= budget_bytes)
    throw InputError("a conveyor with a table of " + std::to_string(table_bytes) + " bytes needs a budget_bytes of more than that");
  return std::bit_floor(std::min<std::size_t>(table_bytes / slot_bytes, std::size_t{1} << 31U));
}

}  // namespace uit::detail
