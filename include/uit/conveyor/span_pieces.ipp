#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include <uit/conveyor/span_pieces.hpp>
#include <uit/support/error.hpp>

namespace uit::detail {

UIT_DEFINE void ArrivingItem::Grow(std::size_t size, std::size_t max_bytes) {
  if (size > max_bytes)
    throw Error("an item of " + std::to_string(size) + " bytes has arrived, which is longer than max_item_bytes");
  capacity_ = std::min(std::max(size, 2 * capacity_), max_bytes);
  bytes_ = std::make_unique_for_overwrite<std::byte[]>(capacity_);
}

UIT_DEFINE SpanConveyorOptions SizeSpans(SpanConveyorOptions options, std::size_t num_members) {
  constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max() / 2;
  std::size_t& budget = options.conveyor.budget_bytes;
  if (options.max_item_bytes == 0) {
    options.max_item_bytes = std::min(most, budget / 16 / num_members);
    if (const std::size_t places = options.conveyor.spill_items; places != 0)
      options.max_item_bytes = std::min(options.max_item_bytes, places / 2 * Piece::num_bytes);
  }
  if (options.max_item_bytes > most) throw InputError("max_item_bytes must be less than 2^31");
  // While an item waits for room, handlers may push others to the same member.
  const std::size_t arriving = 2 * num_members * options.max_item_bytes;
  if (arriving >= budget)
    throw InputError("items of " + std::to_string(options.max_item_bytes) + " bytes from " + std::to_string(num_members) +
                     " members need a budget of more than " + std::to_string(arriving) + " bytes, not " + std::to_string(budget));
  budget -= arriving;
  return options;
}

UIT_DEFINE void CheckSpill(const SpanConveyorOptions& options, std::size_t spill_items) {
  const std::size_t num_pieces = Piece::Count(options.max_item_bytes);
  if (num_pieces <= spill_items / 2) return;
  throw InputError("items of " + std::to_string(options.max_item_bytes) + " bytes need a spill of at least " +
                   std::to_string(2 * num_pieces) + " pieces, not " + std::to_string(spill_items) +
                   "; raise budget_bytes or spill_items, or lower max_item_bytes");
}

UIT_DEFINE void RefuseLength(std::size_t item_bytes, std::size_t max_bytes) {
  throw InputError("an item of " + std::to_string(item_bytes) + " bytes is longer than max_item_bytes, which is " +
                   std::to_string(max_bytes) + "; raise it, or budget_bytes");
}

}  // namespace uit::detail
