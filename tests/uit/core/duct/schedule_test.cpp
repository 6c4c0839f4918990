#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include <uit/duct/accumulator_duct.hpp>
#include <uit/duct/mailbox_duct.hpp>
#include <uit/duct/queue_duct.hpp>
#include <uit/duct/ring_duct.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/schedule_count.hpp"
#include "tests/support/schedule_explorer.hpp"
#include "tests/uit/core/support/duct_scenarios.hpp"
#include "tests/uit/core/support/faulty_ducts.hpp"

namespace {

using namespace uit::testing;

template <typename Fault = NoFault>
using Accumulator = AccumulateScenario<uit::AccumulatorDuct<WatchedAmount, Explored<Fault>>, 5, 4>;
template <typename Fault = NoFault>
using Ring = EveryScenario<uit::RingDuct<Watched, Explored<Fault>>, 6, 4>;
/// Starts in its last slot, and three messages before the numbers in its slots wrap.
template <typename Fault>
struct LateRing {
  explicit LateRing(std::size_t depth)
      : ring{depth, Watched{0}, static_cast<std::uint32_t>(depth), (std::uint64_t{1} << 32U) - 3} {}
  bool TryPut(Watched message) { return ring.TryPut(message); }
  bool TryStage(Watched message) { return ring.TryStage(message); }
  bool TryFlush() { return ring.TryFlush(); }
  std::size_t TryStep(std::size_t limit) { return ring.TryStep(limit); }
  const Watched& Get() const { return ring.Get(); }

  uit::RingDuct<Watched, Explored<Fault>> ring;
};
template <typename Fault = NoFault>
using WrappingRing = EveryScenario<LateRing<Fault>, 6, 4>;
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

// Orders weakened, on the n-th atomic of a duct (the first counts its references) or on all of them.

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

}  // namespace

TEST_CASE("No schedule makes a thread duct lose, repeat, tear or reorder a message") {
  CheckExhausted<Ring<>>("ring");
  CheckExhausted<WrappingRing<>>("ring, numbers wrap");
  CheckExhausted<BatchedRing<>>("ring, batched");
  CheckExhausted<Mailbox<>>("mailbox");
  CheckExhausted<Accumulator<>>("accumulator");
  CheckExhausted<Queue<>>("queue");
  CheckExhausted<CappedQueue<>>("queue, capped, numbers wrap");
  CheckExhausted<BatchedQueue<>>("queue, batched");
}

TEST_CASE("A ring that publishes or gives back without an order is caught") {
  CheckCaught<Ring<RelaxedStore<1>>>("relaxed store in a slot");
  CheckCaught<Ring<RelaxedLoad<1>>>("relaxed load in a slot");
  CheckCaught<Ring<RelaxedStore<4>>>("relaxed store of the newest");
  CheckCaught<Ring<RelaxedLoad<4>>>("relaxed load of the newest");
  CheckCaught<Ring<RelaxedStore<5>>>("relaxed store of the current");
  CheckCaught<Ring<RelaxedLoad<5>>>("relaxed load of the current");
  CheckCaught<BatchedRing<RelaxedStore<4>>>("relaxed flush");
}

TEST_CASE("A queue that publishes or gives back without an order is caught") {
  CheckCaught<Queue<RelaxedStore<2>>>("relaxed store of the first link");
  CheckCaught<Queue<RelaxedLoad<2>>>("relaxed load of the first link");
  CheckCaught<Queue<RelaxedStore<3>>>("relaxed store of the newest");
  CheckCaught<Queue<RelaxedLoad<3>>>("relaxed load of the newest");
  CheckCaught<Queue<RelaxedStore<4>>>("relaxed store of the current");
  CheckCaught<Queue<RelaxedLoad<4>>>("relaxed load of the current");
}

TEST_CASE("A mailbox that exchanges without an order is caught") {
  CheckCaught<Mailbox<WeakExchange<std::memory_order_relaxed>>>("relaxed exchange");
  CheckCaught<Mailbox<WeakExchange<std::memory_order_acquire>>>("acquire alone");
  CheckCaught<Mailbox<WeakExchange<std::memory_order_release>>>("release alone");
}

TEST_CASE("An accumulator that publishes, takes or gives back without an order is caught") {
  CheckCaught<Accumulator<RelaxedStore<1>>>("relaxed publication");
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
