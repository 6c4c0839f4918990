#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <uit/uit.hpp>

#include "tests/support/catch.hpp"

using namespace std::chrono_literals;

using uit::After;
using uit::Conduit;
using uit::Intra;
using uit::Null;
using uit::latest;
using uit::Policy;
using uit::PutTally;
using uit::Splice;
using uit::Tally;
using uit::Thread;

namespace {

constexpr Policy accumulate{.retain = uit::Retain::accumulate};
constexpr Policy growing{.backlog = uit::Backlog::grow};

template <typename I, typename O>
Tally Both(const I& inlet, const O& outlet) {
  Tally tally;
  tally += inlet.Tally();
  tally += outlet.Tally();
  return tally;
}

/// The outlet gets what was put before, and then waits no more.
template <Policy policy>
void CheckWaitForTheGone() {
  auto [inlet, outlet] = Conduit<int, policy>{Thread{.depth = 1}};
  std::thread writer{[gone = std::move(inlet)]() mutable {
    std::this_thread::sleep_for(5ms);
    gone.TryPut(7);
  }};
  const bool has_stepped = outlet.Step();
  const int message = outlet.Get();
  const bool steps_again = outlet.Step();
  writer.join();
  CHECK(has_stepped);
  CHECK(message == 7);
  CHECK_FALSE(steps_again);
}

/// Counts its copies.
struct Copied {
  Copied() = default;
  explicit Copied(int v) : value{v} {}
  Copied(const Copied& other) : value{other.value} { ++num_copies; }
  Copied& operator=(const Copied& other) {
    value = other.value;
    ++num_copies;
    return *this;
  }
  Copied(Copied&&) = default;
  Copied& operator=(Copied&&) = default;

  static inline std::atomic<int> num_copies{0};
  int value = 0;
};

template <Policy policy>
void CheckNoCopies() {
  constexpr int num_messages = 500;
  auto [inlet, outlet] = Conduit<Copied, policy>{Thread{.depth = 4}};
  Copied::num_copies = 0;
  std::thread writer{[&in = inlet] {
    for (int i = 1; i <= num_messages; ++i) {
      if (i % 2 == 0) in.Put(Copied{i});
      else while (!in.TryPut(Copied{i})) uit::Yield();
    }
  }};
  int last = 0;
  while (last != num_messages) {
    if (last % 3 == 0) last = outlet.GetNext().value;
    else if (const auto taken = outlet.TryTake()) last = taken->value;
  }
  writer.join();
  CHECK(Copied::num_copies == 0);
  inlet.HandOver();
  const Copied message{1};
  CHECK(inlet.TryPut(message));
  CHECK(Copied::num_copies == 1);  // they are counted
}

}  // namespace

TEST_CASE("A conduit comes apart into an inlet and an outlet") {
  auto [inlet, outlet] = Conduit<std::string>{Intra{.depth = 2}, "nothing yet"};
  CHECK(outlet.Get() == "nothing yet");
  CHECK(inlet.TryPut("one"));
  CHECK(inlet.TryPut("two"));
  CHECK_FALSE(inlet.TryPut("three"));
  CHECK(outlet.JumpGet() == "two");
  CHECK(outlet.JumpGet() == "two");
  CHECK(inlet.Tally() == PutTally{.attempted = 3, .dropped = 1});
  CHECK(outlet.Tally() == uit::GetTally{.stepped = 1, .skipped = 1});
  CHECK(Both(inlet, outlet).Balanced());
}

TEST_CASE("An outlet offers each way of reading") {
  auto [inlet, outlet] = Conduit<int>{Intra{.depth = 8}};
  for (int i = 1; i <= 8; ++i) inlet.TryPut(i);
  CHECK(outlet.TryStep() == 1);
  CHECK(outlet.Get() == 1);
  CHECK(outlet.GetNext() == 2);
  CHECK(outlet.GetNextOrNullopt() == 3);
  CHECK(outlet.Step());
  CHECK(outlet.Get() == 4);
  CHECK(outlet.TryStep(2) == 2);
  CHECK(outlet.Get() == 6);
  CHECK(outlet.Jump() == 2);
  CHECK(outlet.Get() == 8);
  CHECK(outlet.Jump() == 0);
  CHECK(outlet.GetNextOrNullopt() == std::nullopt);
  CHECK_FALSE(outlet.Step());
  CHECK(outlet.GetNext() == 8);
  CHECK(outlet.Tally() == uit::GetTally{.stepped = 6, .skipped = 2});
}

TEST_CASE("A wait within a thread returns at once") {
  auto [inlet, outlet] = Conduit<int>{Intra{.depth = 1}};
  CHECK_FALSE(outlet.Step());
  CHECK(inlet.Put(1));
  CHECK_FALSE(inlet.Put(2));
  CHECK(inlet.Tally() == PutTally{.attempted = 2, .dropped = 1});
}

TEST_CASE("A wait ends at its deadline and counts one refusal") {
  auto [inlet, outlet] = Conduit<int>{Thread{.depth = 1}};
  const auto start = uit::Now();
  CHECK_FALSE(outlet.Step(After(5ms)));
  CHECK(inlet.Put(1, After(1h)));
  CHECK_FALSE(inlet.Put(2, After(5ms)));
  CHECK(uit::Now() - start >= 10ms);
  CHECK(inlet.Tally() == PutTally{.attempted = 2, .dropped = 1});
  CHECK(outlet.Step(After(1h)));
}

TEST_CASE("A wait ends when the other side acts") {
  auto [inlet, outlet] = Conduit<int>{Thread{.depth = 2}};
  constexpr int num_messages = 2000;
  std::thread reader{[&out = outlet] {
    for (int i = 1; i <= num_messages; ++i) out.GetNext();
  }};
  bool are_all_accepted = true;
  for (int i = 1; i <= num_messages; ++i) are_all_accepted &= inlet.Put(i);
  reader.join();
  outlet.HandOver();
  CHECK(are_all_accepted);
  CHECK(outlet.Get() == num_messages);
  CHECK(outlet.Tally().stepped == num_messages);
  CHECK(Both(inlet, outlet).Balanced());
}

TEST_CASE("A wait for a message between threads ends when the inlet is destroyed") {
  CheckWaitForTheGone<uit::every>();
  CheckWaitForTheGone<latest>();
  CheckWaitForTheGone<accumulate>();
  CheckWaitForTheGone<growing>();
}

TEST_CASE("A wait for room between threads ends when the outlet is destroyed") {
  auto [inlet, outlet] = Conduit<int>{Thread{.depth = 1}};
  CHECK(inlet.TryPut(1));
  std::thread reader{[gone = std::move(outlet)] { std::this_thread::sleep_for(5ms); }};
  const bool is_accepted = inlet.Put(2);
  reader.join();
  CHECK_FALSE(is_accepted);
  CHECK(inlet.Tally() == PutTally{.attempted = 2, .dropped = 1});
}

TEST_CASE("A refused put by move leaves the message with the caller") {
  auto [inlet, outlet] = Conduit<std::unique_ptr<int>>{Thread{.depth = 1}};
  CHECK(inlet.Put(std::make_unique<int>(1)));
  auto message = std::make_unique<int>(2);
  CHECK_FALSE(inlet.TryPut(std::move(message)));
  CHECK_FALSE(inlet.Put(std::move(message), After(1ms)));
  REQUIRE(message != nullptr);
  CHECK(outlet.Step());
  CHECK(inlet.Put(std::move(message)));
  CHECK(message == nullptr);
}

TEST_CASE("A message that is put by moving is copied nowhere between two threads") {
  CheckNoCopies<uit::every>();
  CheckNoCopies<latest>();
  CheckNoCopies<growing>();
}

TEST_CASE("TryTake moves the next message out, and returns nothing if none has arrived") {
  const auto take = [](auto conduit) {
    auto [inlet, outlet] = std::move(conduit);
    CHECK_FALSE(outlet.TryTake().has_value());
    for (const int number : {1, 2}) CHECK(inlet.TryPut(std::make_unique<int>(number)));
    for (const int number : {1, 2}) {
      const auto taken = outlet.TryTake();
      REQUIRE(taken.has_value());
      REQUIRE(*taken != nullptr);
      CHECK(**taken == number);
    }
    CHECK_FALSE(outlet.TryTake().has_value());
    CHECK(outlet.Tally().stepped == 2);
    CHECK(Both(inlet, outlet).Balanced());
  };
  take(Conduit<std::unique_ptr<int>>{Intra{.depth = 2}});
  take(Conduit<std::unique_ptr<int>>{Thread{.depth = 2}});
}

TEST_CASE("TryTake of the newest message passes over the older ones") {
  auto [inlet, outlet] = Conduit<std::string, latest>{Thread{}};
  for (const char* text : {"old", "new"}) CHECK(inlet.TryPut(text));
  CHECK(outlet.TryTake() == "new");
  CHECK(outlet.TryTake() == std::nullopt);
  CHECK(Both(inlet, outlet).Balanced());
}

TEST_CASE("A live pair is spliced through every transport, and its messages are carried over") {
  auto [inlet, outlet] = Conduit<int>{Null{}, -1};
  CHECK(inlet.IsMuted());
  CHECK_FALSE(inlet.TryPut(7));
  CHECK_FALSE(inlet.Put(7));
  CHECK_FALSE(outlet.Step());
  CHECK(outlet.Get() == -1);

  Splice(inlet, outlet, Intra{.depth = 3});
  CHECK_FALSE(inlet.IsMuted());
  CHECK(outlet.Get() == -1);
  CHECK(inlet.TryPut(1));
  CHECK(inlet.TryPut(2));
  CHECK(inlet.TryPut(3));
  CHECK(outlet.GetNext() == 1);

  Splice(inlet, outlet, Thread{.depth = 8});
  CHECK(outlet.Get() == 1);
  CHECK(inlet.TryPut(4));
  CHECK(outlet.GetNext() == 2);
  CHECK(inlet.TryStage(5));

  Splice(inlet, outlet, Intra{.depth = 2});
  CHECK(outlet.Get() == 2);
  CHECK(outlet.Tally().unread == 1);
  CHECK(outlet.GetNext() == 3);
  CHECK(inlet.TryPut(6));

  Splice(inlet, outlet, Null{});
  CHECK(inlet.IsMuted());
  CHECK(outlet.Get() == 3);
  CHECK(outlet.Jump() == 0);
  CHECK_FALSE(inlet.TryPut(8));
  CHECK(outlet.Get() == 3);

  const Tally tally = Both(inlet, outlet);
  CHECK(tally.put == PutTally{.attempted = 6, .dropped = 0, .muted = 3});
  CHECK(tally.get == uit::GetTally{.stepped = 3, .skipped = 0, .unread = 3});
  CHECK(tally.Balanced());
}

TEST_CASE("A splice keeps the preempted count of a mailbox") {
  auto [inlet, outlet] = Conduit<int, latest>{Intra{}};
  for (int i = 1; i <= 3; ++i) inlet.TryPut(i);
  Splice(inlet, outlet, Thread{});
  CHECK(inlet.Tally().preempted == 2);
  CHECK(outlet.JumpGet() == 3);
  inlet.TryPut(4);
  inlet.TryPut(5);
  Splice(inlet, outlet, Intra{});
  CHECK(inlet.Tally().preempted == 3);
  CHECK(outlet.Get() == 3);
  CHECK(outlet.JumpGet() == 5);
  CHECK(Both(inlet, outlet).Balanced());
}

TEST_CASE("An outlet gets each sum once, whichever verb it calls") {
  auto [inlet, outlet] = Conduit<int, accumulate>{Intra{}, -1};
  CHECK(outlet.Get() == -1);
  CHECK(outlet.JumpGet() == 0);
  for (int i = 1; i <= 4; ++i) inlet.TryPut(i);
  CHECK(outlet.JumpGet() == 10);
  CHECK(outlet.Get() == 10);
  CHECK(outlet.JumpGet() == 0);
  inlet.TryPut(5);
  CHECK(outlet.TryStep(7) == 1);
  CHECK(outlet.Get() == 5);
  CHECK(outlet.GetNext() == 0);
  inlet.TryPut(6);
  inlet.TryPut(7);
  CHECK(outlet.GetNextOrNullopt() == 13);
  CHECK_FALSE(outlet.Step());
  CHECK(outlet.Get() == 0);
  CHECK(outlet.Tally() == uit::GetTally{.stepped = 3, .folded = 4});
  CHECK(Both(inlet, outlet).Balanced());
  Splice(outlet, Null{});
  CHECK(outlet.JumpGet() == 0);
}

TEST_CASE("A put waits until its sum has room") {
  auto [inlet, outlet] = Conduit<std::uint8_t, accumulate>{Thread{}};
  CHECK(inlet.Put(200, After(1h)));
  CHECK_FALSE(inlet.Put(100, After(5ms)));
  CHECK(outlet.JumpGet() == 200);
  CHECK(inlet.Put(100, After(1h)));
  CHECK_FALSE(inlet.Put(200, After(5ms)));
  CHECK(Both(inlet, outlet).put == PutTally{.attempted = 4, .dropped = 2});
  CHECK(outlet.JumpGet() == 100);
  CHECK(Both(inlet, outlet).Balanced());
}

TEST_CASE("A splice carries a sum, which still counts its messages") {
  auto [inlet, outlet] = Conduit<int, accumulate>{Thread{}};
  for (int i = 1; i <= 3; ++i) inlet.TryPut(i);
  Splice(inlet, outlet, Intra{});
  CHECK(Both(inlet, outlet).InFlight() == 3);
  CHECK(outlet.Get() == 0);
  inlet.TryPut(4);
  CHECK(outlet.JumpGet() == 10);
  CHECK(outlet.Tally() == uit::GetTally{.stepped = 1, .folded = 3});

  inlet.Hold(true);
  inlet.TryPut(5);
  inlet.TryPut(6);
  Splice(inlet, outlet, Thread{});
  CHECK(outlet.Get() == 10);
  CHECK(outlet.JumpGet() == 11);
  CHECK(outlet.Tally() == uit::GetTally{.stepped = 2, .folded = 4});
  CHECK(Both(inlet, outlet).Balanced());
}

TEST_CASE("All messages of a sum that is left behind count as unread") {
  auto [inlet, outlet] = Conduit<int, accumulate>{Thread{}};
  const auto put = [&in = inlet] {
    for (int i = 1; i <= 3; ++i) in.TryPut(i);
  };
  put();
  outlet.DiscardUnread();
  CHECK(outlet.Tally() == uit::GetTally{.unread = 3});
  put();
  CHECK(outlet.JumpGet() == 6);
  put();
  Splice(outlet, Null{});
  CHECK(outlet.Get() == 6);
  CHECK(outlet.Tally() == uit::GetTally{.stepped = 1, .folded = 2, .unread = 6});
  CHECK(Both(inlet, outlet).Balanced());
  Splice(inlet, outlet, Intra{});
  put();
  Splice(inlet, outlet, Null{});
  CHECK(outlet.Tally() == uit::GetTally{.stepped = 1, .folded = 2, .unread = 9});
  CHECK(Both(inlet, outlet).Balanced());
}

TEST_CASE("A splice carries all of a queue that has grown") {
  auto [inlet, outlet] = Conduit<int, growing>{Intra{.depth = 1}};
  for (int i = 1; i <= 1000; ++i) REQUIRE(inlet.TryPut(i));
  Splice(inlet, outlet, Thread{.depth = 4, .max_bytes = 1 << 20});
  for (int i = 1; i <= 1000; ++i) REQUIRE(outlet.GetNext() == i);
  CHECK(Both(inlet, outlet).Balanced());
}

TEST_CASE("A splice moves messages that cannot be copied, the current one included") {
  auto [inlet, outlet] = Conduit<std::unique_ptr<int>>{Intra{.depth = 2}};
  inlet.TryPut(std::make_unique<int>(1));
  inlet.TryPut(std::make_unique<int>(2));
  outlet.Step();
  Splice(inlet, outlet, Thread{});
  REQUIRE(outlet.Get() != nullptr);
  CHECK(*outlet.Get() == 1);
  CHECK(*outlet.GetNext() == 2);
}

TEST_CASE("A splice ends a hold") {
  auto [inlet, outlet] = Conduit<int>{Intra{.depth = 4}};
  inlet.Hold(true);
  outlet.Hold(true);
  inlet.TryPut(1);
  CHECK_FALSE(outlet.TryStep());
  Splice(inlet, outlet, Thread{.depth = 4});
  CHECK(outlet.GetNext() == 1);
}

TEST_CASE("A muted inlet leaves the messages that it has put") {
  auto [inlet, outlet] = Conduit<int>{Thread{}};
  inlet.TryPut(1);
  uit::Mute(inlet);
  CHECK_FALSE(inlet.TryPut(2));
  CHECK(outlet.GetNextOrNullopt() == 1);
  CHECK(outlet.GetNextOrNullopt() == std::nullopt);
  Splice(inlet, outlet, Thread{});
  CHECK(inlet.TryPut(3));
  CHECK(outlet.GetNextOrNullopt() == 3);
  const Tally tally = Both(inlet, outlet);
  CHECK(tally.put == PutTally{.attempted = 2, .dropped = 0, .muted = 1});
  CHECK(tally.Balanced());
}

TEST_CASE("An outlet that is bound elsewhere counts what it leaves") {
  auto [inlet, outlet] = Conduit<int>{Thread{}};
  for (int i = 1; i <= 5; ++i) inlet.TryPut(i);
  outlet.Step();
  Splice(outlet, Null{});
  CHECK(outlet.Get() == 1);
  CHECK(outlet.Tally() == uit::GetTally{.stepped = 1, .skipped = 0, .unread = 4});
  CHECK(Both(inlet, outlet).Balanced());
}

TEST_CASE("Muting and unmuting by hand keeps the buffer and the tally") {
  auto [inlet, outlet] = Conduit<int, latest>{Thread{}};
  inlet.TryPut(1);
  inlet.TryPut(2);
  auto end = inlet.Rebind({});
  CHECK(inlet.Tally().preempted == 1);
  CHECK_FALSE(inlet.TryPut(3));
  inlet.Rebind(std::move(end));
  CHECK(inlet.Tally().preempted == 1);
  CHECK(inlet.TryPut(4));
  CHECK(outlet.JumpGet() == 4);
  CHECK(Both(inlet, outlet).Balanced());
}

TEST_CASE("Ends can be made empty, moved and kept in containers") {
  std::vector<uit::Inlet<int>> inlets(3);
  std::vector<uit::Outlet<int>> outlets(3);
  CHECK(inlets[0].IsMuted());
  CHECK_FALSE(inlets[0].TryPut(1));
  CHECK(outlets[0].TryStep() == 0);
  for (std::size_t i = 0; i < 3; ++i) Splice(inlets[i], outlets[i], Intra{});
  inlets.resize(100);
  outlets.resize(100);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(inlets[i].TryPut(static_cast<int>(i)));
    CHECK(outlets[i].JumpGet() == static_cast<int>(i));
  }
  outlets.clear();
  CHECK(inlets[0].TryPut(1));  // the duct outlives either end
}

TEST_CASE("A transport set of one transport stores no choice") {
  using One = uit::TransportSet<Thread>;
  using Many = uit::InProcess;
  STATIC_REQUIRE(uit::Inlet<int, Policy{}, One>::End::num_members == 1);
  STATIC_REQUIRE(uit::Inlet<int, Policy{}, Many>::End::num_members == 3);
  STATIC_REQUIRE(sizeof(uit::Inlet<int, Policy{}, Many>::End) == sizeof(void*));
  auto [inlet, outlet] = Conduit<int, Policy{}, One>{Thread{}};
  CHECK(inlet.TryPut(1));
  Splice(inlet, outlet, Thread{.depth = 3});
  CHECK(outlet.JumpGet() == 1);
}

TEST_CASE("Ends with a transport set of one transport are connected by a splice") {
  using One = uit::TransportSet<Intra>;
  uit::Inlet<int, Policy{}, One> inlet;
  uit::Outlet<int, Policy{}, One> outlet;
  CHECK(inlet.Tally() == PutTally{});
  CHECK(outlet.Tally() == uit::GetTally{});
#if UIT_ASSERT_LEVEL >= 1
  CHECK_THROWS_AS(inlet.TryPut(1), uit::AssertionError);
  CHECK_THROWS_AS(outlet.TryStep(), uit::AssertionError);
#endif
  Splice(inlet, outlet, Intra{});
  CHECK(inlet.TryPut(1));
  CHECK(outlet.JumpGet() == 1);
}

TEST_CASE("An impossible depth is refused when a conduit is created") {
  CHECK_THROWS_AS((Conduit<int>{Intra{.depth = 0}}), std::invalid_argument);
  auto [inlet, outlet] = Conduit<int>{Intra{}};
  inlet.TryPut(1);
  CHECK_THROWS_AS(Splice(inlet, outlet, Thread{.depth = 0}), std::invalid_argument);
  CHECK(outlet.JumpGet() == 1);  // the failed splice changed nothing
}

#if UIT_ASSERT_LEVEL < 2  // the check for a second thread needs memory
TEST_CASE("An edge within a thread takes no more than 96 bytes, tallies and all") {
  using Edge = std::uint32_t;
  using Ring = uit::RingDuct<Edge, uit::Unsynchronized>;
  CHECK(sizeof(uit::Inlet<Edge>) + sizeof(uit::Outlet<Edge>) + Ring::NumBytes(2) <= 96);
  using Mailbox = uit::MailboxDuct<Edge, uit::Unsynchronized>;
  CHECK(sizeof(uit::Inlet<Edge, latest>) + sizeof(uit::Outlet<Edge, latest>) + sizeof(Mailbox) <= 96);
}
#endif

#if UIT_ASSERT_LEVEL >= 2
TEST_CASE("A second thread at an end is caught") {
  auto [inlet, outlet] = Conduit<int>{Thread{}};
  inlet.TryPut(1);
  bool is_caught = false;
  const auto put = [&, &in = inlet] {
    try {
      in.TryPut(2);
    } catch (const uit::AssertionError&) {
      is_caught = true;
    }
  };
  std::thread{put}.join();
  CHECK(is_caught);

  is_caught = false;
  inlet.HandOver();
  std::thread{put}.join();
  CHECK_FALSE(is_caught);

  is_caught = false;
  outlet.TryStep();
  std::thread{[&, &out = outlet] {
    try {
      out.Get();
    } catch (const uit::AssertionError&) {
      is_caught = true;
    }
  }}.join();
  CHECK(is_caught);
}

TEST_CASE("An outlet that was never connected has no message") {
  uit::Outlet<int> outlet;
  CHECK_THROWS_AS(outlet.Get(), uit::AssertionError);
}
#endif
