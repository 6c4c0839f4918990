#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include <uit/conveyor/conveyor.hpp>
#include <uit/conveyor/conveyors.hpp>
#include <uit/team/member.hpp>

#include "tree.hpp"

namespace uts {

/// Some nodes for another member.
struct Parcel {
  std::uint32_t count = 0;
  std::array<Node, 20> nodes{};
};
/// A member tells itself to go on, or asks another for nodes.
enum class Call : std::uint8_t { go_on, ask };

/// Searches a tree on all members. One begins with the root. A member without nodes asks some others, its lifelines (Saraswat et
/// al. 2011): those 1, 2, 4 … ranks behind it. Each of them answers as soon as it has nodes to spare, with at most half of them,
/// and with the oldest, which have the largest subtrees. A member does not ask again before the answer.
///
/// Everything happens in handlers. A member with nodes visits some of them at a time, and sends itself an item to go on, so that it
/// handles what others send in between. So nothing is under way any more exactly if no member has nodes, and Finish ends the
/// search.
class BySharing {
 public:
  /// Collective. A member visits `nodes_per_turn` nodes before it handles what others send.
  BySharing(uit::Member& me, const Tree& tree, std::size_t nodes_per_turn)
      : me_(me),
        tree_(tree),
        nodes_per_turn_(nodes_per_turn),
        set_(me),
        parcels_(set_, [this](std::size_t from, const Parcel& parcel) { Take(from, parcel); }),
        calls_(set_, [this](std::size_t from, const Call& call) { call == Call::go_on ? GoOn() : Remember(from); }) {
    for (std::size_t distance = 1; distance < me.Size(); distance *= 2)
      lifelines_.push_back({.rank = (me.Rank() + me.Size() - distance) % me.Size()});
  }

  /// Collective. Returns what this member has found: the sums over all members are those of the tree.
  Census Run() {
    census_ = {};
    is_going_ = true;
    if (me_.IsRoot()) open_.push_back(RootOf(tree_));
    calls_.Push(me_.Rank(), Call::go_on);
    set_.Finish();
    return census_;
  }
  /// How many parcels of nodes this member has given to others.
  std::uint64_t NumGiven() const { return num_given_; }

 private:
  struct Lifeline {
    std::size_t rank = 0;
    bool is_asked = false;
  };
  static constexpr std::size_t least_to_share = 8;

  void GoOn() {
    VisitSome(tree_, nodes_per_turn_, open_, census_);
    while (!waiting_.empty() && open_.size() >= least_to_share) GiveTo(waiting_.front());
    if (!open_.empty()) return calls_.Push(me_.Rank(), Call::go_on);
    is_going_ = false;
    for (Lifeline& lifeline : lifelines_) {
      if (lifeline.is_asked) continue;
      lifeline.is_asked = true;
      calls_.Push(lifeline.rank, Call::ask);
    }
  }
  void Remember(std::size_t from) { waiting_.push_back(from); }
  /// Gives the oldest nodes to the member that has waited longest.
  void GiveTo(std::size_t to) {
    waiting_.pop_front();
    Parcel parcel;
    parcel.count = static_cast<std::uint32_t>(std::min(open_.size() / 2, parcel.nodes.size()));
    std::copy_n(open_.begin(), parcel.count, parcel.nodes.begin());
    open_.erase(open_.begin(), open_.begin() + parcel.count);
    parcels_.Push(to, parcel);
    ++num_given_;
  }
  void Take(std::size_t from, const Parcel& parcel) {
    for (Lifeline& lifeline : lifelines_) lifeline.is_asked = lifeline.is_asked && lifeline.rank != from;
    open_.insert(open_.end(), parcel.nodes.begin(), parcel.nodes.begin() + parcel.count);
    if (is_going_) return;
    is_going_ = true;
    calls_.Push(me_.Rank(), Call::go_on);
  }

  uit::Member& me_;
  Tree tree_;
  std::size_t nodes_per_turn_;
  Census census_{};
  std::vector<Node> open_{};           // not visited yet
  std::vector<Lifeline> lifelines_{};
  std::deque<std::size_t> waiting_{};  // members that have asked and got no answer yet
  bool is_going_ = false;              // an item to go on is under way
  std::uint64_t num_given_ = 0;
  uit::Conveyors set_;
  uit::Conveyor<Parcel> parcels_;
  uit::Conveyor<Call> calls_;
};

}  // namespace uts
