#include <cstddef>
#include <cstdint>

#include <uit/duct/accumulator_duct.hpp>
#include <uit/duct/mailbox_duct.hpp>
#include <uit/duct/queue_duct.hpp>
#include <uit/duct/ring_duct.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/explored_atomic.hpp"
#include "tests/support/schedule_count.hpp"
#include "tests/support/watched.hpp"
#include "tests/uit/core/support/duct_scenarios.hpp"
#include "tests/uit/core/support/faulty_ducts.hpp"

namespace {

using namespace uit::testing;

using Accumulator = AccumulateScenario<uit::AccumulatorDuct<WatchedAmount, Explored>, 5, 4>;
using Ring = EveryScenario<uit::RingDuct<Watched, Explored>, 6, 4>;
/// Starts in its last slot, three messages before its slot numbers overflow.
struct LateRing {
  explicit LateRing(std::size_t depth)
      : ring{depth, Watched{0}, static_cast<std::uint32_t>(depth), (std::uint64_t{1} << 32U) - 3} {}
  bool TryPut(Watched message) { return ring.TryPut(message); }
  bool TryStage(Watched message) { return ring.TryStage(message); }
  bool TryFlush() { return ring.TryFlush(); }
  std::size_t TryStep(std::size_t limit) { return ring.TryStep(limit); }
  const Watched& Get() const { return ring.Get(); }

  uit::RingDuct<Watched, Explored> ring;
};
using WrappingRing = EveryScenario<LateRing, 6, 4>;
using BatchedRing = EveryScenario<uit::RingDuct<Watched, Explored>, 7, 5, true>;
using Mailbox = LatestScenario<uit::MailboxDuct<Watched, Explored>, 5, 5>;

/// A queue that starts with a ring of two slots and may hold `max_messages`.
template <std::size_t max_messages, std::uint64_t start = 0>
struct SmallQueue {
  explicit SmallQueue(std::size_t) {}
  bool TryPut(Watched message) { return queue.TryPut(message); }
  bool TryStage(Watched message) { return queue.TryStage(message); }
  bool TryFlush() { return queue.TryFlush(); }
  std::size_t TryStep(std::size_t limit) { return queue.TryStep(limit); }
  const Watched& Get() const { return queue.Get(); }

  uit::QueueDuct<Watched, Explored> queue{1, max_messages * sizeof(Watched), Watched{0}, start};
};
using Queue = EveryScenario<SmallQueue<8>, 5, 4>;
using CappedQueue = EveryScenario<SmallQueue<2, ~std::uint64_t{1}>, 5, 3>;
using BatchedQueue = EveryScenario<SmallQueue<8>, 6, 4, true>;
/// A queue that does not grow: from the fourth put on, each needs a slot that a step has freed.
struct FullQueue {
  explicit FullQueue(std::size_t) {}
  bool TryPut(Watched message) { return queue.TryPut(message); }
  bool TryFlush() { return queue.TryFlush(); }
  std::size_t TryStep(std::size_t limit) { return queue.TryStep(limit); }
  const Watched& Get() const { return queue.Get(); }

  uit::QueueDuct<Watched, Explored> queue{3, 0};
};
}  // namespace

TEST_CASE("No schedule makes a thread duct lose, repeat, tear or reorder a message") {
  CheckExhausted<Ring>("ring");
  CheckExhausted<WrappingRing>("ring, numbers wrap");
  CheckExhausted<BatchedRing>("ring, batched");
  CheckExhausted<Mailbox>("mailbox");
  CheckExhausted<Accumulator>("accumulator");
  CheckExhausted<Queue>("queue");
  CheckExhausted<CappedQueue>("queue, capped, numbers wrap");
  CheckExhausted<BatchedQueue>("queue, batched");
  CheckExhausted<EveryScenario<FullQueue, 5, 2>>("queue, full");
}

TEST_CASE("Ducts with a step missing are caught") {
  CheckCaught<EveryScenario<OverfullRing, 4, 3>>("full one message too late");
  CheckCaught<LatestScenario<TornMailbox, 3, 3>>("a mailbox without exchange");
  CheckCaught<LatestScenario<BareSlot, 3, 3>>("an unsynchronized slot");
  CheckCaught<AccumulateScenario<HastyAccumulator, 3, 3>>("an accumulator that does not compare");
}
