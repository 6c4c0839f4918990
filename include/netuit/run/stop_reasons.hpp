#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <utility>

#include <netuit/run/run_options.hpp>
#include <uit/config.hpp>
#include <uit/support/process_hooks.hpp>

namespace netuit::detail {

/// Why a run ends, as one process sees it, and what it says on the way.
class StopReasons {
 public:
  StopReasons(const uit::ProcessHooks& hooks, const RunOptions& options) : hooks_(hooks), options_(options) {}
  StopReasons(const StopReasons&) = delete;
  StopReasons& operator=(const StopReasons&) = delete;

  /// Encodes a reason to stop, and the signal if any, as one number. A more important reason is larger.
  static constexpr std::uint32_t Encode(StopReason reason, int signal = 0) {
    return static_cast<std::uint32_t>(reason) * 1000 + static_cast<std::uint32_t>(signal);
  }
  /// Returns the reason of such a number.
  static constexpr StopReason ReasonOf(std::uint32_t stop) { return static_cast<StopReason>(stop / 1000); }
  /// Returns the most important reason to stop that this process has, or 0. Any worker.
  std::uint32_t StopSeen() const { return stop_.load(std::memory_order_relaxed); }
  void RaiseStop(std::uint32_t stop) {
    std::uint32_t seen = stop_.load(std::memory_order_relaxed);
    while (seen < stop && !stop_.compare_exchange_weak(seen, stop, std::memory_order_relaxed)) {
    }
  }
  /// Ends the run because a user's function threw. The first message is kept. Any worker.
  UIT_NOINLINE void StopByThrow(const std::string& what, std::exception_ptr thrown) {
    std::string words = "something that is not a std::exception";
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& exception) {
      words = exception.what();
    } catch (...) {
    }
    SetMessage(what + " threw: " + words);
    RaiseStop(Encode(StopReason::thrown));
  }
  /// Calls a function, usually the user's. If it throws, the run ends. Any worker.
  template <std::invocable F>
  void Guard(const char* name, F&& call) {
    try {
      std::forward<F>(call)();
    } catch (...) {
      StopByThrow(name, std::current_exception());
    }
  }
  /// Keeps words of an error, unless there are some already. Any worker.
  void SetMessage(std::string words) {
    std::ranges::replace_if(words, [](char c) { return c == '\n' || c == '\r'; }, ' ');
    const std::lock_guard lock(mutex_);
    if (message_.empty()) message_ = std::move(words);
  }
  /// Returns the first error in this process, or an empty string. After the run.
  std::string Message() const { return message_; }
  /// Calls on_warning, or else the program's warning hook. Any worker.
  void Warn(const std::string& words) {
    const std::lock_guard lock(mutex_);
    try {
      if (options_.on_warning) options_.on_warning(words);
      else if (hooks_.warn) hooks_.warn(words);
    } catch (...) {  // a warning must not end the run, and no caller could handle the exception
    }
  }

 protected:
  ~StopReasons() = default;

 private:
  const uit::ProcessHooks& hooks_;
  const RunOptions& options_;
  std::atomic<std::uint32_t> stop_{0};
  std::mutex mutex_;
  std::string message_;
};

}  // namespace netuit::detail
