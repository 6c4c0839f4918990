#include <uit/link/connection.hpp>

#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/loopback_world.hpp"
#include "tests/support/thrown.hpp"

using namespace uit;
using uit::testing::CheckThrows;
using uit::testing::LoopbackPair;

namespace {

constexpr std::uint32_t near_the_wrap = std::numeric_limits<std::uint32_t>::max() - 2;

LinkOptions Options(std::size_t num_slots) {
  return {.num_sends = num_slots + Connection::num_uncredited,
          .num_receives = num_slots + Connection::num_uncredited,
          .payload_bytes = 8};
}

/// A connection, boxes to send from, and one to receive into.
struct Side {
  Connection connection;
  std::vector<std::unique_ptr<OutgoingBox>> outgoing;
  std::vector<std::unique_ptr<IncomingBox>> incoming;
  Frame frame{8};

  Side(AnyLink link, std::size_t num_slots, std::uint32_t start, std::size_t num_boxes = 1)
      : connection(std::move(link), num_slots, start) {
    for (std::size_t i = 0; i < num_boxes; ++i) {
      outgoing.push_back(std::make_unique<OutgoingBox>());
      outgoing.back()->box = FrameBox::Every(1000);
      outgoing.back()->queued.store(false);
    }
    incoming.push_back(std::make_unique<IncomingBox>(IncomingBox{FrameBox::Every(1000), 8}));
    connection.Reserve(num_boxes);
  }
  void Fill(std::uint64_t number) {
    frame.Reserve(8);
    frame.Header().num_bytes = 8;
    std::memcpy(frame.Payload(), &number, 8);
  }
  /// Puts as a worker does.
  void Put(std::uint64_t number, std::size_t box = 0) {
    Fill(number);
    REQUIRE(outgoing[box]->box->TryPut(frame));
    if (!outgoing[box]->queued.exchange(true)) connection.Queue(outgoing[box].get());
  }
  /// Sends without the queues.
  bool SendNow(std::uint32_t remote_index = 0) {
    outgoing[0]->remote_index = remote_index;
    return connection.TrySendNow(frame, *outgoing[0]);
  }
  std::optional<std::uint64_t> Next() {
    if (!incoming[0]->box->TryStep()) return std::nullopt;
    std::uint64_t number = 0;
    std::memcpy(&number, incoming[0]->box->Get().Payload(), 8);
    return number;
  }
  bool Poll() {
    const bool has_arrived = connection.Receive(incoming) != 0;
    connection.Send();
    return has_arrived;
  }
};

struct Both {
  LoopbackPair pair;
  Side a, b;
  explicit Both(std::size_t num_slots, std::uint32_t start = 0, std::size_t num_boxes = 1)
      : pair(Options(num_slots)), a(pair.First(), num_slots, start, num_boxes), b(pair.Second(), num_slots, start) {}
};

}  // namespace

TEST_CASE("A connection sends as many frames as it has credit for, and continues when they are acknowledged") {
  for (const std::uint32_t start : {std::uint32_t{0}, near_the_wrap}) {
    for (const std::size_t num_slots : {1U, 2U, 3U, 8U}) {
      Both both{num_slots, start};
      std::uint64_t num_put = 0;
      std::uint64_t num_seen = 0;
      while (num_put < 100) both.a.Put(num_put++);
      CHECK_FALSE(both.a.connection.Send());
      CHECK(both.a.connection.NumUnacknowledged() == num_slots);
      CHECK(both.pair.there->NumInFlight() == num_slots);
      CHECK_FALSE(both.a.Poll());
      CHECK(both.pair.there->NumInFlight() == num_slots);
      for (int i = 0; i < 400 && num_seen < num_put; ++i) {
        both.b.Poll();
        while (const auto number = both.b.Next()) REQUIRE(*number == num_seen++);
        both.a.Poll();
        REQUIRE(both.a.connection.NumUnacknowledged() <= num_slots);
        REQUIRE(both.pair.there->NumInFlight() <= num_slots);
        REQUIRE(both.pair.back->NumInFlight() <= Connection::num_uncredited);
      }
      CHECK(num_seen == num_put);
    }
  }
}

TEST_CASE("Acknowledgements are sent in frames of the other direction, and alone after each half window") {
  Both both{8};
  for (std::uint64_t i = 0; i < 3; ++i) both.a.Put(i);
  both.a.Poll();
  both.b.Poll();
  CHECK(both.pair.back->NumInFlight() == 0);  // no acknowledgement before half of the window of 8 has arrived
  both.b.Put(7);
  both.b.Poll();
  both.a.Poll();
  CHECK(both.a.connection.NumUnacknowledged() == 0);

  for (std::uint64_t i = 3; i < 7; ++i) both.a.Put(i);
  both.a.Poll();
  both.b.Poll();
  CHECK(both.pair.back->NumInFlight() == 1);
  both.a.Poll();
  CHECK(both.a.connection.NumUnacknowledged() == 0);
}

TEST_CASE("A box that is always full does not delay the others") {
  Both both{2, 0, 3};
  std::uint64_t num_flood = 0;
  while (num_flood < 200) both.a.Put(num_flood++, 0);
  both.a.Put(1000, 1);
  both.a.Put(2000, 2);
  bool has_1000 = false;
  bool has_2000 = false;
  for (int i = 0; i < 20; ++i) {
    both.a.Put(num_flood++, 0);
    both.a.Poll();
    both.b.Poll();
    while (const auto number = both.b.Next()) {
      has_1000 |= number == 1000;
      has_2000 |= number == 2000;
    }
  }
  CHECK(has_1000);
  CHECK(has_2000);
}

TEST_CASE("A frame bypasses the queue only if no frame waits and there is credit") {
  Both both{2};
  Side& a = both.a;
  a.Fill(1);
  CHECK(a.SendNow());
  a.Put(2);
  a.Fill(3);
  CHECK_FALSE(a.SendNow());
  a.connection.Send();
  CHECK_FALSE(a.SendNow());
  both.b.Poll();
  a.Poll();
  CHECK(a.SendNow());
  both.b.Poll();
  for (std::uint64_t i = 1; i <= 3; ++i) CHECK(both.b.Next() == i);
}

TEST_CASE("Values for a peer that lags are spread over its rounds, so that what it takes up is newer") {
  constexpr std::uint64_t polls_per_round = 200;
  const auto mean_age = [](std::uint32_t max_pace) {
    LoopbackPair pair{Options(8)};
    Side a{pair.First(), 8, 0};
    Side b{pair.Second(), 8, 0};
    a.connection = Connection{pair.First(), 8, 0, max_pace};
    a.connection.Reserve(1);
    a.outgoing[0]->box = FrameBox::Latest();
    a.outgoing[0]->keeps_pace = true;
    std::uint64_t sum = 0;
    std::uint64_t newest = 0;
    constexpr std::uint64_t num_rounds = 100;
    for (std::uint64_t poll = 1; poll <= num_rounds * polls_per_round; ++poll) {
      a.Put(poll);
      a.Poll();
      if (poll % polls_per_round != 0) continue;
      b.Poll();
      while (const auto number = b.Next()) newest = *number;
      if (poll > num_rounds / 2 * polls_per_round) sum += poll - newest;
    }
    return sum / (num_rounds / 2);
  };
  CHECK(mean_age(0) > polls_per_round * 9 / 10);
  CHECK(mean_age(Connection::default_max_pace) < polls_per_round / 2);
}

TEST_CASE("A peer that keeps up gets every turn again") {
  Both both{4};
  both.a.outgoing[0]->box = FrameBox::Latest();
  both.a.outgoing[0]->keeps_pace = true;
  for (std::uint64_t i = 0; i < 1000; ++i) {  // the peer is slow
    both.a.Put(i);
    both.a.Poll();
    if (i % 50 == 0) both.b.Poll();
  }
  std::uint64_t num_seen = 0;
  for (std::uint64_t i = 0; i < 200; ++i) {
    both.a.Put(1000 + i);
    both.a.Poll();
    both.b.Poll();
    while (const auto number = both.b.Next()) num_seen += *number >= 1150 ? 1 : 0;
  }
  CHECK(num_seen >= 49);
}

TEST_CASE("Frames of other boxes do not wait while those of a box are spread") {
  constexpr std::size_t num_slots = 64;
  Both both{num_slots, 0, 2};
  Side& a = both.a;
  a.outgoing[0]->box = FrameBox::Latest();
  a.outgoing[0]->keeps_pace = true;
  const auto is_held_back = [&] {  // though there is room
    a.Put(1);
    return !a.connection.Send() && a.connection.NumUnacknowledged() <= num_slots / 2;
  };
  for (std::uint64_t i = 0; !is_held_back(); ++i) {
    REQUIRE(i < 100'000);
    if (i % 200 != 0) continue;  // the peer is slow
    both.b.Poll();
    while (both.b.Next()) {
    }
    a.Poll();
  }
  std::size_t num_held_back = 0;
  for (int turn = 0; turn < 4; ++turn) {
    const std::size_t before = both.pair.there->NumInFlight();
    a.Put(1);
    for (int i = 0; i < 6; ++i) a.Put(2, 1);  // more than leave in a turn of their box
    num_held_back += a.connection.Send() ? 0 : 1;
    CHECK(both.pair.there->NumInFlight() >= before + 6);
  }
  CHECK(num_held_back > 0);
}

TEST_CASE("A connection closes with nothing in flight, also when its counters wrap") {
  for (const std::uint32_t start : {std::uint32_t{0}, near_the_wrap}) {
    for (const std::size_t num_slots : {1U, 2U, 5U}) {
      Both both{num_slots, start};
      for (std::uint64_t i = 0; i < 7; ++i) both.a.Put(i);
      bool a_is_quiet = false;
      bool b_is_quiet = false;
      const auto step = [](Side& side) {
        return side.connection.Send() && side.connection.TrySendClose() && side.connection.IsQuiet();
      };
      for (int i = 0; i < 40 && !(a_is_quiet && b_is_quiet); ++i) {
        if (!a_is_quiet) both.a.connection.Receive(both.a.incoming);
        a_is_quiet = a_is_quiet || step(both.a);
        if (!b_is_quiet) both.b.connection.Receive(both.b.incoming);
        b_is_quiet = b_is_quiet || step(both.b);
      }
      CHECK(a_is_quiet);
      CHECK(b_is_quiet);
      for (std::uint64_t i = 0; i < 7; ++i) CHECK(both.b.Next() == i);
      CHECK(both.a.connection.TryCloseLink());
      CHECK(both.b.connection.TryCloseLink());
      CHECK(both.pair.there->MaxInFlight() <= num_slots + Connection::num_uncredited);
    }
  }
}

TEST_CASE("A frame that does not fit its exchange throws") {
  Both both{4};
  Side& a = both.a;
  SECTION("to a box that there is not") {
    a.Fill(1);
    CHECK(a.SendNow(17));
    CheckThrows([&] { both.b.Poll(); }, "box 17");
  }
  SECTION("larger than its exchange") {
    both.b.incoming[0]->frame_bytes = 4;
    a.Fill(1);
    CHECK(a.SendNow());
    CheckThrows([&] { both.b.Poll(); }, "larger");
  }
  SECTION("larger than its link") {
    a.frame.Reserve(100);
    a.frame.Header().num_bytes = 100;
    CheckThrows([&] { a.SendNow(); }, "too large");
  }
  SECTION("beyond its window") {
    both.b.incoming[0]->box = FrameBox::Every(1);
    a.Fill(1);
    CHECK(a.SendNow());
    a.Fill(2);
    CHECK(a.SendNow());
    CheckThrows([&] { both.b.Poll(); }, "window");
  }
}
