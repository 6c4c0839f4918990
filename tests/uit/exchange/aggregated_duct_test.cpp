// Messages of any size between processes, as users put them.

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <uit/exchange/fabric.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/thrown.hpp"
#include "tests/uit/exchange/support/subjects.hpp"

using namespace uit;
using namespace uit::testing;
using namespace std::chrono_literals;

namespace {

using Row = std::vector<std::uint32_t>;

/// From a process to itself; each policy with its own type.
template <typename T, Policy policy>
struct Ends {
  using W = TransportSet<Process>;

  explicit Ends(Process reach = {}) {
    reach.fabric = &fabric;
    inlet = Inlet<T, policy, W>{reach};
    outlet = Outlet<T, policy, W>{reach};
    fabric.Connect();
  }
  uit::Tally Tally() const { return (uit::Tally{} += inlet.Tally()) += outlet.Tally(); }

  LoopbackNetwork network{1};
  Fabric fabric{network.World(0), {.num_slots = 4}};
  Inlet<T, policy, W> inlet;
  Outlet<T, policy, W> outlet;
};

/// A codec that throws, or takes no bytes for a message, as it is told.
struct Moody {
  int value = 0;
};
struct MoodyCodec {
  std::size_t Size(const Moody&) const { return sizeof(int); }
  void Encode(const Moody& message, MutableByteView to) const {
    StoreBytes(-1, to);
    if (message.value == 13) throw std::runtime_error("moody");
    StoreBytes(message.value, to);
  }
  bool TryDecode(ByteView from, Moody& into) const {
    into.value = LoadBytes<int>(from);
    return into.value != 14;
  }
};

/// The same, of a size known beforehand.
struct Terse : Moody {};
struct TerseCodec : MoodyCodec {
  static constexpr std::size_t fixed_size = sizeof(int);
};

}  // namespace

template <>
inline constexpr MoodyCodec uit::codec_for<Moody>{};
template <>
inline constexpr TerseCodec uit::codec_for<Terse>{};

TEMPLATE_TEST_CASE_SIG("A message that is too large throws, counts as dropped, and changes nothing else", "",
                       ((Policy policy), policy), every, latest, every_aggregated, latest_aggregated) {
  Ends<Row, policy> ends{{.max_message_bytes = 400}};
  const Row most(100, 7);
  CHECK(ends.inlet.TryPut(most));
  Row more(101, 8);
  CHECK_THROWS_AS(ends.inlet.TryPut(std::move(more)), MessageTooLarge);
  CHECK(more == Row(101, 8));
  CHECK_THROWS_AS(ends.inlet.Put(more, After(1ms)), MessageTooLarge);
  CheckThrows([&] { ends.inlet.TryPut(more); },
              "a message of 404 bytes is larger than the 400 that its conduit carries; see max_message_bytes");
  ends.inlet.TryFlush();
  CHECK(ends.outlet.GetNext(After(1s)) == most);
  CHECK(ends.inlet.Tally().attempted == 4);
  CHECK(ends.inlet.Tally().dropped == 3);
  CHECK(ends.Tally().Balanced());
}

TEST_CASE("Messages larger than the buffer make it larger") {
  Ends<Row, every_aggregated> ends{{.buffer_bytes = 512, .max_message_bytes = 4'000'000}};
  const Row row(1'000'000, 5);
  CHECK(ends.inlet.TryPut(row));
  CHECK(ends.inlet.TryFlush());
  CHECK(ends.outlet.Jump() == 1);
  CHECK(ends.outlet.Get() == row);
}

TEST_CASE("Without consolidation a message of its own size leaves at once, and small ones need no flush") {
  Ends<std::string, every> ends;
  for (int i = 0; i < 100; ++i) {
    CHECK(ends.inlet.TryPut(std::to_string(i)));
    REQUIRE(ends.outlet.TryStep() == 1);
    CHECK(ends.outlet.Get() == std::to_string(i));
  }
}

TEMPLATE_TEST_CASE_SIG("A message that cannot be encoded changes nothing", "", ((Policy policy), policy), every, latest,
                       every_aggregated, latest_aggregated) {
  Ends<Moody, policy> ends;
  CHECK(ends.inlet.TryPut(Moody{1}));
  CHECK_THROWS_AS(ends.inlet.TryPut(Moody{13}), std::runtime_error);
  ends.inlet.TryFlush();
  CHECK(ends.outlet.GetNext(After(1s)).value == 1);
  CHECK(ends.outlet.TryStep() == 0);
  CHECK(ends.inlet.Tally().attempted == 1);
  CHECK(ends.Tally().Balanced());
}

TEMPLATE_TEST_CASE_SIG("A message of a size known beforehand that cannot be encoded changes nothing, nor what waits in a pool",
                       "", ((Policy policy), policy), every, latest, every_pooled, latest_pooled, every_aggregated, latest_aggregated) {
  constexpr bool is_pooled = policy.consolidate == Consolidate::pooled;
  Ends<Terse, policy> ends{{.num_channels = is_pooled ? 2U : 1U}};
  CHECK_THROWS_AS(ends.inlet.TryPut(Terse{{13}}), std::runtime_error);
  CHECK(ends.inlet.TryPut(Terse{{1}}));
  if (!is_pooled || policy.retain == Retain::latest) CHECK_THROWS_AS(ends.inlet.TryPut(Terse{{13}}), std::runtime_error);
  ends.inlet.TryFlush();
  CHECK(ends.outlet.GetNext(After(1s)).value == 1);
  CHECK(ends.outlet.TryStep() == 0);
  CHECK(ends.inlet.Tally().attempted == 1);
  CHECK(ends.Tally().Balanced());
}

TEMPLATE_TEST_CASE_SIG("Bytes that are no message are moved past, accounted for, and told", "",
                       ((Policy policy), policy), every, latest, every_aggregated, latest_aggregated) {
  Ends<Moody, policy> ends;
  CHECK(ends.inlet.TryPut(Moody{14}));
  ends.inlet.TryFlush();
  ends.fabric.Poll();
  CHECK_THROWS_AS(ends.outlet.TryStep(), Error);
  CHECK(ends.outlet.TryStep() == 0);
  CHECK(ends.Tally().Balanced());
}

TEMPLATE_TEST_CASE_SIG("Bytes of a size known beforehand that are no message are told, too", "", ((Policy policy), policy), every,
                       latest, every_pooled, latest_pooled, every_aggregated, latest_aggregated) {
  Ends<Terse, policy> ends;
  CHECK(ends.inlet.TryPut(Terse{{14}}));
  ends.inlet.TryFlush();
  ends.fabric.Poll();
  CHECK_THROWS_AS(ends.outlet.TryStep(), Error);
  CHECK(ends.outlet.TryStep() == 0);
}

TEST_CASE("The two sides agree on sizes before the first message") {
  LoopbackNetwork network{1};
  Fabric fabric{network.World(0)};
  using W = TransportSet<Process>;
  Inlet<Row, every, W> inlet{Process{.fabric = &fabric, .max_message_bytes = 1000}};
  SECTION("the largest message") {
    Outlet<Row, every, W> outlet{Process{.fabric = &fabric, .max_message_bytes = 1004}};
    CheckThrows([&] { fabric.Connect(); }, "the largest message's size is 1000 at the inlet and 1004");
  }
  SECTION("who shares a frame") {
    Outlet<Row, every_aggregated, W> outlet{Process{.fabric = &fabric, .max_message_bytes = 1000}};
    CheckThrows([&] { fabric.Connect(); }, "Policy::consolidate");
  }
}

TEST_CASE("Ends of a fabric that never connected accept nothing once it has closed") {
  LoopbackNetwork network{1};
  Fabric fabric{network.World(0)};
  Inlet<Row, every_aggregated, TransportSet<Process>> inlet{Process{.fabric = &fabric}};
  CHECK(inlet.TryPut(Row{1}));
  fabric.Close();
  CHECK_FALSE(inlet.TryPut(Row{2}));
}

TEST_CASE("A poll of the inlet sends what is old enough") {
  Ends<int, every_aggregated> ends{{.max_age = 5ms}};
  const TimePoint start = Now();
  CHECK(ends.inlet.TryPut(1));
  while (ends.outlet.TryStep() == 0) ends.inlet.Poll();
  CHECK(Now() - start >= 5ms);
}

TEST_CASE("What was put and not flushed arrives when the fabric closes") {
  Ends<Row, every_aggregated> ends;
  for (std::uint32_t i = 0; i < 10; ++i) CHECK(ends.inlet.TryPut(Row(i, i)));
  CHECK(ends.fabric.Close());
  CHECK_FALSE(ends.inlet.TryPut(Row{}));
  for (std::uint32_t i = 0; i < 10; ++i) {
    REQUIRE(ends.outlet.TryStep() == 1);
    CHECK(ends.outlet.Get() == Row(i, i));
  }
  CHECK(ends.Tally().Balanced());
}

namespace {

/// A message with a number: of a type that is copied as it is, of one with a codec and a fixed size, and of one whose size varies.
template <typename T>
T Numbered(int number) {
  if constexpr (std::same_as<T, std::string>) return std::to_string(number);
  else if constexpr (std::same_as<T, Terse>) return Terse{{100 + number}};
  else return static_cast<T>(number);
}
template <typename T>
bool IsNumber(const T& message, int number) {
  if constexpr (std::same_as<T, Terse>) return message.value == 100 + number;
  else return message == Numbered<T>(number);
}

/// Stages and takes several messages at a time, and single ones between, in random numbers; checks what arrives and the account.
template <typename T, Policy policy>
void StageAndTakeSome(std::size_t depth, std::size_t buffer_bytes) {
  CAPTURE(depth, buffer_bytes);
  Ends<T, policy> ends{{.depth = depth, .buffer_bytes = buffer_bytes}};
  std::mt19937_64 random{1};
  const auto below = [&](std::size_t n) { return random() % n; };
  int num_staged = 0;
  int num_taken = 0;
  bool is_right = true;
  bool has_some = false;
  for (int turn = 0; turn < 2000; ++turn) {
    if (below(2) == 0) {
      std::vector<T> messages;
      const std::size_t count = below(20);
      for (std::size_t i = 0; i < count; ++i) messages.push_back(Numbered<T>(num_staged + static_cast<int>(i)));
      num_staged += static_cast<int>(ends.inlet.StageSome(messages));
    } else if (ends.inlet.TryStage(Numbered<T>(num_staged))) {
      ++num_staged;
    }
    if (below(3) == 0) ends.inlet.TryFlush();
    if (below(2) == 0) {
      std::vector<T> taken(below(20));
      const std::size_t count = ends.outlet.TakeSome(taken);
      for (std::size_t i = 0; i < count; ++i) is_right = is_right && IsNumber(taken[i], num_taken++);
      if (count != 0) is_right = is_right && IsNumber(ends.outlet.Get(), num_taken - 1);
      has_some = has_some || count > 1;
    } else if (ends.outlet.TryStep() != 0) {
      is_right = is_right && IsNumber(ends.outlet.Get(), num_taken++);
    }
    is_right = is_right && num_staged - num_taken <= static_cast<int>(depth);
  }
  CHECK(is_right);
  CHECK(has_some == (depth > 1));
  CHECK(num_taken > 500);
  CHECK(ends.inlet.Tally().attempted - ends.inlet.Tally().dropped == static_cast<std::uint64_t>(num_staged));
  CHECK(ends.outlet.Tally().stepped == static_cast<std::uint64_t>(num_taken));
  std::vector<T> rest(depth);
  for (int turn = 0; turn < 100; ++turn) {  // frames wait for each other
    ends.inlet.TryFlush();
    num_taken += static_cast<int>(ends.outlet.TakeSome(rest));
  }
  CHECK(num_taken == num_staged);
}

}  // namespace

TEMPLATE_TEST_CASE("Messages that are staged and taken several at a time arrive as single ones do", "", std::uint64_t, Terse,
                   std::string) {
  for (const std::size_t depth : {1U, 3U, 8U, 100U})
    for (const std::size_t buffer_bytes : {16U, 100U, 4096U}) {
      StageAndTakeSome<TestType, every_aggregated>(depth, buffer_bytes);
      if (depth == 8) StageAndTakeSome<TestType, every>(depth, buffer_bytes);
    }
}
