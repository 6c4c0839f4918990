#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <netuit/barrier/exact_sum.hpp>
#include <netuit/barrier/ordered_double.hpp>
#include <netuit/barrier/reduced.hpp>
#include <netuit/barrier/vote.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/run/cut_rounds.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/schedule.hpp>
#include <netuit/run/team.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/function_ref.hpp>

namespace netuit::detail {

/// What a worker brings of its reductions to votes, and whether all have agreed that the run's condition holds. Where the schedule
/// makes no votes, it makes them beside the updates. That worker only.
class Agreement {
 public:
  /// Refers to all arguments. `thread` is the worker's.
  Agreement(Team& team, const RunPlan& plan, Partition& partition, CutRounds& rounds, std::uint32_t thread)
      : team_(team), plan_(plan), partition_(partition), rounds_(rounds), thread_(thread) {}

  /// Before an update: lets reductions begin again, or go on, with what nodes give in it.
  void BeginUpdate() {
    if (plan_.delivery.is_by_update) partition_.notes.reduced.Clear();
    else if (partition_.notes.reduced.sums.Size() != 0) TakeSums();
  }
  /// Returns what the worker's nodes have given to reductions: in the last update, where all see values of the update before.
  /// Elsewhere in a span in which its effective updates have grown by two, and since then; of a sum, that of the update that is worst
  /// for the condition. Before the first such span, unknown. Without a condition, since it was brought last; of a sum, that of the
  /// last update. Reductions over cuts are those of the last cut, or unknown.
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
  /// Never waits. Returns whether the run's condition holds. See Team::TryEndVote for `timeout`.
  bool EndsAside(uit::TimePoint now, std::chrono::nanoseconds timeout, uit::FunctionRef<Vote()> vote) {
    if (now < next_) return false;
    if (team_.HasVote(thread_)) {
      const std::optional<Vote> agreed = team_.TryEndVote(thread_, timeout);
      if (!agreed) return false;
      if (agreed->stop >= Team::Encode(StopReason::asked)) team_.RaiseStop(agreed->stop);
      if (Ends(*agreed)) return true;
    }
    Vote mine = vote();
    mine.is_pending = 1;
    team_.BeginVote(thread_, mine);
    next_ = now + std::chrono::milliseconds(1);
    return false;
  }
  /// After the worker's last update: takes part in such votes until all workers have come here. So all leave after the same vote.
  /// `end()` waits for the outcome of the vote that the worker has begun.
  void FinishAside(std::uint32_t reason, uit::FunctionRef<Vote()> end) {
    Vote last;
    do {
      if (team_.HasVote(thread_)) Ends(end());
      team_.BeginVote(thread_, {.stop = reason, .reduced = Reduced::Unknown()});
      last = end();
      Ends(last);
    } while (last.is_pending != 0);
  }

 private:
  Reduced BringGiven(std::uint64_t num_updates) {
    Reduced& given = partition_.notes.reduced;
    if (plan_.delivery.is_by_update || partition_.NumNodes() == 0) return given;
    TakeSums();
    if (!plan_.until) {
      if (num_updates == 0) return Reduced::Unknown();
      const Reduced mine{.extremes = given.extremes, .sums = sums_};
      given.Clear();
      return mine;
    }
    const std::uint64_t count = partition_.effective.Known().value_or(num_updates);
    if (count >= span_begin_ + 2) {
      of_span_ = {.extremes = given.extremes, .sums = sums_};
      given.Clear();
      sums_.Clear();
      span_begin_ = count;
    }
    Reduced mine = of_span_;
    mine.Merge({.extremes = given.extremes});
    KeepWorst(mine.sums, sums_);
    return mine;
  }
  /// Takes the sums of the last update.
  void TakeSums() {
    Sums& last = partition_.notes.reduced.sums;
    if (plan_.until) KeepWorst(sums_, last);
    else if (last.Size() != 0) sums_ = last;
    last.Clear();
  }
  /// Keeps, of two updates, the sums that are worse for the run's condition.
  void KeepWorst(Sums& kept, const Sums& others) const {
    for (std::size_t i = 0; i < others.Size(); ++i) {
      const ExactSum other = others.Of(i);
      if (other.IsEmpty()) continue;
      const ExactSum mine = kept.Of(i);
      const std::uint64_t word = ToOrdered(mine.Value());
      const std::uint64_t other_word = ToOrdered(other.Value());  // NaN is worst, because it ends no run
      const bool is_worse = other_word == ordered_nan || (plan_.until->is_below ? other_word > word : other_word < word);
      if (mine.IsEmpty() || (word != ordered_nan && is_worse)) kept.At(i) = other;
    }
  }

  Team& team_;
  const RunPlan& plan_;
  Partition& partition_;
  CutRounds& rounds_;
  std::uint32_t thread_;
  Reduced of_span_ = Reduced::Unknown();  // what nodes gave in the last span
  Sums sums_;                        // of the last update, or since the last span
  std::uint64_t span_begin_ = 0;     // effective updates when the present span began
  uit::TimePoint next_{};            // when to look again
};

}  // namespace netuit::detail
