#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <netuit/barrier/process_barrier.hpp>
#include <uit/team/thread_barrier.hpp>
#include <netuit/barrier/thread_vote.hpp>
#include <netuit/mesh/phase.hpp>
#include <netuit/run/late_notice.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/schedule.hpp>
#include <netuit/run/stop_reasons.hpp>
#include <uit/config.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/support/function_ref.hpp>
#include <uit/support/peer_watch.hpp>
#include <uit/support/process_hooks.hpp>
#include <uit/link/process_state.hpp>
#include <uit/link/world.hpp>
#include <uit/team/loop_board.hpp>

namespace netuit::detail {

/// The threads of one process in a run: their barriers, and the reasons to stop.
class RunControl : public StopReasons {
 public:
  /// `process` knows which peers have ended.
  RunControl(ProcessBarrier& processes, const uit::ProcessState& process, std::uint32_t num_threads, const RunOptions& options,
             const RunPlan& plan)
      : StopReasons(process.Hooks(), options),
        processes_(processes),
        peers_(process.Watch()),
        options_(options),
        needs_all_(plan.delivery.is_by_update),
        threads_(num_threads),
        votes_(num_threads),
        views_(num_threads) {
    const uit::ProcessHooks& hooks = process.Hooks();
    if (options.stops_on_signal && hooks.heed_stops) stops_ = hooks.heed_stops();
    if (plan.steals && num_threads > 1) loops_.emplace(num_threads);
  }
  RunControl(const RunControl&) = delete;
  RunControl& operator=(const RunControl&) = delete;
  ~RunControl() {
    // If a launcher notices a lost process, it also ends the others by signals.
    if (stops_ && (Reason() == StopReason::signal || Reason() == StopReason::peer_lost)) stops_->Keep();
  }

  StopReason Reason() const { return ReasonOf(agreed_.stop); }
  int Signal() const { return Reason() == StopReason::signal ? static_cast<int>(agreed_.stop % 1000) : 0; }

  /// Waits at a barrier for all workers of all processes, and merges their votes. Every thread of the process calls it.
  /// `idle` is called between tries, as in uit::WaitUntil; `habit` is the thread's own.
  void Meet(std::uint32_t thread, const Vote& mine, std::chrono::nanoseconds timeout, uit::FunctionRef<bool()> idle,
            uit::SpinHabit& habit) {
    views_[thread].vote = mine;
    const uit::Backoff backoff(habit);
    threads_.ArriveAndWait([&] { agreed_ = Agree(timeout, idle, backoff); }, idle, backoff);
  }
  /// Returns the merged votes of the last barrier.
  const Vote& Agreed() const { return agreed_; }
  /// Begins a vote of all workers of all processes. Never waits. Every thread of the process calls it, and then EndVote before the
  /// next. The processes' barrier serves one vote at a time, so no thread may call Meet in between.
  void BeginVote(std::uint32_t thread, const Vote& mine) {
    if (IsBroken()) return;
    views_[thread].has_vote = true;
    votes_.Begin(thread, mine, [this](const Vote& all) { processes_.Begin(all); });
  }
  /// Whether the thread has begun a vote and not ended it. That thread only.
  bool HasVote(std::uint32_t thread) const { return views_[thread].has_vote; }
  /// Returns the outcome of the vote that the thread has begun, or nothing if it is not known yet. Never waits. If the others have
  /// not voted within `timeout`, or one of them has ended, the run is broken.
  std::optional<Vote> TryEndVote(std::uint32_t thread, std::chrono::nanoseconds timeout) {
    if (!IsOver(thread, [&](Vote& outcome) { return Ask(outcome, timeout); }) || IsBroken()) return std::nullopt;
    views_[thread].has_vote = false;
    return votes_.Outcome();
  }
  /// Waits for the outcome of the vote that the thread has begun, and returns it. Returns an empty vote if there is none,
  /// and that a peer was lost if the run is broken.
  Vote EndVote(std::uint32_t thread, std::chrono::nanoseconds timeout, uit::FunctionRef<bool()> idle, uit::SpinHabit& habit) {
    const bool has_vote = std::exchange(views_[thread].has_vote, false);
    if (!has_vote && !IsBroken()) return {};
    LateNotice notice(options_.warn_after);
    const auto ask = [&](Vote& outcome) {
      if (Ask(outcome, timeout)) return true;
      notice.Try([this] { Warn("waiting for rank " + std::to_string(processes_.Awaited()) + " to vote"); });
      return false;
    };
    uit::WaitUntil([&] { return IsOver(thread, ask); }, uit::never, idle, uit::Backoff(habit));
    if (IsBroken()) return {.stop = Encode(StopReason::peer_lost)};
    return votes_.Outcome();
  }
  /// Notes that a thread has updated its nodes in this phase, and now waits for others at most; or, later, that it goes on. That
  /// thread.
  void NoteEnd(std::uint32_t thread, Phase phase, bool has_ended = true) {
    views_[thread].num_ended.store(phase.Place() + (has_ended ? 1 : 0), std::memory_order_relaxed);  // a hint for how long to wait
  }
  /// Whether all threads of this process have updated their nodes in this phase. Before the first update, none has any to update.
  /// Any worker.
  bool HaveAllEnded(Phase phase) const {
    return phase.IsStart() || std::ranges::all_of(views_, [phase](const View& view) {
             return view.num_ended.load(std::memory_order_relaxed) > phase.Place();
           });
  }

  /// Returns the board on which workers post the updates of their nodes, or null if no worker steals. Any worker.
  uit::LoopBoard<>* Loops() { return loops_ ? &*loops_ : nullptr; }
  /// Updates some nodes of another worker of this process, if there are any to update and workers steal. Returns whether it has.
  /// Call it while `thread` waits. That thread.
  bool TrySteal(std::uint32_t thread) { return loops_ && loops_->TrySteal(thread); }

  /// Ends communication with the other processes, and the run. Any worker.
  void Break(const std::string& why) {
    SetMessage(why);
    is_broken_.store(true, std::memory_order_relaxed);
    RaiseStop(Encode(StopReason::peer_lost));
  }
  bool IsBroken() const { return is_broken_.load(std::memory_order_relaxed); }
  /// Whether a process of this host is known to have ended, so that waiting for it is useless.
  bool IsAnybodyGone() const { return peers_.Gone().has_value(); }
  /// Returns the ranks of the processes that are known to have ended, ascending.
  std::vector<std::size_t> Gone() const { return peers_.AllGone(); }
  /// Ends the run because a process that has ended is needed for `what`. Any worker.
  void BreakForTheGone(const char* what) { Lose(uit::PeerLost(peers_.Gone().value_or(0), what), true); }
  /// Ends the run if processes have continued without each other, because they can no longer agree at its end. Any worker.
  void BreakIfApart() {
    is_ending_.store(true, std::memory_order_relaxed);  // from here on, losing a peer breaks the run
    if (are_apart_.load(std::memory_order_relaxed)) Break("processes have continued without each other");
  }
  /// Returns the processes that were lost, ascending. Processes that ended for the same reason as this one are left out, if the
  /// barrier knows them. Otherwise returns those that had ended when a loss was first noticed. After the run.
  std::vector<std::size_t> LostPeers() const {
    std::vector<std::size_t> lost = processes_.KnowsWhoLeft() ? peers_.AllGone() : first_gone_;
    std::erase_if(lost, [this](std::size_t rank) { return processes_.HasLeft(rank); });
    if (silent_) lost.push_back(*silent_);
    std::ranges::sort(lost);
    lost.erase(std::unique(lost.begin(), lost.end()), lost.end());
    return lost;
  }

  /// Checks for signals. If `at_others`, also checks for other processes' reasons to stop, because no barrier would bring them.
  /// First worker only.
  void LookOut(bool at_others) {
    if (stops_) {
      if (const int signal = stops_->Take(); signal != 0) RaiseStop(Encode(StopReason::signal, signal));
    }
    if (at_others) {
      if (IsAnybodyGone()) SayOnce(uit::PeerLost(*peers_.Gone(), "noticed between updates"));
      if (const std::uint32_t stop = processes_.EarlyStop(); stop >= Encode(StopReason::asked)) RaiseStop(stop);
    }
  }

  /// Keeps signals blocked after a process was lost after the last barrier, because results still have to be written.
  void KeepSignals() {
    if (stops_) stops_->Keep();
  }
  /// After the last barrier: a signal that came too late for the others still counts in this process.
  void HeedLateSignal() {
    LookOut(false);
    const std::uint32_t stop = StopSeen();
    if (stop > agreed_.stop && ReasonOf(stop) == StopReason::signal) agreed_.stop = stop;
  }
  /// After the last barrier: if a worker of any process has thrown since, the run has ended by that. Collective. Throws uit::PeerLost.
  void HeedLateThrow(const uit::World& world) {
    const bool has_thrown = ReasonOf(StopSeen()) == StopReason::thrown;
    if (world.Max(has_thrown ? 1U : 0U) != 0) agreed_.stop = Encode(StopReason::thrown);
  }

 private:
  struct alignas(uit::cache_line) View {
    bool has_vote = false;                    // begun with BeginVote and not ended
    std::atomic<std::uint64_t> num_ended{0};  // phases; see NoteEnd
    Vote vote;                                // of the last barrier; last, because its sums are seldom used
  };

  /// Whether all processes have voted, as far as the first to ask can tell. Throws uit::PeerLost if one of them has ended, or has
  /// not voted within `timeout` since all threads of this process have. One thread at a time; see ThreadVote::TryEnd.
  bool Ask(Vote& outcome, std::chrono::nanoseconds timeout) {
    const bool is_anybody_gone = IsAnybodyGone();  // everything it did before has taken effect
    const bool is_known = processes_.TryEnd(outcome);
    if (is_known) vote_end_ = uit::never;
    else if (vote_end_ == uit::never) vote_end_ = uit::After(timeout);
    if (!is_known && (is_anybody_gone || uit::Now() >= vote_end_)) processes_.GiveUp(is_anybody_gone);
    return is_known;
  }
  /// Whether the thread's vote is over, or the run is broken.
  bool IsOver(std::uint32_t thread, uit::FunctionRef<bool(Vote&)> ask) {
    try {
      return IsBroken() || votes_.TryEnd(thread, ask);
    } catch (const uit::PeerLost& lost) {
      Lose(lost, true);
    } catch (const std::exception& trouble) {
      Break(trouble.what());
    }
    return true;
  }
  Vote Agree(std::chrono::nanoseconds timeout, uit::FunctionRef<bool()> idle, const uit::Backoff& backoff) {
    Vote all;
    for (const View& view : views_) all.Merge(view.vote);
    const Vote here = all;
    // The part of the timeout beyond peer_timeout is time that the others may take anyway, so it is not lateness.
    const std::chrono::nanoseconds span = timeout - options_.peer_timeout;
    LateNotice notice(options_.warn_after + std::min(span, std::chrono::nanoseconds::max() - options_.warn_after));
    const auto watchfully_idle = [&] {
      notice.Try([this] { Warn("waiting for rank " + std::to_string(processes_.Awaited()) + " at a barrier"); });
      return idle();
    };
    try {
      if (!IsBroken() && !are_apart_.load(std::memory_order_relaxed))
        all = processes_.ArriveAndWait(all, timeout, watchfully_idle, backoff);
    } catch (const uit::PeerLost& lost) {
      Lose(lost, needs_all_ || is_ending_.load(std::memory_order_relaxed));
      all = here;
    } catch (const std::exception& trouble) {
      Break(trouble.what());
    }
    if (IsBroken()) all.stop = Encode(StopReason::peer_lost);
    return all;
  }
  /// Handles the loss of a process. If `is_fatal`, it ends the run; else the processes continue without each other.
  void Lose(const uit::PeerLost& lost, bool is_fatal) {
    // If workers also wait for messages, a process that misses a barrier may itself have waited for the silent one.
    if (!is_fatal && !IsAnybodyGone()) silent_ = lost.Rank();
    NoteTheGone();
    if (is_fatal) return Break(lost.what());
    SetMessage(lost.what());
    are_apart_.store(true, std::memory_order_relaxed);
    SayOnce(lost);
  }
  void SayOnce(const uit::PeerLost& lost) {
    if (has_said_.exchange(true, std::memory_order_relaxed)) return;
    NoteTheGone();
    Warn(std::string(lost.what()) + "; the others continue");
  }
  void NoteTheGone() {
    const std::lock_guard lock(mutex_);
    if (first_gone_.empty()) first_gone_ = peers_.AllGone();
  }

  ProcessBarrier& processes_;
  const uit::PeerWatch& peers_;
  const RunOptions& options_;
  bool needs_all_;
  uit::ThreadBarrier<> threads_;
  ThreadVote<> votes_;
  std::vector<View> views_;  // by thread
  std::optional<uit::LoopBoard<>> loops_;
  uit::TimePoint vote_end_ = uit::never;  // when to give up processes that have not voted; see Ask
  Vote agreed_;
  std::unique_ptr<uit::StopSource> stops_;
  std::atomic<bool> is_broken_{false};
  std::atomic<bool> are_apart_{false};
  std::atomic<bool> is_ending_{false};
  std::atomic<bool> has_said_{false};  // that a process was lost
  std::optional<std::size_t> silent_;       // written by the thread that meets the other processes
  std::mutex mutex_;                        // of the next
  std::vector<std::size_t> first_gone_;     // those that had ended when the first loss was noticed
};

}  // namespace netuit::detail
