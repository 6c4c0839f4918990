// Every thread duct under every schedule with up to three preemptions and every stale value; and
// the same with bugs planted, each of which must be found.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

#include <uit/duct/accumulator_duct.hpp>
#include <uit/duct/mailbox_duct.hpp>
#include <uit/duct/queue_duct.hpp>
#include <uit/duct/ring_duct.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/schedule_explorer.hpp"
#include "tests/uit/core/support/sanitized.hpp"

namespace {

using uit::testing::Explored;
using uit::testing::Explorer;
using uit::testing::NoFault;
using uit::testing::Watched;

constexpr int preemption_bound = uit::testing::is_sanitized ? 2 : 3;

/// Puts 1, 2, 3 … in one thread and steps in the other; then drains and counts. Each step must
/// show the message whose number is the number of messages passed.
template <typename D, int num_puts, int num_steps, bool in_batches = false>
struct EveryScenario {
  void Run(std::size_t thread) {
    if (thread == 0) {
      for (int i = 0; i < num_puts; ++i) {
        if constexpr (in_batches) {
          num_accepted += duct.TryStage(Watched{num_accepted + 1});
          if (i % 2 == 1) duct.TryFlush();
        } else {
          num_accepted += duct.TryPut(Watched{num_accepted + 1});
        }
      }
    } else {
      // A lease outlives the attempts that fail.
      for (int i = 0; i < num_steps; ++i) Step(i % 3 == 2 ? uit::no_limit : 1);
    }
  }

  void Finish() {
    duct.TryFlush();
    while (Step(1)) {
    }
    Explorer::Expect(num_passed == num_accepted, "a message was lost or made up");
  }

  bool Step(std::size_t limit) {
    const std::size_t count = duct.TryStep(limit);
    Explorer::Expect(count <= limit, "a step went too far");
    num_passed += static_cast<int>(count);
    Explorer::Expect(duct.Get().Value() == num_passed, "a message is out of order");
    return count > 0;
  }

  D duct{1 + num_puts / 4};
  int num_accepted = 0;
  int num_passed = 0;
};

template <typename D, int num_puts, int num_steps>
struct LatestScenario {
  void Run(std::size_t thread) {
    if (thread == 0) {
      for (int i = 1; i <= num_puts; ++i) duct.TryPut(Watched{i});
    } else {
      for (int i = 0; i < num_steps; ++i) Step();
    }
  }

  void Finish() {
    Step();
    Explorer::Expect(newest == num_puts, "the newest message was lost");
    Explorer::Expect(num_stepped + static_cast<int>(duct.NumPreempted()) == num_puts,
                     "the counts do not add up");
  }

  void Step() {
    const bool is_new = duct.TryStep(1) == 1;
    const int value = duct.Get().Value();
    Explorer::Expect(is_new ? value > newest : value == newest, "a message is out of order");
    newest = value;
    num_stepped += is_new;
  }

  D duct{};
  int newest = 0;
  int num_stepped = 0;
};

/// An amount that notices who reads and writes it.
struct WatchedAmount {
  Watched amount;
  bool TryFold(const WatchedAmount& other) {
    const int sum = amount.Value() + other.amount.Value();
    if (sum > most) return false;
    amount = Watched{sum};
    return true;
  }
  static constexpr int most = 1 + 2 + 4 + 8;
};

/// Puts 1, 2, 4 … so that every sum tells what is in it. No put comes twice, each that was accepted comes, and a step
/// takes what was put before; of which there may be more than a sum can hold.
template <typename D, int num_puts, int num_steps>
struct AccumulateScenario {
  void Run(std::size_t thread) {
    if (thread == 0) {
      for (int i = 0; i < num_puts; ++i) accepted += duct.TryPut(WatchedAmount{1 << i}) ? 1 << i : 0;
    } else {
      for (int i = 0; i < num_steps; ++i) Step();
    }
  }

  void Finish() {
    Step();
    Explorer::Expect(seen == accepted, "an amount was lost");
    Step();
    Explorer::Expect(duct.NumFolded() + duct.NumPassed() == duct.NumAccepted(), "the counts do not add up");
    Explorer::Expect(duct.NumUnread() == 0, "something is left");
  }

  void Step() {
    const std::size_t count = duct.TryStep(1);
    const int sum = duct.Get().amount.Value();
    Explorer::Expect((count == 0) == (sum == 0), "a sum was shown twice");
    Explorer::Expect((seen & sum) == 0, "an amount came twice");
    seen += sum;
  }

  D duct{};
  int accepted = 0;
  int seen = 0;
};

template <typename Fault = NoFault>
using Accumulator = AccumulateScenario<uit::AccumulatorDuct<WatchedAmount, Explored<Fault>>, 5, 4>;
template <typename Fault = NoFault>
using Ring = EveryScenario<uit::RingDuct<Watched, Explored<Fault>>, 6, 4>;
template <typename Fault = NoFault>
using BatchedRing = EveryScenario<uit::RingDuct<Watched, Explored<Fault>>, 7, 5, true>;
template <typename Fault = NoFault>
using Mailbox = LatestScenario<uit::MailboxDuct<Watched, Explored<Fault>>, 5, 5>;

/// A queue that starts with a ring of two slots and may hold `max_messages`.
template <typename Fault, std::size_t max_messages, std::uint64_t start = 0>
struct SmallQueue {
  explicit SmallQueue(std::size_t) {}
  bool TryPut(Watched message) { return queue.TryPut(message); }
  bool TryStage(Watched message) { return queue.TryStage(message); }
  bool TryFlush() { return queue.TryFlush(); }
  std::size_t TryStep(std::size_t limit) { return queue.TryStep(limit); }
  const Watched& Get() const { return queue.Get(); }

  uit::QueueDuct<Watched, Explored<Fault>> queue{1, max_messages * sizeof(Watched), Watched{0},
                                                 start};
};
template <typename Fault = NoFault>
using Queue = EveryScenario<SmallQueue<Fault, 8>, 5, 4>;
template <typename Fault = NoFault>
using CappedQueue = EveryScenario<SmallQueue<Fault, 2, ~std::uint64_t{1}>, 5, 3>;
template <typename Fault = NoFault>
using BatchedQueue = EveryScenario<SmallQueue<Fault, 8>, 6, 4, true>;

// Orders weakened, on the n-th atomic of a duct or on all of them.

constexpr std::size_t all = ~std::size_t{0};

template <std::size_t n>
struct RelaxedStore : NoFault {
  static constexpr std::memory_order Store(std::size_t number, std::memory_order order) {
    return number == n || n == all ? std::memory_order_relaxed : order;
  }
};

template <std::size_t n>
struct RelaxedLoad : NoFault {
  static constexpr std::memory_order Load(std::size_t number, std::memory_order order) {
    return number == n || n == all ? std::memory_order_relaxed : order;
  }
};

/// Of an exchange that compares first.
struct RelaxedFailure : NoFault {
  static constexpr std::memory_order Load(std::size_t, std::memory_order) { return std::memory_order_relaxed; }
};

template <std::memory_order weaker>
struct WeakExchange : NoFault {
  static constexpr std::memory_order Exchange(std::size_t, std::memory_order) { return weaker; }
};

/// A ring that sees itself full one message too late: it writes into the slot that is leased.
class OverfullRing {
 public:
  explicit OverfullRing(std::size_t) {}
  bool TryPut(Watched message) {
    const unsigned last = last_.load(std::memory_order_relaxed);
    if (last - current_.load(std::memory_order_acquire) > num_slots - 1) return false;
    slots_[(last + 1) % num_slots] = message;
    last_.store(last + 1, std::memory_order_release);
    return true;
  }
  bool TryStage(Watched message) { return TryPut(message); }
  bool TryFlush() { return true; }
  std::size_t TryStep(std::size_t) {
    const unsigned current = current_.load(std::memory_order_relaxed);
    if (last_.load(std::memory_order_acquire) == current) return 0;
    current_.store(current + 1, std::memory_order_release);
    return 1;
  }
  const Watched& Get() const { return slots_[current_.load(std::memory_order_relaxed) % num_slots]; }

 private:
  static constexpr unsigned num_slots = 3;
  Watched slots_[num_slots];
  Explored<>::Atomic<unsigned> last_{0}, current_{0};
};

/// A mailbox whose outlet looks, and then takes, in two operations.
class TornMailbox {
 public:
  bool TryPut(Watched message) {
    slots_[back_] = message;
    const unsigned old = middle_.exchange(back_ | fresh, std::memory_order_acq_rel);
    num_preempted_ += old / fresh;
    back_ = old & ~fresh;
    return true;
  }
  std::size_t TryStep(std::size_t) {
    const unsigned old = middle_.load(std::memory_order_acquire);
    if ((old & fresh) == 0) return 0;
    middle_.store(front_, std::memory_order_release);
    front_ = old & ~fresh;
    return 1;
  }
  const Watched& Get() const { return slots_[front_]; }
  std::uint64_t NumPreempted() const { return num_preempted_; }

 private:
  static constexpr unsigned fresh = 4;
  Watched slots_[3];
  Explored<>::Atomic<unsigned> middle_{1};
  unsigned back_ = 0, front_ = 2;
  std::uint64_t num_preempted_ = 0;
};

/// An accumulator that publishes without a look at whether the outlet has come between: it takes back what has gone.
class HastyAccumulator {
 public:
  bool TryPut(const WatchedAmount& message) {
    const unsigned middle = middle_.load(std::memory_order_acquire);
    slots_[back_] = message;
    if ((middle & fresh) != 0 && !slots_[back_].TryFold(slots_[middle & ~fresh])) return false;
    num_messages_[back_] = 1 + ((middle & fresh) != 0 ? num_messages_[middle & ~fresh] : 0);
    back_ = middle_.exchange(back_ | fresh, std::memory_order_acq_rel) & ~fresh;
    ++num_accepted_;
    return true;
  }
  std::size_t TryStep(std::size_t) {
    current_ = WatchedAmount{};
    if ((middle_.load(std::memory_order_relaxed) & fresh) == 0) return 0;
    front_ = middle_.exchange(front_, std::memory_order_acq_rel) & ~fresh;
    current_ = slots_[front_];
    num_folded_ += num_messages_[front_] - 1;
    ++num_passed_;
    return 1;
  }
  const WatchedAmount& Get() const { return current_; }
  std::uint64_t NumAccepted() const { return num_accepted_; }
  std::uint64_t NumPassed() const { return num_passed_; }
  std::uint64_t NumFolded() const { return num_folded_; }
  std::uint64_t NumUnread() const { return 0; }

 private:
  static constexpr unsigned fresh = 4;
  WatchedAmount slots_[3];
  std::uint64_t num_messages_[3] = {};
  Explored<>::Atomic<unsigned> middle_{1};
  unsigned back_ = 0, front_ = 2;
  WatchedAmount current_;
  std::uint64_t num_accepted_ = 0, num_passed_ = 0, num_folded_ = 0;
};

/// One slot that both threads use, with a number of the newest.
class BareSlot {
 public:
  bool TryPut(Watched message) {
    slot_ = message;
    newest_.store(newest_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    return true;
  }
  std::size_t TryStep(std::size_t) {
    const unsigned newest = newest_.load(std::memory_order_acquire);
    const bool is_new = newest != seen_;
    seen_ = newest;
    return is_new;
  }
  const Watched& Get() const { return slot_; }
  std::uint64_t NumPreempted() const { return 0; }

 private:
  Watched slot_;
  Explored<>::Atomic<unsigned> newest_{0};
  unsigned seen_ = 0;
};

template <typename Scenario>
std::uint64_t CheckExhausted(const std::string& name) {
  const auto result = Explorer::Explore<Scenario>(preemption_bound);
  std::printf("%-16s %9llu executions\n", name.c_str(),
              static_cast<unsigned long long>(result.num_executions));
  INFO(name);
  CHECK(result.failure == "");
  CHECK(result.is_exhausted);
  return result.num_executions;
}

template <typename Scenario>
void CheckCaught(const std::string& name, int bound = preemption_bound) {
  const auto result = Explorer::Explore<Scenario>(bound);
  INFO(name);
  CHECK(result.failure != "");
}

}  // namespace

TEST_CASE("No schedule makes a thread duct lose, repeat, tear or reorder a message") {
  std::uint64_t num_executions = 0;
  num_executions += CheckExhausted<Ring<>>("ring");
  num_executions += CheckExhausted<BatchedRing<>>("ring, batched");
  num_executions += CheckExhausted<Mailbox<>>("mailbox");
  num_executions += CheckExhausted<Accumulator<>>("accumulator");
  num_executions += CheckExhausted<Queue<>>("queue");
  num_executions += CheckExhausted<CappedQueue<>>("queue, capped");
  num_executions += CheckExhausted<BatchedQueue<>>("queue, batched");
  CHECK(num_executions >= (uit::testing::is_sanitized ? 10'000 : 100'000));
}

TEST_CASE("A ring that publishes or gives back without an order is caught") {
  CheckCaught<Ring<RelaxedStore<0>>>("relaxed store of the newest");
  CheckCaught<Ring<RelaxedLoad<0>>>("relaxed load of the newest");
  CheckCaught<Ring<RelaxedStore<1>>>("relaxed store of the current");
  CheckCaught<Ring<RelaxedLoad<1>>>("relaxed load of the current");
  CheckCaught<BatchedRing<RelaxedStore<0>>>("relaxed flush");
}

TEST_CASE("A queue that publishes or gives back without an order is caught") {
  CheckCaught<Queue<RelaxedStore<1>>>("relaxed store of the first link");
  CheckCaught<Queue<RelaxedLoad<1>>>("relaxed load of the first link");
  CheckCaught<Queue<RelaxedStore<2>>>("relaxed store of the newest");
  CheckCaught<Queue<RelaxedLoad<2>>>("relaxed load of the newest");
  CheckCaught<Queue<RelaxedStore<3>>>("relaxed store of the current");
  CheckCaught<Queue<RelaxedLoad<3>>>("relaxed load of the current");
}

TEST_CASE("A mailbox that exchanges without an order is caught") {
  CheckCaught<Mailbox<WeakExchange<std::memory_order_relaxed>>>("relaxed exchange");
  CheckCaught<Mailbox<WeakExchange<std::memory_order_acquire>>>("acquire alone");
  CheckCaught<Mailbox<WeakExchange<std::memory_order_release>>>("release alone");
}

TEST_CASE("An accumulator that publishes, takes or gives back without an order is caught") {
  CheckCaught<Accumulator<RelaxedStore<0>>>("relaxed publication");
  CheckCaught<Accumulator<RelaxedFailure>>("relaxed loads", 3);  // no two preemptions bring it to light
  CheckCaught<Accumulator<WeakExchange<std::memory_order_relaxed>>>("relaxed exchange");
  CheckCaught<Accumulator<WeakExchange<std::memory_order_acquire>>>("acquire alone");
  CheckCaught<Accumulator<WeakExchange<std::memory_order_release>>>("release alone");
}

TEST_CASE("Ducts with a step missing are caught") {
  CheckCaught<EveryScenario<OverfullRing, 4, 3>>("full one message too late");
  CheckCaught<LatestScenario<TornMailbox, 3, 3>>("a mailbox without exchange");
  CheckCaught<LatestScenario<BareSlot, 3, 3>>("an unsynchronized slot");
  CheckCaught<AccumulateScenario<HastyAccumulator, 3, 3>>("an accumulator that does not compare");
}
