#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <netuit/barrier/process_barrier.hpp>
#include <netuit/barrier/thread_barrier.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/signal_watch.hpp>
#include <uit/config.hpp>
#include <uit/support/clock.hpp>

namespace netuit::detail {

/// The threads of one process in a run: where they meet, and what ends the run.
class Team {
 public:
  Team(ProcessBarrier& processes, std::uint32_t num_threads, bool watches_signals)
      : processes_(processes), threads_(num_threads), views_(num_threads) {
    if (watches_signals) watch_.emplace();
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team() {
    if (watch_ && Reason() == StopReason::signal) watch_->Keep();
  }

  /// A reason to stop as one number; the signal's beside it. A weightier reason is larger.
  static constexpr std::uint32_t Encode(StopReason reason, int signal = 0) {
    return static_cast<std::uint32_t>(reason) * 1000 + static_cast<std::uint32_t>(signal);
  }
  StopReason Reason() const { return static_cast<StopReason>(agreed_.stop / 1000); }
  int Signal() const { return Reason() == StopReason::signal ? static_cast<int>(agreed_.stop % 1000) : 0; }
  /// What went wrong here, if anything.
  std::string Message() const { return message_; }

  /// Meets all workers of all processes, and agrees with them. Each thread of the process.
  template <std::invocable Idle>
  void Meet(std::uint32_t thread, const Accord& mine, std::chrono::nanoseconds timeout, Idle&& idle) {
    views_[thread].accord = mine;
    threads_.ArriveAndWait([&] { agreed_ = Agree(timeout, idle); }, idle);
  }
  /// Meets the threads of this process.
  template <std::invocable Idle>
  void MeetHere(Idle&& idle) {
    threads_.ArriveAndWait([] {}, idle);
  }
  /// What was agreed on at the last meeting.
  const Accord& Agreed() const { return agreed_; }

  /// The weightiest reason to stop that has come up in this process, or 0. Any worker.
  std::uint32_t StopSeen() const { return stop_.load(std::memory_order_relaxed); }
  void RaiseStop(std::uint32_t stop) {
    std::uint32_t seen = stop_.load(std::memory_order_relaxed);
    while (seen < stop && !stop_.compare_exchange_weak(seen, stop, std::memory_order_relaxed)) {
    }
  }
  /// A function of the user's threw. Any worker; the first one's words are kept.
  UIT_NOINLINE void StopByThrow(const std::string& what, std::exception_ptr thrown) {
    std::string words = "something that is no std::exception";
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& exception) {
      words = exception.what();
    } catch (...) {
    }
    SetMessage(what + " threw: " + words);
    RaiseStop(Encode(StopReason::thrown));
  }
  /// Talking to the other processes makes no sense any more. Any worker.
  void Break(const std::string& why) {
    SetMessage(why);
    is_broken_.store(true, std::memory_order_relaxed);
    RaiseStop(Encode(StopReason::peer_lost));
  }
  bool IsBroken() const { return is_broken_.load(std::memory_order_relaxed); }

  /// Looks for signals; and, where no barrier would bring them, for other processes' reasons to stop. First worker.
  void LookOut(bool at_others) {
    if (watch_) {
      if (const int signal = watch_->Take(); signal != 0) RaiseStop(Encode(StopReason::signal, signal));
    }
    if (at_others) {
      if (const std::uint32_t stop = processes_.EarlyStop(); stop >= Encode(StopReason::signal)) RaiseStop(stop);
    }
  }

  /// After the last meeting: a signal of which the others did not hear any more counts here all the same.
  void HeedLateSignal() {
    LookOut(false);
    const std::uint32_t stop = StopSeen();
    if (stop > agreed_.stop && static_cast<StopReason>(stop / 1000) == StopReason::signal) agreed_.stop = stop;
  }

 private:
  struct alignas(uit::cache_line) View {
    Accord accord;
  };

  template <typename Idle>
  Accord Agree(std::chrono::nanoseconds timeout, Idle&& idle) {
    Accord all;
    for (const View& view : views_) all.Merge(view.accord);
    try {
      if (!IsBroken()) all = processes_.ArriveAndWait(all, uit::After(timeout), idle);
    } catch (const std::exception& trouble) {
      Break(trouble.what());
    }
    if (IsBroken()) all.stop = Encode(StopReason::peer_lost);
    return all;
  }
  void SetMessage(std::string words) {
    std::ranges::replace_if(words, [](char c) { return c == '\n' || c == '\r'; }, ' ');
    const std::lock_guard lock(mutex_);
    if (message_.empty()) message_ = std::move(words);
  }

  ProcessBarrier& processes_;
  ThreadBarrier<> threads_;
  std::vector<View> views_;  // by thread
  Accord agreed_;
  std::optional<SignalWatch> watch_;
  std::atomic<std::uint32_t> stop_{0};
  std::atomic<bool> is_broken_{false};
  std::mutex mutex_;
  std::string message_;
};

}  // namespace netuit::detail
