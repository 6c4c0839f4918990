#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <netuit/barrier/exact_sum.hpp>
#include <netuit/barrier/ordered_double.hpp>
#include <netuit/barrier/reduced.hpp>
#include <netuit/barrier/vote.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/run/cut_rounds.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/schedule.hpp>
#include <netuit/run/run_control.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/function_ref.hpp>

namespace netuit::detail {

/// What a worker brings of its reductions to votes, and whether all have agreed that the run's condition holds. Where the schedule
/// makes no votes, it makes them beside the updates. That worker only.
class Agreement {
 public:
  /// Refers to all arguments. `thread` is the worker's.
  Agreement(RunControl& control, const RunPlan& plan, Partition& partition, CutRounds& rounds, std::uint32_t thread)
      : control_(control), plan_(plan), partition_(partition), rounds_(rounds), thread_(thread) {}

  /// Before an update: lets reductions begin again, or go on, with what nodes give in it.
  void BeginUpdate() {
    Reduced& given = partition_.notes.reduced;
    if (plan_.delivery.is_by_update || (is_brought_ && !plan_.until)) {
      given = partition_.none_given;
    } else {
      if (plan_.until) KeepSum();
      given.sums = partition_.none_given.sums;
    }
    is_brought_ = false;
    is_sum_new_ = true;
  }
  /// Returns what the worker's nodes have given to reductions. To sums: in the last update. To extremes: in the last update where
  /// all see values of the previous update, elsewhere since it was brought to an earlier update's vote.
  ///
  /// In best effort with a condition it returns extremes of a span in which the worker's effective updates have grown by two, and
  /// of what came since; and if the condition is on a sum, that sum in the worst update of this time. Before the end of the first
  /// span, and before the first update, it returns that nothing is known. Reductions over cuts are those of the last cut, or
  /// unknown.
  Reduced Bring(std::uint64_t num_updates) {
    Reduced mine = BringGiven(num_updates);
    rounds_.Bring(mine);
    return mine;
  }
  /// Takes note of the numbers on which the workers have agreed. Returns whether the run's condition holds.
  bool Ends(const Vote& agreed) {
    auto reduced = agreed.reduced.Words();
    rounds_.TakeNote(reduced, partition_.agreed);
    partition_.agreed = reduced;
    return plan_.until && plan_.until->Holds(reduced[plan_.until->reduction]);
  }

  // Only if RunPlan::votes_aside.

  /// Between updates: about once a millisecond, looks whether the last vote is over, and begins another with what `vote()` returns.
  /// Never waits. Returns whether the run's condition holds. See RunControl::TryEndVote for `timeout`.
  bool EndsAside(uit::TimePoint now, std::chrono::nanoseconds timeout, uit::FunctionRef<Vote()> vote) {
    if (now < next_) return false;
    if (control_.HasVote(thread_)) {
      const std::optional<Vote> agreed = control_.TryEndVote(thread_, timeout);
      if (!agreed) return false;
      if (agreed->stop >= RunControl::Encode(StopReason::asked)) control_.RaiseStop(agreed->stop);
      if (Ends(*agreed)) return true;
    }
    Vote mine = vote();
    mine.is_pending = 1;
    control_.BeginVote(thread_, mine);
    next_ = now + std::chrono::milliseconds(1);
    return false;
  }
  /// After the worker's last update: takes part in such votes until all workers have come here. So all leave after the same vote.
  /// `end()` waits for the outcome of the vote that the worker has begun.
  void FinishAside(std::uint32_t reason, uit::FunctionRef<Vote()> end) {
    Vote last;
    do {
      if (control_.HasVote(thread_)) Ends(end());
      control_.BeginVote(thread_, {.stop = reason, .reduced = Reduced::Unknown()});
      last = end();
      Ends(last);
    } while (last.is_pending != 0);
  }

 private:
  Reduced BringGiven(std::uint64_t num_updates) {
    Reduced& given = partition_.notes.reduced;
    is_brought_ = true;
    if (partition_.NumNodes() == 0) return given;
    if (num_updates == 0) return Reduced::Unknown();
    if (plan_.delivery.is_by_update || !plan_.until) return given;
    KeepSum();
    const std::uint64_t count = partition_.effective.Known().value_or(num_updates);
    if (count >= span_begin_ + 2) {
      extremes_of_span_ = std::exchange(given.extremes, {});
      sum_of_span_ = std::exchange(sum_, {});
      span_begin_ = count;
    }
    Reduced mine = given;
    for (std::size_t i = 0; i < max_reductions; ++i) mine.extremes[i] = std::max(mine.extremes[i], extremes_of_span_[i]);
    if (IsOnSum()) mine.sums.At(plan_.until->reduction) = Worse(sum_of_span_, sum_);
    return mine;
  }
  /// Whether the run has a condition on a sum, not over cuts.
  bool IsOnSum() const { return !partition_.none_given.sums.Of(plan_.until->reduction).IsEmpty(); }
  /// Notes the sum of the last update, if it is worse for the condition than those of the updates before.
  void KeepSum() {
    if (!std::exchange(is_sum_new_, false) || !IsOnSum()) return;
    sum_ = Worse(sum_, partition_.notes.reduced.sums.Of(plan_.until->reduction));
  }
  /// Returns the sum that is worse for the condition. NaN is worst, because it ends no run; an empty sum is no worse than any.
  ExactSum Worse(const ExactSum& one, const ExactSum& other) const {
    if (one.IsEmpty() || other.IsEmpty()) return one.IsEmpty() ? other : one;
    const std::uint64_t word = ToOrdered(one.Value());
    const std::uint64_t other_word = ToOrdered(other.Value());
    if (word == ordered_nan || other_word == ordered_nan) return word == ordered_nan ? one : other;
    return (word < other_word) == plan_.until->is_below ? other : one;
  }

  RunControl& control_;
  const RunPlan& plan_;
  Partition& partition_;
  CutRounds& rounds_;
  std::uint32_t thread_;
  bool is_brought_ = false;          // what nodes gave in the last update has been brought to a vote
  // In best effort with a condition: extremes and worst sum of the last span, and the worst sum since then.
  std::array<std::uint64_t, max_reductions> extremes_of_span_ = Reduced::Unknown().extremes;
  ExactSum sum_of_span_;
  ExactSum sum_;
  bool is_sum_new_ = false;          // that of the last update is not in sum_ yet
  std::uint64_t span_begin_ = 0;     // effective updates when the present span began
  uit::TimePoint next_{};            // when to look again
};

}  // namespace netuit::detail
