#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <uit/conveyor/conveyor_sizes.hpp>
#include <uit/conveyor/dealer.hpp>
#include <uit/conveyor/own_lane.hpp>
#include <uit/support/bytes.hpp>
#include <uit/team/member.hpp>

namespace uit::detail {

/// Where a member is: the numbers of its process and of its host.
struct Place {
  std::size_t process = 0;
  std::size_t host = 0;
};
/// The same for all members of a team, by rank.
struct Places {
  std::vector<std::size_t> processes{};
  std::vector<std::size_t> hosts{};
};

/// Calls `visit(member)` for all members of a team, the one after `rank` first: if all members began with the same, its buffers would be
/// full.
template <std::invocable<std::size_t> F>
void ForEachAfter(std::size_t rank, std::size_t num_members, F&& visit) {
  for (std::size_t member = rank + 1; member < num_members; ++member) visit(member);
  for (std::size_t member = 0; member <= rank; ++member) visit(member);
}

/// Stages items at an inlet, from the first on, as many as there is room for. Returns how many. If that is not all, sends those that
/// are staged, so that the other member sees what it can make room of.
template <TriviallyCopyable T>
std::size_t StageOrFlush(MemberInlet<T, in_frames>& inlet, std::span<const T> items) {
  const std::size_t count = inlet.StageSome(items);
  if (count != items.size()) [[unlikely]] inlet.TryFlush();
  return count;
}

/// Brings items of one member of a conveyor to the other members, and theirs to it. A lane is the conduit to one other member. No
/// call waits. If one throws, some items may have gone, so none may be called again.
template <TriviallyCopyable T>
class Lanes {
 public:
  Lanes() = default;
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;
  virtual ~Lanes() = default;

  /// Takes items for a member, from the first on, as many as there is room for. Returns how many. If that is not all, sends what the
  /// lane holds, so that the next member sees what it can make room of.
  virtual std::size_t Take(std::size_t to, std::span<const T> items) = 0;
  /// Sends what the lane of items for a member holds. Returns whether it is empty.
  virtual bool TryFlush(std::size_t to) = 0;
  /// Sends what all lanes hold, as far as there is room; if `only_here`, only those to members of this process.
  virtual void FlushAll(bool only_here) = 0;
  /// The member that must make room before more items for `to` can be taken.
  virtual std::size_t Next(std::size_t to) const = 0;

  /// The number of members from which items come directly; the member itself is one.
  std::size_t NumSources() const { return num_sources_; }
  /// Passes on up to `limit` items from a source: those for this member to `dealer`. Adds those that it has handled to `num_handled`.
  /// Returns whether there were any.
  virtual bool Deal(std::size_t source, Dealer<T>& dealer, std::size_t limit, std::uint64_t& num_handled) = 0;
  /// Sends items of others that would else stay here. After each source has been dealt with once.
  virtual void EndPass() {}

 protected:
  /// To be called by constructors.
  void SetSources(std::size_t num_sources) { num_sources_ = num_sources; }

 private:
  std::size_t num_sources_ = 0;
};

/// The lanes if each member sends directly to each other.
template <TriviallyCopyable T>
class DirectLanes final : public Lanes<T> {
 public:
  /// Opens conduits; Connect must follow.
  DirectLanes(Member& me, const Places& places, const ConveyorSizes& sizes) : rank_(me.Rank()), own_(sizes.depth_own) {
    const ConduitOptions options{.depth = sizes.depth, .buffer_bytes = sizes.frame_bytes};
    inlets_.resize(me.Size());
    outlets_.resize(me.Size());
    for (std::size_t other = 0; other < me.Size(); ++other) {
      if (other == rank_) continue;
      inlets_[other] = me.InletTo<T, in_frames>(other, options);
      outlets_[other] = me.OutletFrom<T, in_frames>(other, options);
      if (places.processes[other] == me.Process()) here_.push_back(other);
    }
    this->SetSources(outlets_.size());
  }

  std::size_t Take(std::size_t to, std::span<const T> items) override {
    return to == rank_ ? own_.Add(items) : StageOrFlush(inlets_[to], items);
  }
  bool TryFlush(std::size_t to) override { return to == rank_ || inlets_[to].TryFlush(); }
  void FlushAll(bool only_here) override {
    if (only_here)
      for (const std::size_t to : here_) inlets_[to].TryFlush();
    else
      ForEachAfter(rank_, inlets_.size(), [this](std::size_t to) { TryFlush(to); });
  }
  std::size_t Next(std::size_t to) const override { return to; }

  bool Deal(std::size_t source, Dealer<T>& dealer, std::size_t limit, std::uint64_t& num_handled) override {
    return source == rank_ ? dealer.DealOwn(source, own_, limit, num_handled)
                           : dealer.Deal(source, outlets_[source], limit, num_handled);
  }

 private:
  std::size_t rank_;
  OwnLane<T> own_;
  std::vector<MemberInlet<T, in_frames>> inlets_{};    // by member; that of the member itself is not connected
  std::vector<MemberOutlet<T, in_frames>> outlets_{};  // likewise
  std::vector<std::size_t> here_{};                    // other members of this process
};

}  // namespace uit::detail
