#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <uit/codec/codec.hpp>
#include <uit/config.hpp>
#include <uit/conveyor/conveyor_sizes.hpp>
#include <uit/conveyor/dealer.hpp>
#include <uit/conveyor/quiescence.hpp>
#include <uit/conveyor/spill.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>
#include <uit/team/member.hpp>

namespace uit {

/// A stream of items of one type between all members of a team.
///
///     uit::Conveyor<std::uint64_t> conveyor{me, [&](const std::uint64_t& word) { table[word] ^= 1; }};
///     for (…) conveyor.Push(owner, word);   // word is handled on the thread of member `owner`
///     conveyor.Finish();                    // until all members have come here and every item has been handled
///
/// Every item that is pushed is handled once, by the member to which it was pushed. A member handles the items of another in the
/// order in which the other has pushed them. Items travel in shared frames without a head of their own: a frame leaves when it is
/// full, when its member waits for something, and on Flush.
///
/// A member handles items in HandleArrived, Flush, Finish, and every `num_between_looks` pushes; never within a push of its own
/// handler. While a conveyor carries items, a member must not wait for others in another way: those may wait until it handles
/// theirs.
///
/// A push in a handler never waits and calls no handler. If its destination has no room, the item goes to the spill, of which the
/// size is an option. If the spill is full, too, the push throws: the program keeps more items under way than its budget has room
/// for.
///
/// If a handler throws, the exception leaves the call that has run it. The conveyor then refuses further calls, so let the
/// exception leave the run. Other members then get MemberLeft or PeerLost. One thread uses a conveyor: its member's.
template <TriviallyCopyable T>
  requires Encodable<T>
class Conveyor {
 public:
  /// Collective over the whole team. Throws InputError if the options have no room for the buffers.
  template <ItemHandler<T> F>
  Conveyor(Member& me, F handler, const ConveyorOptions& options = {})
      : me_(me), options_(options), spill_(me.Size(), options.spill_items), deal_(detail::Dealer<T, Outlet>(std::move(handler))) {
    Open();
  }
  Conveyor(const Conveyor&) = delete;             ///< Not copied: its handler may refer to it.
  Conveyor& operator=(const Conveyor&) = delete;  ///< Not copied.

  /// Sends an item to member `to`, which may be this one. Outside of a handler it waits for room, and handles items meanwhile. It
  /// then throws MemberLeft or PeerLost if the member for which it waits is gone.
  /// It notices this only of members of its own host.
  UIT_INLINE void Push(std::size_t to, const T& item) {
    UIT_ASSERT(to < lines_.size(), "an item is pushed to a member of the team");
    Block& block = blocks_[to];
    if (block.next == block.end) [[unlikely]] return PushSlowly(to, item);
    *block.next++ = item;
  }
  /// Handles items that have arrived, and sends what waits in the spill. Never waits, except in the handler. Returns whether it
  /// has done anything. Not in a handler.
  bool HandleArrived() {
    CheckOutside();
    bool has_any = me_.Poll();
    has_any = DrainSpill() || has_any;
    for (std::size_t from = 0; from < lines_.size(); ++from) {
      has_any = Deal(from) || has_any;
      DrainSpill();
    }
    return has_any;
  }
  /// Sends all items that were pushed before. Waits for room, and handles items meanwhile. Not in a handler.
  void Flush() {
    CheckOutside();
    for (std::size_t to = 0; to < lines_.size(); ++to) WaitFor(to, [&] { return TryDrain(to) && lines_[to].inlet.TryFlush(); });
  }
  /// Ends when every member has called it and all items have been handled, also those that handlers have pushed. Nothing that
  /// another member pushes after its own end is handled before this one's end. The conveyor can then be used again. Collective.
  /// Not in a handler.
  void Finish() {
    CheckOutside();
    Quiescence quiescence{me_};
    me_.WaitUntil([&] {
      for (std::size_t i = 0; i < most_busy && !quiescence.IsConfirming() && Advance(); ++i) {
      }
      return quiescence.TryEnd(NumPushed(), tally_.handled);
    });
  }

  /// What this member has done since the beginning.
  ConveyorTally Tally() const {
    ConveyorTally tally = tally_;
    tally.pushed = NumPushed();
    return tally;
  }
  /// Bytes of this member's buffers and spill: at most the budget in the options.
  std::size_t NumBytes() const { return sizes_.total_bytes; }

 private:
  static constexpr Policy aggregated{.consolidate = Consolidate::aggregated};
  static constexpr std::size_t most_busy = 64;  // looks at what has arrived before others get their turn
  /// As in a ring between threads.
  struct Slot {
    std::uint32_t newest;
    T item;
  };
  using Outlet = MemberOutlet<T, aggregated>;
  struct Line {
    MemberInlet<T, aggregated> inlet;
    Outlet outlet;
  };
  /// Items for a member that are not in its inlet yet. A push writes here, and so takes the same path for members of this and of
  /// other processes: a branch on the destination would often be mispredicted.
  struct Block {
    T* first = nullptr;  // not in the inlet yet
    T* next = nullptr;   // end of the items
    T* end = nullptr;    // of the room. While items for the member are in the spill, the block is full
    T* begin = nullptr;
  };
  enum class State : std::uint8_t { outside, in_handler, failed };

  void Open() {
    const std::vector<std::size_t> processes = me_.AllGather(me_.Process());
    const auto num_here = static_cast<std::size_t>(std::ranges::count(processes, me_.Process()));
    sizes_ = detail::SizeConveyor(options_, sizeof(T), sizeof(Slot), spill_.NumBytes(), num_here, me_.Size() - num_here);
    for (std::size_t other = 0; other < me_.Size(); ++other) {
      if (processes[other] == me_.Process()) here_.push_back(other);
      const ConduitOptions options{.depth = other == me_.Rank() ? sizes_.depth_own : sizes_.depth, .buffer_bytes = sizes_.frame_bytes};
      lines_.push_back({me_.InletTo<T, aggregated>(other, options), me_.OutletFrom<T, aggregated>(other, options)});
    }
    items_.resize(me_.Size() * sizes_.block_items);
    for (std::size_t to = 0; to < me_.Size(); ++to) {
      T* const begin = items_.data() + to * sizes_.block_items;
      blocks_.push_back({begin, begin, begin + sizes_.block_items, begin});
    }
    me_.Connect();
  }

  UIT_NOINLINE void PushSlowly(std::size_t to, const T& item) {
    if (state_ == State::in_handler) return PushInHandler(to, item);
    CheckOutside();
    num_since_look_ += sizes_.block_items;
    if (num_since_look_ >= options_.num_between_looks || spill_.Size() != 0) {
      HandleArrived();
      FlushHere();
      num_since_look_ = 0;
    }
    if (!TryDrain(to)) {
      ++tally_.waits;
      WaitFor(to, [&] { return TryDrain(to); });
    }
    *blocks_[to].next++ = item;
  }
  void PushInHandler(std::size_t to, const T& item) {
    if (TryDrain(to)) {
      *blocks_[to].next++ = item;
      return;
    }
    if (!spill_.TryPush(to, item)) RefuseSpill();
    ++tally_.spilled;
    tally_.most_spilled = std::max<std::uint64_t>(tally_.most_spilled, spill_.Size());
  }
  [[noreturn]] UIT_NOINLINE void RefuseSpill() const {
    throw Error("the handlers of a conveyor have pushed more than its spill of " + std::to_string(options_.spill_items) +
                " items can keep; raise spill_items, or push less in a handler");
  }

  /// Handles items until `ready()`, which depends on member `to`.
  template <std::predicate Ready>
  void WaitFor(std::size_t to, Ready&& ready) {
    me_.WaitUntil([&] {
      if (ready()) return true;
      while (Advance())
        if (ready()) return true;
      me_.CheckStays(to);
      return false;
    });
  }
  /// Handles what has arrived. If nothing has, and now and then in any case, sends what waits. Returns whether anything was
  /// handled.
  bool Advance() {
    const bool has_handled = HandleArrived();
    if (has_handled && ++num_busy_ % most_busy != 0) return FlushHere(), true;
    for (std::size_t to = 0; to < lines_.size(); ++to) {
      TryDrain(to);
      lines_[to].inlet.TryFlush();
    }
    return has_handled;
  }
  /// Shows staged items to the members of this process. Costs nothing for the others.
  void FlushHere() {
    for (const std::size_t to : here_) lines_[to].inlet.TryFlush();
  }
  /// Handles items of one member. Returns whether there were any.
  bool Deal(std::size_t from) {
    constexpr std::size_t most = 4096;  // so that no member waits long for its turn
    const std::size_t limit = std::clamp<std::size_t>(spill_.NumFree() / 2, 1, most);
    state_ = State::in_handler;
    bool has_any = false;
    try {
      has_any = deal_(from, lines_[from].outlet, limit, tally_.handled);
    } catch (...) {
      Fail();
      throw;
    }
    state_ = State::outside;
    return has_any;
  }
  /// Lets every later push find its block full, and so be refused.
  UIT_NOINLINE void Fail() {
    state_ = State::failed;
    for (Block& block : blocks_) block.end = block.next;
  }
  /// Moves items for a member from its block and from the spill to its inlet. Returns whether its block has become empty.
  bool TryDrain(std::size_t to) {
    Block& block = blocks_[to];
    auto& inlet = lines_[to].inlet;
    for (;;) {
      const std::size_t count = Stage(inlet, {block.first, block.next});
      block.first += count;
      num_shipped_ += count;
      if (block.first != block.next) return false;
      block.first = block.next = block.begin;
      if (spill_.IsEmpty(to)) return true;
      for (; !spill_.IsEmpty(to) && block.next != block.end; spill_.Pop(to)) *block.next++ = spill_.Front(to);
    }
  }
  /// Some of them may have gone if it throws, so the conveyor must then not try again.
  std::size_t Stage(MemberInlet<T, aggregated>& inlet, std::span<const T> items) {
    try {
      return inlet.StageSome(items);
    } catch (...) {
      Fail();
      throw;
    }
  }
  /// The same as TryDrain for all members with items in the spill. Returns whether the spill has become smaller.
  bool DrainSpill() {
    const std::size_t size = spill_.Size();
    if (size == 0) return false;
    for (std::size_t to = 0; to < lines_.size(); ++to)
      if (!spill_.IsEmpty(to)) TryDrain(to);
    return spill_.Size() != size;
  }
  std::uint64_t NumPushed() const {
    std::uint64_t count = num_shipped_ + spill_.Size();
    for (const Block& block : blocks_) count += static_cast<std::uint64_t>(block.next - block.first);
    return count;
  }
  void CheckOutside() const {
    if (state_ == State::in_handler) throw Error("a handler of a conveyor may push, and call nothing else of it");
    if (state_ == State::failed) throw Error("a handler of this conveyor has thrown, so it cannot be used any more");
  }

  Member& me_;
  ConveyorOptions options_;
  detail::ConveyorSizes sizes_;
  detail::Spill<T> spill_;
  detail::DealFunction<Outlet> deal_;
  std::vector<Line> lines_;         // by rank
  std::vector<std::size_t> here_;   // ranks of the members of this process
  std::vector<Block> blocks_;       // by rank
  std::vector<T> items_;            // of the blocks
  std::size_t num_busy_ = 0;        // looks that found something
  std::size_t num_since_look_ = 0;  // pushes since the last look at what has arrived, by blocks
  std::uint64_t num_shipped_ = 0;   // items that inlets have accepted
  State state_ = State::outside;
  ConveyorTally tally_;
};

}  // namespace uit
