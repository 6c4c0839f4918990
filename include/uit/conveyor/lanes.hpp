#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <uit/conveyor/conveyor_sizes.hpp>
#include <uit/conveyor/dealer.hpp>
#include <uit/support/bytes.hpp>
#include <uit/team/member.hpp>

namespace uit::detail {

/// Brings items of one member of a conveyor to the other members, and theirs to it. No call waits.
template <TriviallyCopyable T>
class Lanes {
 public:
  Lanes() = default;
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;
  virtual ~Lanes() = default;

  /// Takes items for a member, from the first on, as many as there is room for. Returns how many.
  virtual std::size_t Take(std::size_t to, std::span<const T> items) = 0;
  /// Sends what it has taken for a member. Returns whether all of it is sent.
  virtual bool TryFlush(std::size_t to) = 0;
  /// Sends what it has taken, as far as there is room; if `only_here`, only to members of this process.
  virtual void FlushAll(bool only_here) = 0;
  /// The member that must make room before more items for `to` can be taken.
  virtual std::size_t Next(std::size_t to) const = 0;

  /// The number of members from which items come.
  virtual std::size_t NumSources() const = 0;
  /// The source that is the member itself.
  virtual std::size_t OwnSource() const = 0;
  /// Passes up to `limit` items from a source on: those for this member to `dealer`, which counts them. Returns whether there were any.
  virtual bool Deal(std::size_t source, Dealer<T>& dealer, std::size_t limit, std::uint64_t& num_handled) = 0;
  /// After each source has been dealt with once.
  virtual void EndPass() {}
};

/// The lanes if each member sends to each other.
template <TriviallyCopyable T>
class DirectLanes final : public Lanes<T> {
 public:
  /// Opens conduits. `processes` are those of all members.
  DirectLanes(Member& me, const std::vector<std::size_t>& processes, const ConveyorSizes& sizes) : own_(me.Rank()) {
    for (std::size_t other = 0; other < me.Size(); ++other) {
      const ConduitOptions options{.depth = other == own_ ? sizes.depth_own : sizes.depth, .buffer_bytes = sizes.frame_bytes};
      inlets_.push_back(me.InletTo<T, in_frames>(other, options));
      outlets_.push_back(me.OutletFrom<T, in_frames>(other, options));
      if (processes[other] == me.Process()) here_.push_back(other);
    }
  }

  std::size_t Take(std::size_t to, std::span<const T> items) override { return inlets_[to].StageSome(items); }
  bool TryFlush(std::size_t to) override { return inlets_[to].TryFlush(); }
  void FlushAll(bool only_here) override {
    if (only_here)
      for (const std::size_t to : here_) inlets_[to].TryFlush();
    else
      for (auto& inlet : inlets_) inlet.TryFlush();
  }
  std::size_t Next(std::size_t to) const override { return to; }

  std::size_t NumSources() const override { return outlets_.size(); }
  std::size_t OwnSource() const override { return own_; }
  bool Deal(std::size_t source, Dealer<T>& dealer, std::size_t limit, std::uint64_t& num_handled) override {
    return dealer.Deal(source, outlets_[source], limit, num_handled);
  }

 private:
  std::size_t own_;
  std::vector<MemberInlet<T, in_frames>> inlets_{};    // by member
  std::vector<MemberOutlet<T, in_frames>> outlets_{};  // by member
  std::vector<std::size_t> here_{};                    // members of this process
};

}  // namespace uit::detail
