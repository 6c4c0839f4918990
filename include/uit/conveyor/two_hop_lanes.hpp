#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <uit/conveyor/blocks.hpp>
#include <uit/conveyor/conveyor_sizes.hpp>
#include <uit/conveyor/dealer.hpp>
#include <uit/conveyor/grid.hpp>
#include <uit/conveyor/lanes.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>
#include <uit/team/member.hpp>

namespace uit::detail {

/// Conduits of a member of a conveyor for one of two hops, with a block of items before each inlet.
template <TriviallyCopyable T>
class Hop {
 public:
  using Item = Routed<T>;
  /// Items that come from another member. One at a time is out of its outlet.
  struct Source {
    std::size_t from = 0;
    MemberOutlet<Item, in_frames> outlet;
    bool has_item = false;  // which could not be sent on
  };

  /// Adds a conduit to a member. Its number is the number of conduits before.
  void AddInlet(Member& me, std::size_t to, bool is_here, const ConduitOptions& options) {
    if (is_here) here_.push_back(inlets_.size());
    inlets_.push_back(me.InletTo<Item, in_frames>(to, options));
  }
  /// Adds a conduit from a member.
  void AddOutlet(Member& me, std::size_t from, const ConduitOptions& options) {
    sources.push_back({from, me.OutletFrom<Item, in_frames>(from, options)});
  }
  /// After all inlets were added.
  void Open(std::size_t block_items) { blocks_.Open(inlets_.size(), block_items); }

  std::size_t NumInlets() const { return inlets_.size(); }
  /// Takes an item if there is room.
  bool TryPush(std::size_t inlet, const Item& item) {
    Block<Item>& block = blocks_[inlet];
    if (block.next == block.end && !TryDrain(inlet)) return false;
    *block.next++ = item;
    return true;
  }
  /// Sends what it has taken. Returns whether all of it is sent.
  bool TryFlush(std::size_t inlet) {
    const bool is_drained = TryDrain(inlet);
    return inlets_[inlet].TryFlush() && is_drained;  // also if there is no room for more before
  }
  /// The same for all inlets, or for those to members of this process.
  bool TryFlushAll(bool only_here) {
    bool is_all_sent = true;
    if (only_here)
      for (const std::size_t inlet : here_) is_all_sent = TryFlush(inlet) && is_all_sent;
    else
      for (std::size_t inlet = 0; inlet < inlets_.size(); ++inlet) is_all_sent = TryFlush(inlet) && is_all_sent;
    return is_all_sent;
  }

  std::vector<Source> sources{};

 private:
  /// Moves a block to its inlet. Returns whether nothing is left.
  bool TryDrain(std::size_t inlet) {
    Block<Item>& block = blocks_[inlet];
    block.first += inlets_[inlet].StageSome({block.first, block.next});
    if (block.first != block.next) return false;
    block.first = block.next = block.begin;
    return true;
  }

  std::vector<MemberInlet<Item, in_frames>> inlets_{};
  std::vector<std::size_t> here_{};  // inlets to members of this process
  Blocks<Item> blocks_{};
};

/// The lanes of a large team: an item goes to a member of the sender's row in a Grid, and from there to its destination.
///
/// A member takes an item off its first hop only if there is room on the second one. What comes by a second hop is always for the
/// member itself, which handles it without a wait. So no two members wait for each other.
template <TriviallyCopyable T>
class TwoHopLanes final : public Lanes<T> {
 public:
  /// Opens conduits. `processes` are those of all members.
  TwoHopLanes(Member& me, const Grid& grid, const std::vector<std::size_t>& processes, const ConveyorSizes& sizes)
      : me_(me), rank_(me.Rank()), ways_(me.Size()) {
    const ConduitOptions own{.depth = sizes.depth_own};
    inlet_ = me.InletTo<T, in_frames>(rank_, own);
    outlet_ = me.OutletFrom<T, in_frames>(rank_, own);
    const ConduitOptions options{.depth = sizes.depth, .buffer_bytes = sizes.frame_bytes};
    for (std::size_t other = 0; other < me.Size(); ++other) {
      if (other == rank_) continue;
      const bool is_first = grid.IsSameRow(rank_, other);
      Hop<T>& hop = is_first ? first_ : second_;
      if (grid.Next(rank_, other) == other) {
        ways_[other] = {static_cast<std::uint32_t>(other), static_cast<std::uint32_t>(hop.NumInlets()), is_first};
        hop.AddInlet(me, other, processes[other] == me.Process(), options);
      }
      if (grid.Next(other, rank_) == rank_) hop.AddOutlet(me, other, options);
    }
    for (std::size_t other = 0; other < me.Size(); ++other)
      if (other != rank_) ways_[other] = ways_[grid.Next(rank_, other)];
    first_.Open(sizes.lane_block_items);
    second_.Open(sizes.lane_block_items);
  }

  std::size_t Take(std::size_t to, std::span<const T> items) override {
    if (to == rank_) return inlet_.StageSome(items);
    const Way& way = ways_[to];
    Hop<T>& hop = HopOf(way);
    const auto member = static_cast<std::uint32_t>(way.is_first ? to : rank_);
    std::size_t count = 0;
    while (count < items.size() && hop.TryPush(way.inlet, {member, items[count]})) ++count;
    return count;
  }
  bool TryFlush(std::size_t to) override { return to == rank_ ? inlet_.TryFlush() : HopOf(ways_[to]).TryFlush(ways_[to].inlet); }
  void FlushAll(bool only_here) override {
    inlet_.TryFlush();
    first_.TryFlushAll(only_here);
    if (second_.TryFlushAll(only_here) && !only_here) has_sent_on_ = false;
  }
  std::size_t Next(std::size_t to) const override { return to == rank_ ? to : ways_[to].next; }

  std::size_t NumSources() const override { return 1 + first_.sources.size() + second_.sources.size(); }
  std::size_t OwnSource() const override { return 0; }
  bool Deal(std::size_t source, Dealer<T>& dealer, std::size_t limit, std::uint64_t& num_handled) override {
    if (source == 0) return dealer.Deal(rank_, outlet_, limit, num_handled);
    if (source <= first_.sources.size()) return SendOn(first_.sources[source - 1], dealer, limit, num_handled);
    return dealer.DealRouted(second_.sources[source - 1 - first_.sources.size()].outlet, limit, num_handled);
  }
  /// Sends the rest of the items for others, once no more of them come.
  void EndPass() override {
    if (std::exchange(is_sending_on_, false)) has_sent_on_ = true;
    else if (has_sent_on_) has_sent_on_ = !second_.TryFlushAll(false);
  }

 private:
  /// How items for a member leave.
  struct Way {
    std::uint32_t next = 0;   // member to which they go
    std::uint32_t inlet = 0;  // of the hop
    bool is_first = false;    // hop
  };

  Hop<T>& HopOf(const Way& way) { return way.is_first ? first_ : second_; }

  /// Passes on items on their first hop.
  bool SendOn(typename Hop<T>::Source& source, Dealer<T>& dealer, std::size_t limit, std::uint64_t& num_handled) {
    bool has_any = false;
    for (std::size_t count = 0; count < limit; ++count) {
      if (!source.has_item && source.outlet.TryStep() == 0) break;
      source.has_item = true;
      const Routed<T>& routed = source.outlet.Get();
      if (routed.member == rank_) {
        dealer.Handle(source.from, routed.item);
        ++num_handled;
      } else {
        const Way& way = WayOn(routed.member);
        if (!second_.TryPush(way.inlet, {static_cast<std::uint32_t>(source.from), routed.item})) {
          me_.CheckStays(way.next);
          break;
        }
        is_sending_on_ = true;
      }
      source.has_item = false;
      has_any = true;
    }
    return has_any;
  }
  const Way& WayOn(std::uint32_t to) const {
    if (to >= ways_.size() || ways_[to].is_first)
      throw Error("an item of a conveyor has come to a member that does not send to its destination");
    return ways_[to];
  }

  Member& me_;
  std::size_t rank_;
  MemberInlet<T, in_frames> inlet_{};  // to the member itself
  MemberOutlet<T, in_frames> outlet_{};
  Hop<T> first_{};
  Hop<T> second_{};
  std::vector<Way> ways_;       // by member
  bool is_sending_on_ = false;  // items of others, in this pass
  bool has_sent_on_ = false;    // items of others, of which some may not have left
};

}  // namespace uit::detail
