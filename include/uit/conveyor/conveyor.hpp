#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include <uit/codec/codec.hpp>
#include <uit/config.hpp>
#include <uit/conveyor/blocks.hpp>
#include <uit/conveyor/conveyor_sizes.hpp>
#include <uit/conveyor/conveyors.hpp>
#include <uit/conveyor/dealer.hpp>
#include <uit/conveyor/grid.hpp>
#include <uit/conveyor/lanes.hpp>
#include <uit/conveyor/outbox.hpp>
#include <uit/conveyor/spill.hpp>
#include <uit/conveyor/two_hop_lanes.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/bytes.hpp>
#include <uit/team/member.hpp>

namespace uit {

/// A stream of items of one type between all members of a team.
///
///     uit::Conveyor<std::uint64_t> conveyor{me, [&](const std::uint64_t& word) { table[word] ^= 1; }};
///     for (…) conveyor.Push(owner, word);   // word is handled on the thread of member `owner`
///     conveyor.Finish();                    // until all members have come here and every item has been handled
///
/// Every item that is pushed is handled once, by the member to which it was pushed. A member handles the items of another in the
/// order in which the other has pushed them. Items travel in shared frames, without a head of their own between members that send to
/// each other directly. A frame leaves when it is full, when its member waits for something, on Flush, and after `max_age` if the options
/// say so.
///
/// A member handles items in HandleArrived, WaitUntil, Flush, Finish, and every `num_between_looks` pushes; never within a push of its
/// own handler. While a conveyor carries items, a member must not wait for others in another way: those may wait until it handles
/// theirs. Members that use several conveyors at the same time make them in one Conveyors.
///
/// A push in a handler never waits and calls no handler. If its destination has no room, the item goes to the spill, which grows
/// up to a size that is an option. If the spill is full, the push throws: the program keeps more items under way than its budget
/// has room for.
///
/// In a team of more than `two_hops_above` members (see ConveyorOptions), most items go to a relay first: a member that sends them on
/// to their destination. It does so in all calls in which it handles items, so every member must go on making such calls while
/// others wait for items, also if it gets none itself.
///
/// If a handler throws, the exception leaves the call that has run it. The conveyor then refuses further calls, so let the
/// exception leave the run. Other members then get MemberLeft or PeerLost. One thread uses a conveyor: its member's.
template <TriviallyCopyable T>
  requires Encodable<T>
class Conveyor final : detail::Carrier {
 public:
  /// Collective over the whole team. Throws InputError if the options have no room for the buffers.
  template <ItemHandler<T> F>
  Conveyor(Member& me, F handler, const ConveyorOptions& options = {})
      : alone_(std::in_place, me),
        scope_(*alone_),
        set_(*alone_),
        options_(options),
        outbox_(scope_),
        dealer_(DealerTo(std::move(handler))) {
    Open();
  }
  /// One of several conveyors of a member. Collective; throws like the other constructor.
  template <ItemHandler<T> F>
  Conveyor(Conveyors& set, F handler, const ConveyorOptions& options = {})
      : scope_(set), set_(set.all_sets_), options_(options), outbox_(scope_), dealer_(DealerTo(std::move(handler))) {
    Open();
  }
  Conveyor(const Conveyor&) = delete;             ///< Not copied: its handler may refer to it.
  Conveyor& operator=(const Conveyor&) = delete;  ///< Not copied.
  ~Conveyor() { Leave(scope_); }

  /// Sends an item to member `to`, which may be this one. Outside of a handler it waits for room, and handles items meanwhile. It
  /// then throws MemberLeft or PeerLost if the member for which it waits is gone.
  /// It notices this only of members of its own host.
  UIT_INLINE void Push(std::size_t to, const T& item) {
    UIT_ASSERT(to < num_members_, "an item is pushed to a member of the team");
    detail::Block<T>& block = outbox_.BlockOf(to);
    if (block.next == block.end) [[unlikely]] return PushSlowly(to, item);
    *block.next++ = item;
  }
  /// Sends an item if there is room for it at once, in a handler, too. Otherwise returns false and counts it as refused, or throws as
  /// Push if the member that would have to make room is gone. Never waits, and handles nothing.
  bool TryPush(std::size_t to, const T& item) {
    UIT_ASSERT(to < num_members_, "an item is pushed to a member of the team");
    detail::Block<T>& block = outbox_.BlockOf(to);
    if (block.next == block.end) [[unlikely]] {
      CheckWorks(set_);
      if (!outbox_.TryDrain(to)) {
        CheckRoomMayCome(to);
        return ++tally_.refused, false;
      }
    }
    *block.next++ = item;
    return true;
  }
  /// Returns true if a push to member `to` does not wait. Otherwise waits until it would not, as Push does, and returns false:
  /// handlers may have run.
  bool MakeRoom(std::size_t to) {
    UIT_ASSERT(to < num_members_, "a push is to a member of the team");
    if (outbox_.BlockOf(to).NumFree() != 0 || set_.IsInHandler()) return true;
    WaitForRoom(to);
    return false;
  }
  /// Handles items that have arrived, and sends what waits in the spill, and those items of others that this member relays. Never waits,
  /// except in the handler. Returns whether it has done anything. Throws MemberLeft or PeerLost if it relays items to a member that is
  /// gone. Not in a handler.
  bool HandleArrived() {
    set_.CheckOutside();
    const bool has_arrived = set_.me_.Poll();
    const bool has_handled = HandleOwn();
    set_.SendIfOld();
    return has_handled || has_arrived;
  }
  /// Waits until `ready()`, for example for answers: handles items meanwhile, and sends what was pushed. `ready` is called often, outside
  /// of handlers. If a member of this host is gone, the wait handles what has come from it; if `ready()` is then still false, it throws
  /// MemberLeft or PeerLost. Not in a handler.
  template <std::predicate Ready>
  void WaitUntil(Ready&& ready) {
    set_.WaitUntil(ready);
  }
  /// Sends all items that were pushed before, those that take two hops to their relays. Waits for room, and handles items meanwhile.
  /// Not in a handler.
  void Flush() {
    set_.CheckOutside();
    using detail::ForEachAfter;
    ForEachAfter(rank_, num_members_, [&](std::size_t to) { WaitFor(to, [&] { return outbox_.TryDrain(to); }); });
    ForEachAfter(rank_, num_members_, [&](std::size_t to) { WaitFor(to, [&] { return outbox_.TryFlush(to); }); });
  }
  /// Ends when every member has called it and all items have been handled, also those that handlers have pushed, and those of other
  /// conveyors of its set. Nothing that another member pushes after its own end is handled before this one's end. The conveyor can
  /// then be used again. Collective. Not in a handler.
  void Finish() { scope_.Finish(); }
  /// Begins a Finish, and does not wait; see Conveyors::Finishing. Collective.
  Conveyors::Finishing StartFinish() { return scope_.StartFinish(); }

  /// What this member has done since the beginning.
  ConveyorTally Tally() const {
    ConveyorTally tally = tally_;
    tally.pushed = outbox_.NumPushed();
    return tally;
  }
  /// Bytes of this member's buffers and spill: at most the budget in the options.
  std::size_t NumBytes() const { return sizes_.buffers_bytes + outbox_.NumSpillBytes(); }

 private:
  template <TriviallyCopyable U>
  friend class SpanConveyor;
  using State = Conveyors::State;

  template <ItemHandler<T> F>
  static std::unique_ptr<detail::Dealer<T>> DealerTo(F handler) {
    return std::make_unique<detail::DealerTo<T, F>>(std::move(handler));
  }
  void Open() {
    Member& me = scope_.me_;
    rank_ = me.Rank();
    num_members_ = me.Size();
    detail::Places places;
    for (const detail::Place& place : me.AllGather(detail::Place{me.Process(), me.Host()})) {
      places.processes.push_back(place.process);
      places.hosts.push_back(place.host);
    }
    if (detail::HasTwoHops(options_, num_members_)) OpenTwoHops(me, places);
    else OpenDirect(me, places);
    set_.me_.Connect();  // that of the whole team
    set_.LimitAge(options_.max_age);
    Join(scope_);
  }
  void OpenDirect(Member& me, const detail::Places& places) {
    sizes_ = detail::SizeConveyor(options_, detail::bytes_of<T>, num_members_, detail::CountAllLanes(places.processes, rank_));
    outbox_.Open(std::make_unique<detail::DirectLanes<T>>(me, places, sizes_), places, sizes_);
  }
  void OpenTwoHops(Member& me, const detail::Places& places) {
    const detail::Grid grid{places.hosts};
    // Both ends of a lane must have the same size, so what the members with the most lanes have room for.
    const detail::LaneCounts lanes = me.AllReduce(detail::CountLanes(grid, places.processes, rank_), detail::MostOfEach{});
    sizes_ = detail::SizeConveyor(options_, detail::bytes_of<T, detail::Routed<T>>, num_members_, lanes);
    outbox_.Open(std::make_unique<detail::TwoHopLanes<T>>(me, grid, places, sizes_), places, sizes_);
  }

  UIT_NOINLINE void PushSlowly(std::size_t to, const T& item) {
    if (set_.IsInHandler()) return PushAtOnce(to, item);
    WaitForRoom(to);
    *outbox_.BlockOf(to).next++ = item;
  }
  /// Pushes without a wait, in a handler or not.
  void PushAtOnce(std::size_t to, const T& item) { outbox_.Push(to, item, tally_); }
  /// As detail::Outbox::HasRoom. If there is no room, throws as CheckRoomMayCome.
  bool HasRoom(std::size_t to, std::size_t count, bool is_try) {
    UIT_ASSERT(to < num_members_, "an item is pushed to a member of the team");
    CheckWorks(set_);
    if (outbox_.HasRoom(to, count, is_try)) return true;
    CheckRoomMayCome(to);
    return false;
  }
  /// Throws MemberLeft or PeerLost if a member that must make room for items to `to` is gone.
  void CheckRoomMayCome(std::size_t to) const {
    const std::size_t next = outbox_.GetLanes().Next(to);
    scope_.me_.CheckStays(next);
    if (next != to) scope_.me_.CheckStays(to);
  }
  void WaitForRoom(std::size_t to) {
    set_.CheckOutside();
    num_since_look_ += sizes_.block_items;
    if (num_since_look_ >= options_.num_between_looks || outbox_.NumSpilled() != 0) Look();
    if (!outbox_.TryDrain(to)) {
      ++tally_.waits;
      WaitFor(to, [&] { return outbox_.TryDrain(to); });
    }
  }
  UIT_NOINLINE void Look() {
    num_since_look_ = 0;
    set_.Look();
  }
  /// Handles items until `ready()`, which depends on member `to`.
  template <std::predicate Ready>
  void WaitFor(std::size_t to, Ready&& ready) {
    set_.Wait([&] {
      if (set_.AdvanceUntil(ready, false)) return true;
      CheckRoomMayCome(to);
      return false;
    });
  }

  bool HandleOwn() override {
    bool has_any = outbox_.DrainSpill();
    const std::size_t num_sources = outbox_.GetLanes().NumSources();
    for (std::size_t source = 0; source < num_sources; ++source) {
      has_any = Deal(source) || has_any;
      outbox_.DrainSpill();
    }
    outbox_.EndPass();
    return has_any;
  }
  void SendOwn(bool only_here) override {
    if (only_here) outbox_.FlushHere();
    else outbox_.FlushAll();
  }
  void AddCounts(detail::QuiescenceCounts& sum) const override {
    sum.num_sent += outbox_.NumPushed();
    sum.num_handled += tally_.handled;
  }
  /// Handles items of one source. Returns whether there were any.
  bool Deal(std::size_t source) {
    constexpr std::size_t most = 4096;  // so that no member waits long for its turn
    const std::size_t limit = std::clamp<std::size_t>(outbox_.NumFreeInSpill() / 2, 1, most);
    bool has_any = false;
    detail::Lanes<T>& lanes = outbox_.GetLanes();
    set_.InHandler([&] { has_any = lanes.Deal(source, *dealer_, limit, tally_.handled); });
    return has_any;
  }
  void Close() override { outbox_.Close(); }

  std::optional<Conveyors> alone_{};  // unless it is one of several
  Conveyors& scope_;                  // whose Finish ends this one
  Conveyors& set_;                    // the outermost around: its waits advance all
  ConveyorOptions options_;
  detail::ConveyorSizes sizes_{};
  detail::Outbox<T> outbox_;
  std::unique_ptr<detail::Dealer<T>> dealer_;
  std::size_t rank_ = 0;
  std::size_t num_members_ = 0;
  std::size_t num_since_look_ = 0;  // pushes since the last look at what has arrived, by blocks
  ConveyorTally tally_{};
};

}  // namespace uit
