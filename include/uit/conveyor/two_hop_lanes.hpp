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
#include <uit/conveyor/own_lane.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>
#include <uit/team/member.hpp>

namespace uit::detail {

/// The lanes of a member for one of two hops, each with a block of items before its inlet.
template <TriviallyCopyable T>
class Hop {
 public:
  using Item = Routed<T>;
  /// A member from which items come. One at a time is out of its outlet.
  struct Source {
    std::size_t from = 0;
    MemberOutlet<Item, in_frames> outlet;
    bool has_item = false;  // the outlet's current item waits for room on its second hop
  };

  /// Adds a lane to a member. Its number is the number of lanes before.
  void AddLane(Member& me, std::size_t to, bool is_here, const ConduitOptions& options) {
    if (is_here) here_.push_back(inlets_.size());
    inlets_.push_back(me.InletTo<Item, in_frames>(to, options));
  }
  /// Adds a member from which items come.
  void AddSource(Member& me, std::size_t from, const ConduitOptions& options) {
    sources_.push_back({from, me.OutletFrom<Item, in_frames>(from, options)});
  }
  /// After all lanes were added.
  void Open(std::size_t block_items) { blocks_.Open(inlets_.size(), block_items); }

  std::size_t NumLanes() const { return inlets_.size(); }
  std::size_t NumSources() const { return sources_.size(); }
  Source& At(std::size_t source) { return sources_[source]; }

  /// Takes an item if there is room.
  bool TryPush(std::size_t lane, const Item& item) {
    Block<Item>& block = blocks_[lane];
    if (block.next == block.end && !TryDrain(lane)) [[unlikely]] return false;
    *block.next++ = item;
    return true;
  }
  /// Sends what a lane holds. Returns whether it is empty.
  bool TryFlush(std::size_t lane) {
    return TryDrain(lane) && inlets_[lane].TryFlush();
  }
  /// The same for all lanes, or for those to members of this process.
  void FlushAll(bool only_here) {
    if (only_here)
      for (const std::size_t lane : here_) TryFlush(lane);
    else
      for (std::size_t lane = 0; lane < inlets_.size(); ++lane) TryFlush(lane);
  }

 private:
  /// Moves a block to its inlet. Returns whether nothing is left; if not, the inlet has sent what it can.
  bool TryDrain(std::size_t lane) {
    Block<Item>& block = blocks_[lane];
    block.first += StageOrFlush<Item>(inlets_[lane], {block.first, block.next});
    if (block.first != block.next) return false;
    block.first = block.next = block.begin;
    return true;
  }

  std::vector<MemberInlet<Item, in_frames>> inlets_{};  // by lane
  std::vector<std::size_t> here_{};                     // lanes to members of this process
  Blocks<Item> blocks_{};
  std::vector<Source> sources_{};
};

/// The lanes of a member of a large team: an item goes to a relay in the sender's row of a Grid, and from there to its destination.
///
/// A relay takes an item off its first hop only if there is room on the second one. What comes by a second hop is always for the
/// member itself, which handles it without a wait. So no members wait for each other in a circle.
template <TriviallyCopyable T>
class TwoHopLanes final : public Lanes<T> {
 public:
  /// Opens conduits; Connect must follow.
  TwoHopLanes(Member& me, const Grid& grid, const Places& places, const ConveyorSizes& sizes)
      : me_(me), rank_(me.Rank()), own_(sizes.depth_own), ways_(me.Size()) {
    const ConduitOptions options{.depth = sizes.depth, .buffer_bytes = sizes.frame_bytes};
    ForEachAfter(rank_, me.Size(), [&](std::size_t other) {
      if (other == rank_) return;
      const bool is_first = grid.IsSameRow(rank_, other);
      Hop<T>& hop = is_first ? first_ : second_;
      if (grid.Next(rank_, other) == other) {
        ways_[other] = {static_cast<std::uint32_t>(other), static_cast<std::uint32_t>(hop.NumLanes()), is_first};
        hop.AddLane(me, other, places.processes[other] == me.Process(), options);
      }
      if (grid.Next(other, rank_) == rank_) hop.AddSource(me, other, options);
    });
    for (std::size_t other = 0; other < me.Size(); ++other)
      if (other != rank_) ways_[other] = ways_[grid.Next(rank_, other)];
    first_.Open(sizes.lane_block_items);
    second_.Open(sizes.lane_block_items);
    has_relayed_.resize(second_.NumLanes());
    this->SetSources(1 + first_.NumSources() + second_.NumSources());
  }

  std::size_t Take(std::size_t to, std::span<const T> items) override {
    if (to == rank_) return own_.Add(items);
    const Way& way = ways_[to];
    Hop<T>& hop = HopOf(way);
    const auto member = static_cast<std::uint32_t>(way.is_first ? to : rank_);
    std::size_t count = 0;
    while (count < items.size() && hop.TryPush(way.lane, {member, items[count]})) ++count;
    return count;
  }
  bool TryFlush(std::size_t to) override { return to == rank_ || HopOf(ways_[to]).TryFlush(ways_[to].lane); }
  void FlushAll(bool only_here) override {
    first_.FlushAll(only_here);
    second_.FlushAll(only_here);
  }
  std::size_t Next(std::size_t to) const override { return to == rank_ ? to : ways_[to].next; }

  bool Deal(std::size_t source, Dealer<T>& dealer, std::size_t limit, std::uint64_t& num_handled) override {
    if (source == 0) return dealer.DealOwn(rank_, own_, limit, num_handled);
    if (source <= first_.NumSources()) return Relay(first_.At(source - 1), dealer, limit, num_handled);
    return dealer.DealRouted(second_.At(source - 1 - first_.NumSources()).outlet, ways_.size(), limit, num_handled);
  }
  /// Sends what was relayed once nothing more comes, and after so many passes in any case: items for one member must not wait because
  /// those for others go on coming.
  void EndPass() override {
    constexpr std::uint32_t most_passes = 64;
    if (relayed_.empty() || (std::exchange(is_relaying_, false) && ++num_passes_ < most_passes)) return;
    num_passes_ = 0;
    std::erase_if(relayed_, [this](std::uint32_t lane) {
      if (!second_.TryFlush(lane)) return false;
      has_relayed_[lane] = false;
      return true;
    });
  }

 private:
  /// How items for a member leave.
  struct Way {
    std::uint32_t next = 0;  // member to which they go
    std::uint32_t lane = 0;  // of the hop
    bool is_first = false;   // hop
  };

  Hop<T>& HopOf(const Way& way) { return way.is_first ? first_ : second_; }

  /// Passes on items that have made their first hop.
  bool Relay(typename Hop<T>::Source& source, Dealer<T>& dealer, std::size_t limit, std::uint64_t& num_handled) {
    bool has_any = false;
    for (std::size_t count = 0; count < limit; ++count) {
      if (!source.has_item && source.outlet.TryStep() == 0) break;
      source.has_item = true;
      const Routed<T>& routed = source.outlet.Get();
      if (routed.member == rank_) {
        dealer.Handle(source.from, routed.item);
        ++num_handled;
      } else if (!TryRelay(WayOn(routed.member), {static_cast<std::uint32_t>(source.from), routed.item})) {
        break;
      }
      source.has_item = false;
      has_any = true;
    }
    return has_any;
  }
  bool TryRelay(const Way& way, const Routed<T>& routed) {
    if (!second_.TryPush(way.lane, routed)) {
      me_.CheckStays(way.next);
      return false;
    }
    is_relaying_ = true;
    if (!has_relayed_[way.lane]) {
      has_relayed_[way.lane] = true;
      relayed_.push_back(way.lane);
    }
    return true;
  }
  const Way& WayOn(std::uint32_t to) const {
    if (to >= ways_.size() || ways_[to].is_first)
      throw Error("an item of a conveyor has come to a member that does not send to its destination");
    return ways_[to];
  }

  Member& me_;
  std::size_t rank_;
  OwnLane<T> own_;
  Hop<T> first_{};
  Hop<T> second_{};
  std::vector<Way> ways_;                 // by member
  std::vector<std::uint32_t> relayed_{};  // lanes of the second hop that may hold items of others
  std::vector<bool> has_relayed_{};       // by lane: whether it is one of these
  bool is_relaying_ = false;              // items have come for others in this pass
  std::uint32_t num_passes_ = 0;          // in a row, in which some have come
};

}  // namespace uit::detail
