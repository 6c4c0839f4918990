#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tests/support/fiber.hpp"
#include "tests/support/memory_orders.hpp"

/// How to add a scenario, for example for a new atomic in the library:
///
/// 1. The class with the atomic takes the type of its atomics as a template parameter. Its plain name is the alias that users
///    see. Within a process, the parameter is a Synchronization (`Sync::Atomic<V>`, as in RingDuct or BasicProcessState). In
///    memory that processes share, it is an `AtomicRef` (as in BasicWriter or BasicRoundBoard). So the explorer runs the code
///    that users run. Explored (explored_atomic.hpp) and ExploredMemory::Ref (explored_memory.hpp) are the explorer's models.
/// 2. The scenario is a class. Its constructor sets up, `Run(thread)` is a thread's work, and `Finish()` runs when all
///    threads have ended. `static constexpr std::size_t num_threads` is the number of threads; two, if it is missing. Run
///    must end whatever the other threads do: a loop that waits calls Yield() and gives up after a few tries. No exception
///    may be active when an atomic is used.
/// 3. Data that one thread writes for another is Watched (watched.hpp), or lies in an ExploredMemory. Then an access that is
///    not ordered is an error. Check values with Expect. Check in Finish that nothing was lost.
/// 4. Two to four operations per thread suffice. It must be possible to explore all schedules in a second or two.
/// 5. A test case calls CheckExhausted<Scenario>(name), or CheckExhaustedBetweenProcesses (schedule_count.hpp).
///
/// Afterwards each memory order of the library's headers is weakened by itself (order_sweep.hpp, which lists exceptions). The
/// test fails unless a scenario notices, and names the line that was not noticed or not reached. If no scenario could notice,
/// the order is stronger than necessary.
namespace uit::testing {

/// The number of threads of a scenario.
template <typename Scenario>
inline constexpr std::size_t num_threads_of = 2;
template <typename Scenario>
  requires requires { Scenario::num_threads; }
inline constexpr std::size_t num_threads_of<Scenario> = Scenario::num_threads;

/// Runs a scenario of a few threads under every schedule with a limited number of preemptions, and with every old value that
/// the memory model lets a load return.
///
/// Threads are fibers. Each operation on an explored atomic is a point where another thread may run. An atomic remembers all
/// of its stores. A load may return any that coherence and happens-before (vector clocks) allow; a read-modify-write gets the
/// newest. Watched memory reports conflicting accesses that are not ordered. The search is depth first, so a search that ends
/// is a proof within the bound. Sequentially consistent orders and fences are not modelled, and the library does not use
/// them. Loads that return values stored only later are not modelled either.
class Explorer {
 public:
  static constexpr std::size_t max_threads = 4;
  /// The thread number of setup and Finish.
  static constexpr std::size_t outside = max_threads;
  /// The progress of each thread, as known; see Tick.
  using VectorClock = std::array<std::uint32_t, max_threads + 1>;

  struct Result {
    std::uint64_t num_executions = 0;
    bool is_exhausted = false;
    std::string failure;         ///< What went wrong first; empty if nothing did.
    std::set<OrderSite> orders;  ///< Where memory orders came from.
  };

  template <typename Scenario>
  static Result Explore(int preemption_bound, std::uint64_t max_executions = 10'000'000) {
    static_assert(num_threads_of<Scenario> <= max_threads);
    Explorer explorer{preemption_bound, num_threads_of<Scenario>};
    MemoryOrders::Get().Forget();
    Result result;
    do {
      explorer.Execute<Scenario>();
      ++result.num_executions;
      result.is_exhausted = !explorer.Backtrack();
    } while (explorer.failure_.empty() && !result.is_exhausted &&
             result.num_executions < max_executions);
    result.failure = explorer.failure_;
    result.orders = MemoryOrders::Get().Seen();
    return result;
  }

  /// The active explorer; only one at a time.
  static Explorer*& Current() {
    static Explorer* current = nullptr;
    return current;
  }

  // For scenarios.

  /// Records a failure and ends this execution.
  static void Expect(bool condition, const char* text) {
    if (!condition) Current()->Fail(text);
  }

  /// Waits: another thread runs, if there is one. This does not count as a preemption.
  static void Yield() {
    Explorer& self = *Current();
    self.Collect();
    if (self.thread_ == outside || self.is_leaving_) return;
    if (self.NumOthers() == 0) return;
    self.Switch(self.Other(self.Choose(self.NumOthers())));
    self.LeaveIfOver();
  }

  /// During its lifetime, a failure does not end the execution by an exception; for destructors.
  class Unbroken {
   public:
    Unbroken() : num_{&Current()->num_unbroken_[Current()->thread_]} { ++*num_; }
    Unbroken(const Unbroken&) = delete;
    Unbroken& operator=(const Unbroken&) = delete;
    ~Unbroken() { --*num_; }

   private:
    int* num_;
  };

  // For explored atomics and what is watched.

  /// The running thread.
  std::size_t Thread() const { return thread_; }
  VectorClock& Clock() { return clocks_[thread_]; }
  std::uint32_t Tick() { return ++Clock()[thread_]; }
  bool IsLeaving() const { return is_leaving_; }
  /// Returns whether everything at these times happens before the thread's next operation.
  bool IsAfter(const VectorClock& times) {
    const VectorClock& clock = Clock();
    for (std::size_t thread = 0; thread < times.size(); ++thread)
      if (times[thread] > clock[thread]) return false;
    return true;
  }
  static void Join(VectorClock& into, const VectorClock& from) {
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = std::max(into[i], from[i]);
  }

  /// Picks one of `num_options`. A replayed execution picks the same again.
  std::size_t Choose(std::size_t num_options) {
    if (num_options < 2 || is_leaving_) return 0;
    if (depth_ == choices_.size()) choices_.push_back({0, num_options});
    return choices_[depth_++].chosen;
  }

  /// A point where another thread may run. Ends a failed execution only if `may_throw`. Otherwise the operation may be a
  /// destructor's store, and an operation that reads nothing can be completed.
  void Point(bool may_throw = true) {
    Collect();
    if (thread_ == outside) return;
    if (!is_leaving_ && num_preemptions_ < preemption_bound_ && NumOthers() != 0) {
      const std::size_t choice = Choose(1 + NumOthers());
      if (choice != 0) {
        ++num_preemptions_;
        Switch(Other(choice - 1));
      }
    }
    if (may_throw) LeaveIfOver();
  }

  void Fail(const std::string& text) {
    if (failure_.empty()) failure_ = text;
    is_leaving_ = true;
    LeaveIfOver();
  }

  /// Registers memory whose plain writes must be found: each point calls `collect(memory)`.
  void CollectBy(void (*collect)(void*), void* memory) {
    collect_ = collect;
    memory_ = memory;
  }

 private:
  struct Leave {};
  void LeaveIfOver() const {
    if (is_leaving_ && num_unbroken_[thread_] == 0 && std::uncaught_exceptions() == 0) throw Leave{};
  }
  void Collect() const {
    if (collect_ != nullptr) collect_(memory_);
  }
  struct Choice {
    std::size_t chosen, num_options;
  };

  Explorer(int preemption_bound, std::size_t num_threads) : preemption_bound_{preemption_bound}, num_threads_{num_threads} {}

  template <typename Scenario>
  void Execute() {
    Current() = this;
    depth_ = 0;
    num_preemptions_ = 0;
    is_leaving_ = false;
    num_unbroken_ = {};
    thread_ = outside;
    clocks_ = {};
    try {
      Scenario scenario;
      body_ = [&scenario](std::size_t thread) { scenario.Run(thread); };
      Collect();
      Tick();
      num_running_ = num_threads_;
      for (std::size_t i = 0; i < num_threads_; ++i) {
        running_[i] = i;
        clocks_[i] = clocks_[outside];
        FiberOf(i).Prepare(&Explorer::Enter);
      }
      Switch(running_[Choose(num_threads_)]);
      for (const VectorClock& clock : clocks_) Join(clocks_[outside], clock);
      if (!is_leaving_) scenario.Finish();
    } catch (const Leave&) {
    }
    Current() = nullptr;
  }

  bool Backtrack() {
    while (!choices_.empty() && choices_.back().chosen + 1 == choices_.back().num_options)
      choices_.pop_back();
    if (choices_.empty()) return false;
    ++choices_.back().chosen;
    return true;
  }

  static void Enter() {
    Explorer& self = *Current();
    self.FiberOf(self.thread_).Begin(self.FiberOf(outside));
    const std::size_t thread = self.thread_;
    try {
      self.body_(thread);
      self.Collect();
    } catch (const Leave&) {
    }
    auto* const end = std::remove(self.running_.data(), self.running_.data() + self.num_running_, thread);
    self.num_running_ = static_cast<std::size_t>(end - self.running_.data());
    self.thread_ = self.num_running_ == 0 ? outside : self.running_[self.Choose(self.num_running_)];
    Fiber::End(self.FiberOf(self.thread_));
  }

  /// Returns the number of other threads that have not ended.
  std::size_t NumOthers() const { return num_running_ - 1; }
  /// Returns the n-th of those.
  std::size_t Other(std::size_t n) const {
    for (std::size_t i = 0;; ++i) {
      if (running_[i] == thread_) ++n;
      if (i == n) return running_[i];
    }
  }

  void Switch(std::size_t to) {
    Fiber& from = FiberOf(thread_);
    thread_ = to;
    from.SwitchTo(FiberOf(to));
  }

  /// The last is the fiber of the explorer itself.
  Fiber& FiberOf(std::size_t thread) { return fibers_[thread]; }

  int preemption_bound_;
  std::size_t num_threads_;
  std::vector<Choice> choices_;
  std::size_t depth_ = 0;
  int num_preemptions_ = 0;
  bool is_leaving_ = false;
  std::string failure_;
  std::size_t thread_ = outside;
  std::array<VectorClock, max_threads + 1> clocks_{};
  std::array<std::size_t, max_threads> running_{};  // in ascending order
  std::size_t num_running_ = 0;
  std::array<int, max_threads + 1> num_unbroken_{};
  std::array<Fiber, max_threads + 1> fibers_;
  std::function<void(std::size_t)> body_;
  void (*collect_)(void*) = nullptr;
  void* memory_ = nullptr;
};

}  // namespace uit::testing
