#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <uit/support/sync.hpp>

#include "tests/support/fiber.hpp"

namespace uit::testing {

/// Runs a scenario of a few threads under every schedule with at most so many preemptions, and with
/// every stale value that the memory model lets a load return.
///
/// Threads are fibers; each operation on an `Explored::Atomic` is a point where another may run. An
/// atomic remembers all of its stores: a load may return any that coherence and happens-before
/// (vector clocks) allow; a read-modify-write gets the newest. `Watched` messages report
/// conflicting accesses that are not ordered. Depth first, so an exhausted search is a proof within
/// the bound. Sequentially consistent orders and fences are not modelled, and not used.
///
/// A scenario is a class: its constructor sets up, `Run(thread)` is what a thread does, and
/// `Finish()` runs when all have ended. Each calls `Expect`.
class Explorer {
 public:
  static constexpr std::size_t num_threads = 2;
  using VectorClock = std::array<std::uint32_t, num_threads + 1>;

  struct Result {
    std::uint64_t num_executions = 0;
    bool is_exhausted = false;
    std::string failure;  ///< What went wrong first; empty if nothing did.
  };

  template <typename Scenario>
  static Result Explore(int preemption_bound, std::uint64_t max_executions = 10'000'000) {
    Explorer explorer{preemption_bound};
    Result result;
    do {
      explorer.Execute<Scenario>();
      ++result.num_executions;
      result.is_exhausted = !explorer.Backtrack();
    } while (explorer.failure_.empty() && !result.is_exhausted &&
             result.num_executions < max_executions);
    result.failure = explorer.failure_;
    return result;
  }

  /// The explorer at work; there is one at a time.
  static Explorer*& Current() {
    static Explorer* current = nullptr;
    return current;
  }

  /// Records a failure and leaves this execution.
  static void Expect(bool condition, const char* text) {
    if (!condition) Current()->Fail(text);
  }

  /// While there is one, a failure does not leave the execution by an exception; for destructors.
  class Unbroken {
   public:
    Unbroken() : num_{&Current()->num_unbroken_[Current()->thread_]} { ++*num_; }
    Unbroken(const Unbroken&) = delete;
    Unbroken& operator=(const Unbroken&) = delete;
    ~Unbroken() { --*num_; }

   private:
    int* num_;
  };

  // For Explored::Atomic and Watched.

  /// The thread running; num_threads while the scenario is set up or finished.
  std::size_t Thread() const { return thread_; }
  VectorClock& Clock() { return clocks_[thread_]; }
  std::uint32_t Tick() { return ++Clock()[thread_]; }
  bool IsLeaving() const { return is_leaving_; }
  std::size_t NextAtomic() { return num_atomics_++; }

  /// Picks one of `num_options`; the same again when an execution is replayed.
  std::size_t Choose(std::size_t num_options) {
    if (num_options < 2 || is_leaving_) return 0;
    if (depth_ == choices_.size()) choices_.push_back({0, num_options});
    return choices_[depth_++].chosen;
  }

  /// A point at which another thread may go on.
  void Point() {
    if (thread_ == num_threads) return;
    if (is_leaving_) return LeaveThread();
    const std::size_t other = 1 - thread_;
    if (has_ended_[other] || num_preemptions_ == preemption_bound_) return;
    if (Choose(2) == 0) return;
    ++num_preemptions_;
    Switch(other);
    if (is_leaving_) LeaveThread();
  }

  void Fail(const std::string& text) {
    if (failure_.empty()) failure_ = text;
    is_leaving_ = true;
    if (thread_ != num_threads) LeaveThread();
  }

 private:
  struct Leave {};
  void LeaveThread() const {
    if (num_unbroken_[thread_] == 0 && std::uncaught_exceptions() == 0) throw Leave{};
  }
  struct Choice {
    std::size_t chosen, num_options;
  };

  explicit Explorer(int preemption_bound) : preemption_bound_{preemption_bound} {}

  template <typename Scenario>
  void Execute() {
    Current() = this;
    depth_ = 0;
    num_preemptions_ = 0;
    num_atomics_ = 0;
    is_leaving_ = false;
    has_ended_ = {};
    num_unbroken_ = {};
    thread_ = num_threads;
    clocks_ = {};
    {
      Scenario scenario;
      body_ = [&scenario](std::size_t thread) { scenario.Run(thread); };
      Tick();
      for (std::size_t i = 0; i < num_threads; ++i) {
        clocks_[i] = clocks_[num_threads];
        FiberOf(i).Prepare(&Explorer::Enter);
      }
      const std::size_t first = Choose(num_threads);
      Switch(first);
      if (!has_ended_[1 - first]) Switch(1 - first);
      for (const VectorClock& clock : clocks_) Join(clocks_[num_threads], clock);
      if (!is_leaving_) scenario.Finish();
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
    self.FiberOf(self.thread_).Begin(self.FiberOf(num_threads));
    const std::size_t thread = self.thread_;
    try {
      self.body_(thread);
    } catch (const Leave&) {
    }
    self.has_ended_[thread] = true;
    // The other goes on, for the last time, or everyone has ended.
    self.thread_ = self.has_ended_[1 - thread] ? num_threads : 1 - thread;
    Fiber::End(self.FiberOf(self.thread_));
  }

  void Switch(std::size_t to) {
    Fiber& from = FiberOf(thread_);
    thread_ = to;
    from.SwitchTo(FiberOf(to));
  }

  /// The last is the one that explores.
  Fiber& FiberOf(std::size_t thread) { return fibers_[thread]; }

 public:
  static void Join(VectorClock& into, const VectorClock& from) {
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = std::max(into[i], from[i]);
  }

 private:
  int preemption_bound_;
  std::vector<Choice> choices_;
  std::size_t depth_ = 0;
  int num_preemptions_ = 0;
  std::size_t num_atomics_ = 0;
  bool is_leaving_ = false;
  std::string failure_;
  std::size_t thread_ = num_threads;
  std::array<VectorClock, num_threads + 1> clocks_{};
  std::array<bool, num_threads> has_ended_{};
  std::array<int, num_threads + 1> num_unbroken_{};
  std::array<Fiber, num_threads + 1> fibers_;
  std::function<void(std::size_t)> body_;
};

/// Leaves every memory order as it is.
struct NoFault {
  static constexpr std::memory_order Load(std::size_t, std::memory_order order) { return order; }
  static constexpr std::memory_order Store(std::size_t, std::memory_order order) { return order; }
  static constexpr std::memory_order Exchange(std::size_t, std::memory_order order) {
    return order;
  }
};

/// The synchronization whose atomics the explorer models. `Fault` may weaken the order of any
/// operation on the n-th atomic of an execution, to see that this is noticed.
template <typename Fault = NoFault>
struct Explored {
  static constexpr bool concurrent = true;
  static constexpr std::size_t alignment = 1;

  template <typename V>
  class Atomic {
   public:
    explicit Atomic(V value) : number_{Explorer::Current()->NextAtomic()} {
      Append(value, std::memory_order_release, nullptr);
    }
    Atomic(const Atomic&) = delete;
    Atomic& operator=(const Atomic&) = delete;
    ~Atomic() {
      Explorer* const explorer = Explorer::Current();
      if (explorer == nullptr || explorer->IsLeaving()) return;
      const Explorer::Unbroken unbroken;
      for (std::size_t thread = 0; thread < touched_.size(); ++thread)
        if (touched_[thread] > explorer->Clock()[thread]) explorer->Fail("an atomic was destroyed while it was used");
    }

    V load(std::memory_order order) const {
      Explorer& explorer = *Explorer::Current();
      explorer.Point();
      const std::size_t oldest = OldestVisible();
      const std::size_t index = stores_.size() - 1 - explorer.Choose(stores_.size() - oldest);
      NoteSeen(index);
      if (IsAcquire(Fault::Load(number_, order)))
        Explorer::Join(explorer.Clock(), stores_[index].released);
      return stores_[index].value;
    }

    void store(V value, std::memory_order order) {
      Explorer::Current()->Point();
      Append(value, Fault::Store(number_, order), nullptr);
    }

    V exchange(V value, std::memory_order order) {
      return Modify(order, [&](V) { return value; });
    }
    V fetch_add(V amount, std::memory_order order) {
      return Modify(order, [&](V old) { return static_cast<V>(old + amount); });
    }
    /// A failure reads the newest value, which is all that the ducts' failures can read.
    bool compare_exchange_strong(V& expected, V value, std::memory_order success, std::memory_order failure) {
      Explorer& explorer = *Explorer::Current();
      explorer.Point();
      const StoreEvent before = stores_.back();
      if (before.value != expected) {
        NoteSeen(stores_.size() - 1);
        if (IsAcquire(Fault::Load(number_, failure))) Explorer::Join(explorer.Clock(), before.released);
        expected = before.value;
        return false;
      }
      const std::memory_order order = Fault::Exchange(number_, success);
      if (IsAcquire(order)) Explorer::Join(explorer.Clock(), before.released);
      Append(value, order, &before.released);
      return true;
    }

   private:
    using VectorClock = Explorer::VectorClock;
    struct StoreEvent {
      V value;
      VectorClock released;  // what an acquire of this store learns
    };
    struct Seen {
      std::uint32_t time;
      std::size_t index;
    };

    static bool IsAcquire(std::memory_order order) {
      return order == std::memory_order_acquire || order == std::memory_order_acq_rel;
    }
    static bool IsRelease(std::memory_order order) {
      return order == std::memory_order_release || order == std::memory_order_acq_rel;
    }

    template <typename F>
    V Modify(std::memory_order order, F&& f) {
      Explorer& explorer = *Explorer::Current();
      explorer.Point();
      order = Fault::Exchange(number_, order);
      const StoreEvent before = stores_.back();
      if (IsAcquire(order)) Explorer::Join(explorer.Clock(), before.released);
      Append(f(before.value), order, &before.released);  // goes on with its release sequence
      return before.value;
    }

    void Append(V value, std::memory_order order, const VectorClock* sequence) {
      Explorer& explorer = *Explorer::Current();
      VectorClock released{};
      if (sequence != nullptr) released = *sequence;
      stores_.push_back({value, released});
      NoteSeen(stores_.size() - 1);
      if (IsRelease(order)) Explorer::Join(stores_.back().released, explorer.Clock());
    }

    /// This thread has met the store `index`; who comes after it meets no earlier one.
    void NoteSeen(std::size_t index) const {
      Explorer& explorer = *Explorer::Current();
      auto& seen = seen_[explorer.Thread()];
      const std::uint32_t time = explorer.Tick();
      touched_[explorer.Thread()] = time;
      if (seen.empty() || seen.back().index < index) seen.push_back({time, index});
    }

    std::size_t OldestVisible() const {
      const VectorClock& clock = Explorer::Current()->Clock();
      std::size_t oldest = 0;
      for (std::size_t thread = 0; thread < seen_.size(); ++thread)
        for (const Seen& seen : seen_[thread])
          if (seen.time <= clock[thread]) oldest = std::max(oldest, seen.index);
      return oldest;
    }

    std::size_t number_;
    std::vector<StoreEvent> stores_;
    mutable std::array<std::vector<Seen>, Explorer::num_threads + 1> seen_;
    mutable VectorClock touched_{};  // when each thread used it last
  };
};

/// Words of memory that the explorer models, with the values that they have at first; for as long as it lives, as a member of
/// a scenario. A `Ref` to one of them stands for a std::atomic_ref.
template <typename V, typename Fault = NoFault>
class ExploredMemory {
 public:
  explicit ExploredMemory(std::span<V> words) {
    for (V& word : words) All().emplace(&word, std::make_unique<Atomic>(word));
  }
  ExploredMemory(const ExploredMemory&) = delete;
  ExploredMemory& operator=(const ExploredMemory&) = delete;
  ~ExploredMemory() { All().clear(); }

  class Ref {
   public:
    explicit Ref(V& word) : atomic_{All().at(&word).get()} {}
    V load(std::memory_order order) const { return atomic_->load(order); }
    void store(V value, std::memory_order order) const { atomic_->store(value, order); }

   private:
    typename Explored<Fault>::template Atomic<V>* atomic_;
  };

 private:
  using Atomic = typename Explored<Fault>::template Atomic<V>;
  static auto& All() {
    static std::map<const V*, std::unique_ptr<Atomic>> all;
    return all;
  }
};

/// A message that notices a read or a write not ordered after the last write, and a write not
/// ordered after all reads.
class Watched {
 public:
  Watched() { NoteWrite(); }
  Watched(int value) : value_{value} { NoteWrite(); }  // NOLINT: a number is a message
  ~Watched() {
    if (Explorer::Current() == nullptr) return;
    const Explorer::Unbroken unbroken;
    NoteWrite();
  }
  Watched(const Watched& other) : value_{other.Value()} { NoteWrite(); }
  Watched& operator=(const Watched& other) {
    const int value = other.Value();
    NoteWrite();
    value_ = value;
    return *this;
  }

  int Value() const {
    NoteRead();
    return value_;
  }

 private:
  void NoteRead() const {
    Explorer* const explorer = Explorer::Current();
    if (explorer == nullptr || explorer->IsLeaving()) return;
    if (write_time_ > explorer->Clock()[writer_])
      explorer->Fail("a message was read while it was written");
    reads_[explorer->Thread()] = explorer->Tick();
  }

  void NoteWrite() {
    Explorer* const explorer = Explorer::Current();
    if (explorer == nullptr || explorer->IsLeaving()) return;
    if (write_time_ > explorer->Clock()[writer_])
      explorer->Fail("a message was written by two threads at once");
    for (std::size_t thread = 0; thread < reads_.size(); ++thread)
      if (reads_[thread] > explorer->Clock()[thread])
        explorer->Fail("a message was written while it was read");
    writer_ = explorer->Thread();
    write_time_ = explorer->Tick();
  }

  int value_ = 0;
  std::size_t writer_ = 0;
  std::uint32_t write_time_ = 0;
  mutable Explorer::VectorClock reads_{};
};

static_assert(Synchronization<Explored<>>);

}  // namespace uit::testing
