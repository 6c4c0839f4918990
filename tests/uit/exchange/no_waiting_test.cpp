// Verbs that begin with Try wait for nobody, and waits end when their deadline passes: on a clock that passes only while the
// library rests (tests/support/counted_time), so that a busy machine makes no difference.
//
// All is done by one thread, and the peer does nothing unless it is told to: what waited for it would never return.

#include <simgrid/engine.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <uit/exchange/fabric.hpp>
#include <uit/uit.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/loopback_world.hpp"
#include "tests/uit/exchange/support/subjects.hpp"

using namespace uit;
using namespace uit::testing;
using namespace std::chrono_literals;
namespace time_counts = uit::testing::counted_time;

namespace {

using Number = std::uint64_t;
using Row = std::vector<Number>;
constexpr std::size_t row_length = 2048;  // numbers, more than min_lent_bytes

template <Policy p, typename Transport, typename T = Number>
struct Within {
  using Message = T;
  static constexpr Policy policy = p;
  static constexpr bool can_wait = std::is_same_v<Transport, Thread>;

  Conduit<T, policy> conduit{Transport{.depth = 4}};
  Inlet<T, policy> inlet{std::move(conduit.inlet)};
  Outlet<T, policy> outlet{std::move(conduit.outlet)};
};

/// To a process and from it, which does nothing after the two have connected.
template <Policy p, typename Where, typename T = Number>
struct Across {
  using Message = T;
  static constexpr Policy policy = p;
  static constexpr bool can_wait = true;
  using W = TransportSet<Process>;

  Across() : network(2, Where::processes_per_host) {
    for (std::size_t rank = 0; rank < 2; ++rank)
      fabrics[rank] = std::make_unique<Fabric>(network.World(rank), FabricOptions{.num_slots = 2});
    inlet = Inlet<T, policy, W>{Reach(0)};
    outlet = Outlet<T, policy, W>{Reach(0)};
    inlet_of_peer = Inlet<T, policy, W>{Reach(1)};
    outlet_of_peer = Outlet<T, policy, W>{Reach(1)};
    network.Together([this](std::size_t rank) { fabrics[rank]->Connect(); });
  }
  ~Across() {
    network.Together([this](std::size_t rank) { fabrics[rank]->Close(); });
  }
  Process Reach(std::size_t rank) {
    return {.fabric = fabrics[rank].get(),
            .peer = 1 - rank,
            .depth = 4,
            .max_message_bytes = row_length * sizeof(Number),
            .max_age = 1us};
  }

  LoopbackNetwork network;
  std::array<std::unique_ptr<Fabric>, 2> fabrics;
  Inlet<T, policy, W> inlet, inlet_of_peer;
  Outlet<T, policy, W> outlet, outlet_of_peer;
};

constexpr Policy growing{.backlog = Backlog::grow};

template <typename Where>
using Between = std::tuple<Across<every, Where>, Across<latest, Where>, Across<accumulate, Where>, Across<every_pooled, Where>,
                           Across<latest_pooled, Where>, Across<accumulate_pooled, Where>, Across<every_aggregated, Where>,
                           Across<latest_aggregated, Where>, Across<every, Where, Row>, Across<every_aggregated, Where, Row>>;
using InProcess = std::tuple<Within<every, Intra>, Within<latest, Intra>, Within<accumulate, Intra>, Within<growing, Intra>,
                             Within<every, Thread>, Within<latest, Thread>, Within<accumulate, Thread>, Within<growing, Thread>,
                             Within<every, Intra, Row>, Within<every, Thread, Row>>;
using Conduits =
    decltype(std::tuple_cat(std::declval<InProcess>(), std::declval<Between<ToOther>>(), std::declval<Between<ToNear>>()));

template <typename T>
T MessageOf(Number number) {
  if constexpr (std::is_same_v<T, Row>) return Row(number % 2 == 0 ? 3 : row_length, number);
  else return number;
}

void PutWithoutWaiting(auto& inlet, Number number) {
  using T = typename std::decay_t<decltype(inlet)>::Value;
  const std::array<T, 2> messages{MessageOf<T>(number), MessageOf<T>(number + 1)};
  if constexpr (requires { inlet.TryLoan(1); }) {
    const auto room = inlet.TryLoan(MessageOf<T>(number).size());
    if (room) {
      inlet.Publish(*room);
      inlet.Publish(*room);  // the loan has ended
    }
  }
  inlet.TryPut(messages[0]);
  inlet.TryPut(MessageOf<T>(number));
  inlet.TryStage(messages[0]);
  inlet.TryStage(MessageOf<T>(number));
  inlet.StageSome(messages);
  inlet.TryFlush();
  inlet.Poll();
  (void)inlet.Tally();
}

void StepWithoutWaiting(auto& outlet) {
  using T = typename std::decay_t<decltype(outlet)>::Value;
  std::array<T, 2> messages;
  outlet.TryStep();
  outlet.TryStep(7);
  outlet.TryTake();
  outlet.TakeSome(messages);
  outlet.Jump();
  outlet.JumpGet();
  outlet.GetNextOrNullopt();
  if constexpr (requires { outlet.TryRead([](std::span<const Number>) {}); }) outlet.TryRead([](std::span<const Number>) {});
  outlet.Get();
  (void)outlet.Tally();
}

/// Calls every verb that never waits, many times over. Returns how often the library has rested meanwhile.
std::uint64_t NumRestsOfTryVerbs(auto& inlet, auto& outlet) {
  const std::uint64_t num_before = time_counts::num_rests;
  for (Number number = 0; number < 200; ++number) {
    PutWithoutWaiting(inlet, number);
    if (number % 2 == 0) StepWithoutWaiting(outlet);  // so each finds the other with and without messages
  }
  return time_counts::num_rests - num_before;
}

/// That a wait which nobody ends lasts to its deadline, and no longer than the rest in which that passes.
void CheckEndsAtDeadline(auto&& wait) {
  constexpr std::chrono::nanoseconds longest_rest = Backoff::longest_sleep + simulation::timer_slack;
  for (const std::chrono::nanoseconds span : {0ns, 1ns, 500ns, 3'000ns, 100'000ns, 20'000'000ns}) {
    const Deadline deadline = After(span);
    CHECK_FALSE(wait(deadline));
    const TimePoint end = Now();
    CAPTURE(span.count(), (end - deadline).count());
    CHECK(end >= deadline);
    CHECK(end <= deadline + longest_rest);
  }
}

/// At each load of the reader, the writer goes round all slots.
struct Chaser {
  static inline void (*lap)() = nullptr;
};
template <typename V>
struct ChasedRef : std::atomic_ref<V> {
  explicit ChasedRef(V& value) : std::atomic_ref<V>(value) {}
  V load(std::memory_order order) const {
    const V value = std::atomic_ref<V>::load(order);
    if (Chaser::lap != nullptr) Chaser::lap();
    return value;
  }
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("No Try verb waits for a peer that does nothing", "", Conduits) {
  TestType ends;
  CHECK(NumRestsOfTryVerbs(ends.inlet, ends.outlet) == 0);
}

TEMPLATE_TEST_CASE("No Try verb of a muted or unconnected end waits", "", Number, Row) {
  Inlet<TestType> inlet;
  Outlet<TestType> outlet{typename Outlet<TestType>::End{}};
  Splice(outlet, Null{});
  CHECK(NumRestsOfTryVerbs(inlet, outlet) == 0);
}

TEMPLATE_LIST_TEST_CASE("A wait for a peer that does nothing ends when its deadline has passed", "", Conduits) {
  using T = typename TestType::Message;
  TestType ends;
  if constexpr (TestType::can_wait) {
    CheckEndsAtDeadline([&](Deadline deadline) { return ends.outlet.Step(deadline); });
    CheckEndsAtDeadline([&](Deadline deadline) { return ends.outlet.GetNext(deadline) != T{}; });
    if constexpr (TestType::policy.retain == Retain::every) {
      while (ends.inlet.TryPut(MessageOf<T>(1))) {
      }
      CheckEndsAtDeadline([&](Deadline deadline) { return ends.inlet.Put(MessageOf<T>(1), deadline); });
    }
  } else {
    CHECK_FALSE(ends.outlet.Step());  // nobody else could put
  }
}

TEST_CASE("A short wait whose limit is a span reads no clock") {
  const std::uint64_t num_before = time_counts::num_readings;
  unsigned num_tries = 0;
  CHECK(WaitUntil([&] { return ++num_tries == Backoff::pauses_per_look; }, 1s));
  CHECK(time_counts::num_readings == num_before);
}

TEST_CASE("A wait whose limit is a span ends when that has passed since it first read the clock") {
  constexpr std::chrono::nanoseconds first_pauses = Backoff::pauses_per_look * simulation::pause_time;
  constexpr std::chrono::nanoseconds longest_rest = Backoff::longest_sleep + simulation::timer_slack;
  for (const std::chrono::nanoseconds span : {0ns, 1ns, 500ns, 3'000ns, 100'000ns, 20'000'000ns}) {
    const TimePoint start = Now();
    CHECK_FALSE(WaitUntil([] { return false; }, span));
    CAPTURE(span.count(), (Now() - start).count());
    CHECK(Now() - start >= span);
    CHECK(Now() - start <= span + first_pauses + longest_rest);
  }
  const std::uint64_t num_before = time_counts::num_rests;
  CHECK(WaitUntil([&] { return time_counts::num_rests == num_before + 1000; }, std::chrono::nanoseconds::max()));
}

TEST_CASE("A thread that spins on reads the clock once in many pauses") {
  SpinHabit habit;
  constexpr std::uint64_t num_pauses = 4000;  // in less than the longest spin
  const std::uint64_t num_rests = time_counts::num_rests;
  const std::uint64_t num_readings = time_counts::num_readings;
  const auto is_over = [&] { return time_counts::num_rests == num_rests + num_pauses; };
  CHECK(WaitUntil(is_over, 1s, NoIdle{}, Backoff{habit}));
  CHECK(time_counts::num_readings - num_readings <= 2 * num_pauses / Backoff::pauses_per_look + 3);
}

TEST_CASE("A fabric whose peer never closes is closed when the deadline has passed") {
  LoopbackNetwork network(2);
  Fabric here{network.World(0)}, there{network.World(1)};
  Inlet<Number, every, TransportSet<Process>> inlet{Process{.fabric = &here, .peer = 1}};
  Outlet<Number, every, TransportSet<Process>> outlet{Process{.fabric = &there, .peer = 0}};
  network.Together([&](std::size_t rank) { (rank == 0 ? here : there).Connect(); });
  network.LosePeers();
  const Deadline deadline = After(5ms);
  CHECK_FALSE(here.Close(deadline));
  CHECK(Now() >= deadline);
  CHECK(Now() <= deadline + 200us);  // two waits
  there.Close(After(1ms));
}

TEST_CASE("A step gives up when the writer of a mailbox goes on to another group during every attempt") {
  namespace mailbox = shared_mailbox;
  static std::array<std::uint64_t, 4> record{};
  constexpr std::size_t num_bytes = sizeof record;
  alignas(cache_line) static std::byte memory[mailbox::BytesFor(num_bytes)];
  static mailbox::Writer* writer = nullptr;
  static std::uint64_t num_loads = 0;
  mailbox::Create(memory, num_bytes);
  mailbox::Writer the_writer{memory, num_bytes};
  writer = &the_writer;
  mailbox::BasicReader<ChasedRef> reader{memory, num_bytes};
  writer->Write(std::as_bytes(std::span(record)));
  Chaser::lap = [] {
    ++num_loads;
    for (std::size_t slot = 0; slot < mailbox::NumSlots(num_bytes); ++slot) {
      ++record[0];
      writer->Write(std::as_bytes(std::span(record)));
    }
  };
  CHECK(reader.Front().data() == nullptr);
  CHECK(num_loads == 4 * 2);  // four times, before and after it announces what it holds
  Chaser::lap = nullptr;
  const ByteView front = reader.Front();
  REQUIRE(front.size() == num_bytes);
  CHECK(LoadBytes<std::uint64_t>(front) == record[0]);
}
