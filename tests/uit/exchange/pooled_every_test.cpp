#include <uit/exchange/pooled/pooled_every.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>

#include "tests/support/catch.hpp"

using namespace uit;

namespace {

/// Both halves, with nothing but two boxes between them.
struct Pool {
  Pool(std::size_t num_channels, std::size_t depth)
      : layout{num_channels, sizeof(int)},
        box{FrameBox::Every(depth + 2)},
        sender{layout, depth, OutPort{box}, reports},
        receiver{layout, depth, box, OutPort{reports}, nullptr} {}

  bool Put(std::size_t channel, int value) {
    const auto encode = [&](std::byte* slot) { std::memcpy(slot, &value, sizeof value); };
    if (sender.TryPutNext(channel, sizeof value, encode)) return true;
    if (!sender.HasRoom(channel)) {
      sender.Refuse(channel);
      return false;
    }
    encode(sender.Slot(channel));
    sender.Commit(channel);
    return true;
  }
  /// The next message of a channel, or 0.
  int Next(std::size_t channel) {
    receiver.Pull();
    if (receiver.TryStep(channel, 1) == 0) return 0;
    int value = 0;
    std::memcpy(&value, receiver.Slot(channel), sizeof value);
    receiver.ReportIfDue();
    return value;
  }

  EveryFrame layout;
  std::shared_ptr<FrameBox> box;
  std::shared_ptr<FrameBox> reports = FrameBox::Latest();
  PooledEverySender sender;
  PooledEveryReceiver receiver;
};

/// Puts and steps, now in turn, now at random, against a model.
void CheckOrder(std::size_t depth) {
  constexpr std::size_t num_channels = 5;
  Pool pool{num_channels, depth};
  std::array<int, num_channels> num_put{};
  std::array<int, num_channels> num_read{};
  const auto read = [&](std::size_t channel) {
    const int value = pool.Next(channel);
    if (value != 0) REQUIRE(value == ++num_read[channel]);
    return value != 0;
  };
  std::minstd_rand random{7};
  for (int i = 0; i < 20'000; ++i) {
    const bool is_level = i / 500 % 2 == 0;  // all in turn, or any in any order
    const std::size_t channel = is_level ? static_cast<std::size_t>(i) % num_channels : random() % num_channels;
    if (pool.Put(channel, num_put[channel] + 1)) ++num_put[channel];
    REQUIRE(pool.sender.NumAccepted(channel) == static_cast<std::uint64_t>(num_put[channel]));
    REQUIRE(num_put[channel] - num_read[channel] <= static_cast<int>(depth));
    if (!is_level && random() % 8 == 0) pool.sender.TryFlush();
    if (!is_level && random() % 16 == 0) pool.receiver.Report();
    read(is_level ? channel : random() % num_channels);
  }
  pool.sender.TryFlush();
  for (std::size_t channel = 0; channel < num_channels; ++channel) {
    while (read(channel)) {
    }
    pool.receiver.Report();
  }
  pool.sender.TryFlush();
  for (std::size_t channel = 0; channel < num_channels; ++channel) {
    while (read(channel)) {
    }
    CHECK(num_read[channel] == num_put[channel]);
    CHECK(pool.receiver.NumStepped(channel) == static_cast<std::uint64_t>(num_put[channel]));
    CHECK(num_put[channel] > 500);
  }
}

}  // namespace

TEST_CASE("A pool departs when each channel has put") {
  Pool pool{3, 4};
  CHECK(pool.Put(0, 1));
  CHECK(pool.Put(2, 3));
  CHECK(pool.Next(0) == 0);
  CHECK(pool.Put(1, 2));
  for (std::size_t channel = 0; channel < 3; ++channel) CHECK(pool.Next(channel) == static_cast<int>(channel) + 1);
  CHECK(pool.Put(0, 4));
}

TEST_CASE("A second message before departure is refused, and then those who skip are not waited for until they put") {
  Pool pool{3, 4};
  CHECK(pool.Put(0, 1));
  CHECK_FALSE(pool.Put(0, 9));
  CHECK(pool.Next(0) == 1);
  for (int i = 2; i < 20; ++i) {  // the only one that speaks
    CHECK(pool.Put(0, i));
    CHECK(pool.Next(0) == i);
  }
  CHECK(pool.Put(2, 30));
  CHECK(pool.Next(2) == 0);  // now both are waited for
  CHECK(pool.Put(0, 20));
  CHECK(pool.Next(0) == 20);
  CHECK(pool.Next(2) == 30);
  CHECK(pool.Put(1, 40));
  CHECK(pool.Put(0, 21));
  CHECK(pool.Next(0) == 0);
  CHECK(pool.Put(2, 31));
  CHECK(pool.Next(1) == 40);
}

TEST_CASE("Who is refused while nobody has put holds up no frame, so nobody is left behind") {
  Pool pool{2, 1};
  CHECK(pool.Put(0, 1));
  CHECK(pool.Put(1, 2));
  for (int i = 0; i < 3; ++i) CHECK_FALSE(pool.Put(0, 9));
  CHECK(pool.Next(0) == 1);
  CHECK(pool.Next(1) == 2);
  pool.receiver.Report();
  CHECK(pool.Put(0, 3));
  CHECK(pool.Next(0) == 0);  // its sibling is waited for
  CHECK(pool.Put(1, 4));
  CHECK(pool.Next(0) == 3);
  CHECK(pool.Next(1) == 4);
}

TEST_CASE("What an inlet has put departs though the inlet has gone, and its successor goes on") {
  Pool pool{2, 4};
  pool.sender.Claim(0);
  CHECK(pool.Put(0, 1));
  pool.sender.Yield(0);
  CHECK_FALSE(pool.Put(0, 9));
  CHECK(pool.sender.NumAccepted(0) == 1);
  CHECK(pool.sender.TryFlush());
  CHECK(pool.Next(0) == 1);
  CHECK(pool.Put(1, 2));
  CHECK(pool.Next(1) == 0);  // the successor, which has tried, is waited for
  CHECK(pool.Put(0, 3));
  CHECK(pool.Next(1) == 2);
  CHECK(pool.Next(0) == 3);
  CHECK(pool.sender.NumAccepted(0) == 2);
}

TEST_CASE("A member whose inlet has gone is not waited for") {
  Pool pool{2, 4};
  pool.sender.Claim(1);
  CHECK(pool.Put(0, 1));
  pool.sender.Yield(1);
  CHECK(pool.Put(0, 2) == false);  // the pool was on its way to be complete
  CHECK(pool.Next(0) == 1);
  CHECK(pool.Put(0, 2));
  CHECK(pool.Next(0) == 2);
}

TEST_CASE("A flush sends what some have put") {
  Pool pool{3, 4};
  CHECK(pool.sender.TryFlush());
  CHECK_FALSE(pool.receiver.Pull());
  CHECK(pool.Put(1, 5));
  CHECK(pool.sender.TryFlush());
  CHECK(pool.Put(1, 6));
  CHECK(pool.sender.TryFlush());
  CHECK(pool.Next(0) == 0);
  CHECK(pool.Next(1) == 5);
  CHECK(pool.Next(1) == 6);
  CHECK(pool.Next(1) == 0);
}

TEST_CASE("A pooled outlet that is not read makes only its own inlet refuse") {
  Pool pool{3, 2};
  int num_refused = 0;
  for (int i = 1; i <= 100; ++i) {
    for (std::size_t channel = 0; channel < 3; ++channel) {
      const bool is_accepted = pool.Put(channel, i);
      if (channel == 1)
        num_refused += !is_accepted;
      else
        REQUIRE(is_accepted);
    }
    REQUIRE(pool.Next(0) == i);
    REQUIRE(pool.Next(2) == i);
  }
  CHECK(num_refused == 98);
  CHECK(pool.receiver.NumUnread(1) == 2);
  CHECK(pool.Next(1) == 1);
  CHECK(pool.Next(1) == 2);
  CHECK(pool.Next(1) == 0);
  pool.receiver.Report();
  CHECK(pool.Put(1, 7));
}

TEST_CASE("A channel holds at most its depth of messages") {
  for (const std::size_t depth : {1U, 2U, 3U, 7U}) {
    Pool pool{1, depth};
    int num_put = 0;
    while (pool.Put(0, num_put + 1)) ++num_put;
    CHECK(num_put == static_cast<int>(depth));
    for (int i = 1; i <= 50; ++i) {
      REQUIRE(pool.Next(0) == i);
      REQUIRE(pool.Put(0, ++num_put));
      REQUIRE_FALSE(pool.Put(0, 0));
    }
  }
}

TEST_CASE("A report goes only when half a window is used, or an inlet waits, or after a while") {
  Pool pool{1, 8};
  const auto is_reported = [&] { return pool.reports->TryStep(); };
  for (int i = 1; i <= 3; ++i) CHECK(pool.Put(0, i));
  for (int i = 1; i <= 3; ++i) CHECK(pool.Next(0) == i);
  CHECK_FALSE(is_reported());
  SECTION("after half a window") {
    CHECK(pool.Put(0, 4));
    CHECK(pool.Next(0) == 4);
    CHECK(is_reported());
  }
  SECTION("when a window has arrived, of which some has been stepped past before") {
    for (int i = 4; i <= 8; ++i) CHECK(pool.Put(0, i));
    CHECK_FALSE(pool.Put(0, 9));
    CHECK_FALSE(is_reported());
    pool.receiver.Pull();
    pool.receiver.ReportIfDue();
    CHECK(pool.Put(0, 9));
  }
  SECTION("after a while of nothing to do") {
    int num_tries = 0;
    while (num_tries < 1000 && !is_reported()) {
      ++num_tries;
      pool.receiver.ReportIfIdle();
    }
    CHECK(num_tries > 10);
    CHECK(num_tries < 200);
  }
}

TEST_CASE("At most depth frames await their pull") {
  Pool pool{4, 2};
  int num_departed = 0;
  for (std::size_t channel = 0; channel < 4; ++channel) {
    REQUIRE(pool.Put(channel, 1));
    num_departed += pool.sender.TryFlush();
  }
  CHECK(num_departed == 2);
  CHECK_FALSE(pool.sender.TryFlush());
  CHECK(pool.receiver.Pull());
  pool.receiver.ReportIfDue();
  CHECK(pool.sender.TryFlush());
}

TEST_CASE("When the fabric closes a pool departs though its window is full, and the receiver takes it in") {
  Pool pool{4, 2};
  for (std::size_t channel = 0; channel < 4; ++channel) {
    REQUIRE(pool.Put(channel, static_cast<int>(channel) + 1));
    pool.sender.TryFlush();
  }
  CHECK_FALSE(pool.sender.TryFlush());
  CHECK(pool.sender.TryFinish());
  CHECK(pool.receiver.TryFinish());
  for (std::size_t channel = 0; channel < 4; ++channel) CHECK(pool.receiver.NumUnread(channel) == 1);
}

TEST_CASE("While held, pools depart on a flush and steps are known on a refresh") {
  Pool pool{2, 2};
  pool.sender.Hold(true);
  pool.sender.SetUpdate(1);
  pool.receiver.SetUpdate(1);
  CHECK(pool.Put(0, 1));
  CHECK(pool.Put(1, 1));
  CHECK_FALSE(pool.receiver.Pull());
  CHECK(pool.sender.TryEndUpdate());
  CHECK(pool.receiver.Pull());
  CHECK(pool.receiver.HasLast(1));
  CHECK(pool.Put(0, 2));
  CHECK(pool.sender.TryFlush());
  CHECK(pool.Next(0) == 1);
  pool.receiver.Report(true);
  CHECK_FALSE(pool.Put(0, 3));
  CHECK(pool.sender.RefreshReport(1));
  CHECK_FALSE(pool.sender.RefreshReport(2));
  CHECK(pool.Put(0, 3));
}

TEST_CASE("While held, a pool of one departs no sooner than others") {
  for (const bool hold : {true, false}) {
    CAPTURE(hold);
    Pool pool{1, 3};
    pool.sender.Hold(hold);
    pool.sender.SetUpdate(1);
    CHECK(pool.Put(0, 1));
    CHECK(pool.receiver.Pull() == !hold);
    CHECK(pool.Put(0, 2) == !hold);
    CHECK(pool.sender.TryEndUpdate());
    CHECK(pool.receiver.Pull());
    CHECK(pool.Put(0, 3));
  }
}

TEST_CASE("While held, a flush sends a frame only within the window, and the frame that ends an update always leaves") {
  Pool pool{1, 2};
  pool.sender.Hold(true);
  for (int i = 1; i <= 2; ++i) {
    CHECK(pool.Put(0, i));
    CHECK(pool.sender.TryFlush());
  }
  CHECK(pool.receiver.Pull());
  CHECK(pool.Next(0) == 1);
  CHECK(pool.Next(0) == 2);
  pool.receiver.Report();
  CHECK_FALSE(pool.Put(0, 3));  // no report has been read
  pool.sender.RefreshReport(0);
  CHECK(pool.Put(0, 3));
  CHECK(pool.sender.TryFlush());
  CHECK(pool.sender.TryEndUpdate());
  CHECK(pool.sender.TryEndUpdate());
  CHECK(pool.Put(0, 4));
  CHECK_FALSE(pool.sender.TryFlush());
  CHECK(pool.sender.TryEndUpdate());
  CHECK(pool.receiver.Pull());
  CHECK(pool.Next(0) == 3);
  CHECK(pool.Next(0) == 4);
}

TEST_CASE("Once the fabric has closed nothing is accepted, whatever is reported") {
  Pool pool{2, 4};
  for (std::size_t channel = 0; channel < 2; ++channel) CHECK(pool.Put(channel, 1));
  CHECK(pool.Put(0, 2));
  CHECK(pool.sender.TryFinish());
  for (std::size_t channel = 0; channel < 2; ++channel) CHECK(pool.Next(channel) == 1);
  CHECK(pool.Next(0) == 2);
  pool.receiver.Report();
  for (std::size_t channel = 0; channel < 2; ++channel) CHECK_FALSE(pool.Put(channel, 3));
}

TEST_CASE("Only a frame for which some spoke and others did not says who did") {
  const EveryFrame layout{70, sizeof(int)};
  const auto is_odd = [](std::size_t channel) { return channel % 2 == 1; };
  Frame frame{layout.MaxBytes()};
  layout.Seal(frame, 70, is_odd);
  CHECK(layout.IsRound(frame));
  CHECK(frame.Header().num_bytes == 70 * sizeof(int));
  layout.Seal(frame, 35, is_odd);
  CHECK_FALSE(layout.IsRound(frame));
  CHECK(frame.Header().num_bytes == layout.MaxBytes());
  for (std::size_t channel = 0; channel < 70; ++channel) CHECK(layout.HasContributed(frame, channel) == is_odd(channel));
  layout.Seal(frame, 0, is_odd);
  CHECK_FALSE(layout.IsRound(frame));
  CHECK(frame.Header().num_bytes == 0);
}

TEST_CASE("Each channel's messages come in order and complete, however many its siblings have put and read") {
  for (const std::size_t depth : {1U, 3U, 8U}) CheckOrder(depth);
}
