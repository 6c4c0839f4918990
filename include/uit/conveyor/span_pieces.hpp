#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <uit/config.hpp>
#include <uit/conveyor/conveyor_sizes.hpp>
#include <uit/support/bytes.hpp>

namespace uit {

/// Options of a SpanConveyor. The same on all members.
struct SpanConveyorOptions {
  /// Bytes of an item, at most. 0: as many as a sixteenth of the budget allows for each member, and half of the spill.
  std::size_t max_item_bytes = 0;
  ConveyorOptions conveyor{};  ///< of the pieces in which items travel; budget_bytes is also for the items that arrive
};

namespace detail {

/// A part of an item. As large as a cache line.
struct Piece {
  static constexpr std::size_t num_bytes = 60;
  std::uint32_t head = 0;  // in the first piece of an item: its bytes, times 2; in all: plus 1 if it was pushed at once
  std::array<std::byte, num_bytes> bytes{};

  /// The number of pieces of an item: at least one, which tells its length.
  static constexpr std::size_t Count(std::size_t item_bytes) {
    return std::max<std::size_t>(1, (item_bytes + num_bytes - 1) / num_bytes);
  }
};

/// Calls `send` with the pieces of an item.
template <typename Send>
void ForEachPiece(ByteView item, bool is_at_once, Send&& send) {
  Piece piece{.head = static_cast<std::uint32_t>(2 * item.size()) + (is_at_once ? 1 : 0)};
  for (; item.size() > Piece::num_bytes; item = item.subspan(Piece::num_bytes)) {
    CopyBytes(piece.bytes.data(), item.data(), Piece::num_bytes);
    send(piece);
  }
  CopyBytes(piece.bytes.data(), item.data(), item.size());
  send(piece);
}

/// Puts together an item from its pieces. Its memory grows to the longest item and is kept.
class ArrivingItem {
 public:
  /// Takes the next piece. Returns whether the item is complete. Throws Error if the item is longer than `max_bytes`.
  UIT_INLINE bool Add(const Piece& piece, std::size_t max_bytes) {
    if (num_left_ == 0) Begin(piece.head / 2, max_bytes);
    const std::size_t count = std::min(num_left_, Piece::num_bytes);
    CopyBytes(bytes_.get() + (size_ - num_left_), piece.bytes.data(), count);
    num_left_ -= count;
    return num_left_ == 0;
  }
  ByteView Bytes() const { return {bytes_.get(), size_}; }
  std::size_t NumBytes() const { return capacity_; }

 private:
  void Begin(std::size_t size, std::size_t max_bytes) {
    if (size > capacity_) [[unlikely]]
      Grow(size, max_bytes);
    size_ = num_left_ = size;
  }
  void Grow(std::size_t size, std::size_t max_bytes);

  std::unique_ptr<std::byte[]> bytes_{};
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;
  std::size_t num_left_ = 0;  // bytes that have not come yet
};

/// Sets max_item_bytes, and takes the memory of items that arrive off the budget. Throws InputError if the budget is too small.
SpanConveyorOptions SizeSpans(SpanConveyorOptions options, std::size_t num_members);
/// Throws InputError if the longest item has no room in half of the spill.
void CheckSpill(const SpanConveyorOptions& options, std::size_t spill_items);
[[noreturn]] void RefuseLength(std::size_t item_bytes, std::size_t max_bytes);

}  // namespace detail
}  // namespace uit

#if !UIT_COMPILED
#include <uit/conveyor/span_pieces.ipp>
#endif
