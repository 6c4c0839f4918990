#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <uit/conveyor/conveyor.hpp>
#include <uit/conveyor/conveyor_sizes.hpp>
#include <uit/conveyor/conveyors.hpp>
#include <uit/conveyor/span_pieces.hpp>
#include <uit/support/bytes.hpp>
#include <uit/team/member.hpp>

namespace uit {

/// A function for items of any length: f(elements), or f(rank of the member that has pushed them, elements).
template <typename F, typename T>
concept SpanHandler = std::invocable<F&, std::span<const T>> || std::invocable<F&, std::size_t, std::span<const T>>;

/// A stream of items of any length between all members of a team: each item is some elements, or none.
///
///     uit::SpanConveyor<double> conveyor{me, [&](std::size_t from, std::span<const double> row) { … }};
///     conveyor.Push(owner, row);   // handled whole on the thread of member `owner`
///     conveyor.Finish();
///
/// What Conveyor promises holds here, too; only the differences follow. Items travel in pieces, which hold 60 bytes of an
/// item, so an item may be longer than the buffers. Items of a member to another are handled in the order in which their pushes
/// end: those that handlers push while a push waits come first.
///
/// A member keeps memory for items that arrive: for each member, twice the longest item that has come from it. This memory is part
/// of the budget, and so limits the length of items; see SpanConveyorOptions. A handler gets the elements where they have been put
/// together: they stay until the handler returns.
template <TriviallyCopyable T>
class SpanConveyor {
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__, "elements stand in memory of the default alignment");

 public:
  /// Collective over the whole team. Throws InputError if the options have no room for buffers, or for the longest item.
  template <SpanHandler<T> F>
  SpanConveyor(Member& me, F handler, const SpanConveyorOptions& options = {})
      : SpanConveyor(me, me, std::move(handler), options) {}
  /// One of several conveyors of a member. Collective; throws as the other.
  template <SpanHandler<T> F>
  SpanConveyor(Conveyors& set, F handler, const SpanConveyorOptions& options = {})
      : SpanConveyor(set, set.GetMember(), std::move(handler), options) {}
  SpanConveyor(const SpanConveyor&) = delete;             ///< Not copied: its handler may refer to it.
  SpanConveyor& operator=(const SpanConveyor&) = delete;  ///< Not copied.

  /// Sends an item to member `to`, as Conveyor::Push does. Throws InputError if it is longer than MaxItemBytes. In a handler, if
  /// the spill has no room for the whole item, it throws before it has sent anything.
  void Push(std::size_t to, std::span<const T> item) {
    const ByteView bytes = std::as_bytes(item);
    Check(bytes);
    if (conveyor_.set_.IsInHandler()) {
      if (!conveyor_.HasRoom(to, detail::Piece::Count(bytes.size()), false)) detail::RefuseSpill(conveyor_.sizes_.spill_items);
      PushAtOnce(to, bytes);
    } else {
      PushAndWait(to, bytes);
    }
    ++tally_.pushed;
  }
  /// Sends an item if the whole of it finds room at once, in buffers or in half of what is free in the spill. Otherwise sends
  /// nothing, returns false, and counts it as refused, or throws as Conveyor::TryPush. Never waits, and handles nothing. Throws
  /// InputError as Push.
  bool TryPush(std::size_t to, std::span<const T> item) {
    const ByteView bytes = std::as_bytes(item);
    Check(bytes);
    if (!conveyor_.HasRoom(to, detail::Piece::Count(bytes.size()), true)) return ++tally_.refused, false;
    PushAtOnce(to, bytes);
    ++tally_.pushed;
    return true;
  }
  bool HandleArrived() { return conveyor_.HandleArrived(); }  ///< As Conveyor::HandleArrived.
  /// As Conveyor::WaitUntil.
  template <std::predicate Ready>
  void WaitUntil(Ready&& ready) {
    conveyor_.WaitUntil(ready);
  }
  void Flush() { conveyor_.Flush(); }    ///< As Conveyor::Flush.
  void Finish() { conveyor_.Finish(); }  ///< As Conveyor::Finish.

  /// What this member has done since the beginning. `pushed`, `handled` and `refused` count items, the others count pieces.
  ConveyorTally Tally() const {
    ConveyorTally tally = conveyor_.Tally();
    tally.pushed = tally_.pushed;
    tally.handled = tally_.handled;
    tally.refused = tally_.refused;
    return tally;
  }
  /// Bytes of this member's buffers, its spill and the items that arrive: at most the budget in the options.
  std::size_t NumBytes() const {
    std::size_t sum = conveyor_.NumBytes();
    for (const detail::ArrivingItem& item : arriving_) sum += item.NumBytes();
    return sum;
  }
  /// Bytes of the longest item that may be pushed.
  std::size_t MaxItemBytes() const { return max_item_bytes_; }

 private:
  template <typename Place, typename F>
  SpanConveyor(Place& place, const Member& me, F handler, const SpanConveyorOptions& options)
      : SpanConveyor(place, me.Size(), std::move(handler), detail::SizeSpans(options, me.Size())) {}
  template <typename Place, typename F>
  SpanConveyor(Place& place, std::size_t num_members, F handler, const SpanConveyorOptions& sized)
      : max_item_bytes_(sized.max_item_bytes),
        handler_([handler = std::move(handler)](std::size_t from, std::span<const T> item) mutable {
          if constexpr (std::invocable<F&, std::size_t, std::span<const T>>) handler(from, item);
          else handler(item);
        }),
        arriving_(2 * num_members),
        conveyor_(place, [this](std::size_t from, const detail::Piece& piece) { Take(from, piece); }, sized.conveyor) {
    detail::CheckSpill(sized, conveyor_.sizes_.spill_items);
  }

  void Check(ByteView item) const {
    if (item.size() > max_item_bytes_) [[unlikely]] detail::RefuseLength(item.size(), max_item_bytes_);
  }
  void PushAtOnce(std::size_t to, ByteView item) {
    PushPieces(item, true, [&](const detail::Piece& piece) { conveyor_.PushAtOnce(to, piece); });
  }
  /// Between its pieces come those of items that handlers push while it waits.
  void PushAndWait(std::size_t to, ByteView item) {
    PushPieces(item, false, [&](const detail::Piece& piece) { conveyor_.Push(to, piece); });
  }
  template <typename F>
  void PushPieces(ByteView item, bool is_at_once, F&& push) {
    try {
      detail::ForEachPiece(item, is_at_once, push);
    } catch (...) {
      conveyor_.set_.Refuse();  // what follows would be taken for the rest of this item
      throw;
    }
  }
  void Take(std::size_t from, const detail::Piece& piece) {
    detail::ArrivingItem& item = arriving_[2 * from + piece.head % 2];
    if (!item.Add(piece, max_item_bytes_)) return;
    const ByteView bytes = item.Bytes();
    handler_(from, {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)});
    ++tally_.handled;
  }

  std::size_t max_item_bytes_;
  std::function<void(std::size_t, std::span<const T>)> handler_;
  std::vector<detail::ArrivingItem> arriving_;  // by rank: of pushes that may wait, and of those at once
  ConveyorTally tally_{};                       // items pushed, handled and refused
  Conveyor<detail::Piece> conveyor_;
};

}  // namespace uit
