#include <uit/transport/limited.hpp>

#include <concepts>
#include <string>

#include <uit/conduit.hpp>

#include "tests/support/catch.hpp"

using namespace uit;

namespace {

template <typename X>
using Only = TransportSet<Limited<X>>;

template <typename X>
void CheckLimit() {
  auto [inlet, outlet] = Conduit<std::string, every, Only<X>>{Limited<X>{.reach = {.depth = 2}, .max_message_bytes = 3}};
  CHECK(inlet.TryPut("abc"));
  CHECK_THROWS_WITH(inlet.TryPut("abcd"),
                    "a message of 4 bytes is larger than the 3 that its conduit carries; see max_message_bytes");
  CHECK_THROWS_AS(inlet.Put("abcd"), MessageTooLarge);
  CHECK(inlet.TryStage("de"));
  CHECK_FALSE(inlet.TryPut("f"));
  CHECK_THROWS_AS(inlet.TryStage("abcd"), MessageTooLarge);  // whether or not it is full
  CHECK(inlet.TryFlush());
  CHECK(outlet.GetNext() == "abc");
  CHECK(outlet.GetNext() == "de");
  CHECK(inlet.Tally().attempted == 6);
  CHECK(inlet.Tally().dropped == 4);
  CHECK(((Tally{} += inlet.Tally()) += outlet.Tally()).Balanced());
}

template <typename X>
void CheckHoldAndSplice() {
  using W = TransportSet<Limited<X>, X>;
  auto [inlet, outlet] = Conduit<std::string, every, W>{Limited<X>{.reach = {.depth = 2}, .max_message_bytes = 3}};
  inlet.Hold(true);
  CHECK(inlet.TryPut("a"));
  CHECK(inlet.TryPut("b"));
  CHECK(outlet.Jump() == 2);
  if (std::same_as<X, Intra>) CHECK_FALSE(inlet.TryPut("c"));  // while it is held
  inlet.Refresh();
  CHECK(inlet.TryPut("c"));
  Splice(inlet, outlet, X{.depth = 4});
  CHECK(inlet.TryPut("no limit"));
  Splice(inlet, outlet, Limited<X>{.reach = {.depth = 2}, .max_message_bytes = 8});
  CHECK_THROWS_AS(inlet.TryPut("one more."), MessageTooLarge);
  CHECK(outlet.GetNext() == "c");
  CHECK(outlet.GetNext() == "no limit");
  CHECK(((Tally{} += inlet.Tally()) += outlet.Tally()).Balanced());
}

template <typename X>
void CheckPreempted() {
  auto [inlet, outlet] = Conduit<std::string, latest, Only<X>>{Limited<X>{.max_message_bytes = 3}};
  for (const char* const word : {"a", "b", "c"}) CHECK(inlet.TryPut(word));
  CHECK_THROWS_AS(inlet.TryPut("abcd"), MessageTooLarge);
  CHECK(outlet.GetNext() == "c");
  const Tally tally = (Tally{} += inlet.Tally()) += outlet.Tally();
  CHECK(tally.put.preempted == 2);
  CHECK(tally.Balanced());
}

}  // namespace

TEST_CASE("A limited transport refuses messages that are too large, which count as dropped") {
  CheckLimit<Intra>();
  CheckLimit<Thread>();
}

TEST_CASE("Ends of a limited transport are held and spliced like others") {
  CheckHoldAndSplice<Intra>();
  CheckHoldAndSplice<Thread>();
}

TEST_CASE("A wait for room in a limited transport ends when the outlet is destroyed") {
  auto [inlet, outlet] = Conduit<std::string, every, Only<Thread>>{Limited<Thread>{.reach = {.depth = 1}}};
  CHECK(inlet.Put("a"));
  outlet = {};
  CHECK_FALSE(inlet.Put("b"));
}

TEST_CASE("A limited transport counts messages that newer ones replace") {
  CheckPreempted<Intra>();
  CheckPreempted<Thread>();
}

TEST_CASE("Messages of one size go through the duct itself") {
  static_assert(std::same_as<Limited<Thread>::InletDuctFor<int, every>, Thread::InletDuctFor<int, every>>);
  static_assert(!std::same_as<Limited<Thread>::InletDuctFor<std::string, every>, Thread::InletDuctFor<std::string, every>>);
  auto [inlet, outlet] = Conduit<int, every, Only<Thread>>{Limited<Thread>{.max_message_bytes = 1}};
  CHECK(inlet.TryPut(7));
  CHECK(outlet.GetNext() == 7);
}
