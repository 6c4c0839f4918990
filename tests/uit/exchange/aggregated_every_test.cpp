#include <uit/exchange/aggregated/aggregated_every.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <uit/codec/trivial_codec.hpp>
#include <uit/exchange/aggregated/aggregated_duct.hpp>
#include <uit/exchange/pooled/every_frame.hpp>
#include <uit/policy.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/thrown.hpp"

using namespace uit;
using namespace std::chrono_literals;

namespace {

/// Both halves, with nothing but two boxes between them.
struct Exchange {
  explicit Exchange(const AggregatedOptions& o)
      : options(o),
        box(FrameBox::Every(FrameWindow::BoxDepth(o.num_frames))),
        sender(o, OutPort{box}, reports),
        receiver(o, box, OutPort{reports}, nullptr) {}

  bool Put(std::uint32_t channel, int value) {
    const std::uint64_t num_accepted = sender.NumAccepted(channel);
    std::byte* to = Reserve<sizeof value>(channel, sizeof value);
    REQUIRE(sender.NumAccepted(channel) == num_accepted);
    if (to == nullptr) return false;
    std::memcpy(to, &value, sizeof value);
    sender.Commit<sizeof value>(to + sizeof value);
    REQUIRE(sender.NumAccepted(channel) == num_accepted + 1);
    return true;
  }
  /// Puts a message of its own size.
  bool PutText(std::uint32_t channel, const std::string& text) {
    std::byte* to = Reserve<0>(channel, sizeof(MessageLength) + text.size());
    if (to == nullptr) return false;
    const std::uint64_t num_accepted = sender.NumAccepted(channel);
    const auto length = static_cast<MessageLength>(text.size());
    std::memcpy(to, &length, sizeof length);
    std::memcpy(to + sizeof length, text.data(), text.size());
    sender.Commit<0>(to + sizeof length + text.size());
    REQUIRE(sender.NumAccepted(channel) == num_accepted + 1);
    return true;
  }
  bool HasNext(std::uint32_t channel) {
    receiver.Pull();
    return receiver.Inbox(channel).NumUnread(options.message_bytes) != 0;
  }
  /// The next message of a channel, or 0.
  int Next(std::uint32_t channel) {
    int value = 0;
    if (HasNext(channel)) std::memcpy(&value, Step<sizeof value>(channel).data(), sizeof value);
    return value;
  }
  std::string NextText(std::uint32_t channel) {
    if (!HasNext(channel)) return "nothing";
    const ByteView bytes = Step<0>(channel);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  /// For ducts that go before this does.
  std::shared_ptr<AggregatedEveryReceiver> SharedReceiver() { return {std::shared_ptr<void>{}, &receiver}; }
  /// What a report says of a channel if one has been sent; else -1.
  int Reported(std::uint32_t channel) {
    if (!reports->TryStep()) return -1;
    return static_cast<int>(ReportFrame::NumStepped(reports->Get(), channel));
  }
  /// Where the next message of a channel goes, as an inlet's duct finds it.
  template <std::size_t message_bytes>
  std::byte* Reserve(std::uint32_t channel, std::size_t num_bytes) {
    if (sender.HasRoom<message_bytes>(channel, num_bytes)) return sender.Next();
    return sender.TryReserve<message_bytes>(channel, num_bytes);
  }
  /// Steps to the next message of a channel, which waits, as an outlet's duct does.
  template <std::size_t message_bytes>
  ByteView Step(std::uint32_t channel) {
    AggregatedInbox& inbox = receiver.Inbox(channel);
    const bool is_fast = inbox.IsFast<message_bytes>();
    const ByteView bytes = inbox.Take<message_bytes>();
    if (is_fast) return bytes;
    receiver.NoteStep(inbox, message_bytes);
    if (!is_held) receiver.ReportIfDue();
    receiver.OpenFastPath(inbox, message_bytes, is_held);
    return bytes;
  }

  AggregatedOptions options;
  std::shared_ptr<FrameBox> box;
  std::shared_ptr<FrameBox> reports = FrameBox::Latest();
  AggregatedEverySender sender;
  AggregatedEveryReceiver receiver;
  bool is_held = false;  // the outlets are
};

using NumberOutlet = AggregatedOutletDuct<int, Policy{.consolidate = Consolidate::aggregated}>;

AggregatedOptions OfNumbers(std::size_t num_channels, std::size_t depth, std::size_t payload_bytes = 64) {
  return {.num_channels = num_channels,
          .message_bytes = sizeof(int),
          .payload_bytes = payload_bytes,
          .depth = depth,
          .num_frames = 4};
}

Frame RawFrame(const std::vector<std::uint32_t>& words) {
  Frame frame(words.size() * sizeof(std::uint32_t));
  std::memcpy(frame.Payload(), words.data(), words.size() * sizeof(std::uint32_t));
  frame.Header().num_bytes = static_cast<std::uint32_t>(words.size() * sizeof(std::uint32_t));
  return frame;
}

}  // namespace

TEST_CASE("Messages of all channels share a frame, which departs on a flush, in the order of each channel") {
  Exchange exchange(OfNumbers(3, 16));
  for (const std::uint32_t channel : {0U, 2U, 2U, 0U}) CHECK(exchange.Put(channel, static_cast<int>(10 * channel) + 1));
  CHECK(exchange.Put(2, 22));
  CHECK_FALSE(exchange.receiver.Pull());
  CHECK(exchange.sender.TryFlush());
  CHECK(exchange.receiver.Pull());
  CHECK_FALSE(exchange.receiver.Pull());
  CHECK(exchange.Next(0) == 1);
  CHECK(exchange.Next(0) == 1);
  CHECK(exchange.Next(0) == 0);
  CHECK(exchange.Next(1) == 0);
  for (const int value : {21, 21, 22, 0}) CHECK(exchange.Next(2) == value);
}

TEST_CASE("A run costs eight bytes however long it is, and a frame departs when a message does not fit") {
  Exchange exchange(OfNumbers(2, 100, 8 + 6 * sizeof(int)));
  for (int i = 1; i <= 6; ++i) CHECK(exchange.Put(0, i));
  CHECK_FALSE(exchange.receiver.Pull());
  CHECK(exchange.Put(0, 7));
  CHECK(exchange.receiver.Pull());
  CHECK(exchange.receiver.Inbox(0).NumUnread(sizeof(int)) == 6);
  for (int i = 1; i <= 3; ++i) CHECK(exchange.Put(1, i));  // a run of one and another of three just fit
  CHECK_FALSE(exchange.receiver.Pull());
  CHECK(exchange.Put(1, 4));
  CHECK(exchange.receiver.Pull());
  for (int i = 1; i <= 7; ++i) CHECK(exchange.Next(0) == i);
  CHECK(exchange.Next(1) == 1);
}

TEST_CASE("Messages go straight to a run that goes on, until the frame or the window ends") {
  constexpr std::size_t num_bytes = sizeof(int);
  const auto can_go_on = [](const Exchange& exchange, std::uint32_t channel) {
    return exchange.sender.HasRoom<num_bytes>(channel, num_bytes);
  };
  SECTION("the frame") {
    Exchange exchange(OfNumbers(2, 100, 8 + 6 * num_bytes));
    CHECK_FALSE(can_go_on(exchange, 0));  // no run has begun
    for (int i = 1; i <= 6; ++i) {
      CHECK(exchange.Put(0, i));
      CHECK(can_go_on(exchange, 0) == (i < 6));
      CHECK_FALSE(can_go_on(exchange, 1));
    }
  }
  SECTION("the window") {
    Exchange exchange(OfNumbers(2, 3));
    CHECK(exchange.Put(0, 1));
    CHECK(can_go_on(exchange, 0));
    CHECK(exchange.Put(1, 1));  // another run begins
    CHECK_FALSE(can_go_on(exchange, 0));
    CHECK(can_go_on(exchange, 1));
    for (int i = 2; i <= 3; ++i) {  // what earlier runs took of the window is gone
      CHECK(exchange.Put(0, i));
      CHECK(can_go_on(exchange, 0) == (i < 3));
    }
    CHECK_FALSE(exchange.Put(0, 4));
  }
}

TEST_CASE("Messages of every size come as they were, none among them, and of the whole frame") {
  Exchange exchange({.num_channels = 2, .max_message_bytes = 52, .payload_bytes = 68, .depth = 1000, .num_frames = 4});
  std::deque<std::string> expected;
  for (std::size_t i = 0; i < 500; ++i) {
    const std::string text(i % 53, static_cast<char>('a' + i % 26));
    REQUIRE(exchange.PutText(i % 7 == 0 ? 1 : 0, text));
    if (i % 7 != 0) expected.push_back(text);
    if (i % 3 == 0) REQUIRE(exchange.NextText(1) != "something");
    while (exchange.HasNext(0)) {
      REQUIRE(exchange.NextText(0) == expected.front());
      expected.pop_front();
    }
    exchange.receiver.Report();
  }
  CHECK(exchange.sender.TryFlush());
  while (exchange.HasNext(0)) {
    REQUIRE(exchange.NextText(0) == expected.front());
    expected.pop_front();
  }
  CHECK(expected.empty());
}

TEST_CASE("Aggregated, a channel has at most its depth of messages accepted and not stepped to") {
  for (const std::size_t depth : {1U, 2U, 3U, 7U}) {
    Exchange exchange(OfNumbers(2, depth));
    int num_put = 0;
    while (exchange.Put(0, num_put + 1)) ++num_put;
    CHECK(num_put == static_cast<int>(depth));
    for (int i = 1; i <= 50; ++i) {
      exchange.sender.TryFlush();
      REQUIRE(exchange.Next(0) == i);
      exchange.receiver.Report();
      REQUIRE(exchange.Put(0, ++num_put));
      REQUIRE_FALSE(exchange.Put(0, 0));
    }
  }
}

TEST_CASE("An aggregated outlet that is not read makes only its own inlet refuse") {
  Exchange exchange(OfNumbers(3, 8));
  int num_refused = 0;
  for (int i = 1; i <= 1000; ++i) {
    num_refused += !exchange.Put(1, i);
    REQUIRE(exchange.Put(0, i));
    REQUIRE(exchange.Put(2, i));
    exchange.sender.TryFlush();
    REQUIRE(exchange.Next(0) == i);
    REQUIRE(exchange.Next(2) == i);
  }
  CHECK(num_refused == 992);
  for (int i = 1; i <= 8; ++i) CHECK(exchange.Next(1) == i);
  CHECK(exchange.Next(1) == 0);
}

TEST_CASE("So many frames may be under way; then a full one waits, and puts are refused until there is room") {
  Exchange exchange(OfNumbers(1, 1000, 8 + 2 * sizeof(int)));
  int num_put = 0;
  while (exchange.Put(0, num_put + 1)) ++num_put;
  CHECK(num_put == 5 * 2);  // four under way, one full
  CHECK_FALSE(exchange.sender.TryFlush());
  CHECK(exchange.Next(0) == 1);
  CHECK(exchange.Put(0, ++num_put));
  while (exchange.Put(0, num_put + 1)) ++num_put;
  CHECK(num_put == 9 * 2);
  exchange.receiver.Pull();
  exchange.receiver.Report();
  exchange.sender.Poll();  // the full one leaves without another put
  CHECK(exchange.receiver.Pull());
  for (int i = 2; i <= num_put; ++i) CHECK(exchange.Next(0) == i);
}

TEST_CASE("A jump over many messages counts them, and stands at the last") {
  Exchange exchange({.num_channels = 1, .max_message_bytes = 20, .payload_bytes = 512, .depth = 50, .num_frames = 4});
  for (int i = 0; i < 10; ++i) exchange.PutText(0, std::string(static_cast<std::size_t>(i), 'x'));
  exchange.sender.TryFlush();
  REQUIRE(exchange.HasNext(0));
  AggregatedInbox& inbox = exchange.receiver.Inbox(0);
  inbox.Skip<0>(7);
  CHECK(inbox.NumUnread(0) == 3);
  CHECK(exchange.NextText(0) == "xxxxxxx");
}

TEST_CASE("A report leaves with the step that uses half the window, neither sooner nor later") {
  Exchange exchange(OfNumbers(2, 20, 200));
  for (int i = 1; i <= 19; ++i) CHECK(exchange.Put(0, i));
  exchange.sender.TryFlush();
  for (int i = 1; i <= 19; ++i) {
    REQUIRE(exchange.Next(0) == i);
    REQUIRE(exchange.Reported(0) == (i == 10 ? 10 : -1));
  }
}

TEST_CASE("Frames that make a report due have it sent by the next step of any outlet") {
  Exchange exchange(OfNumbers(3, 100));
  for (int i = 1; i <= 5; ++i) CHECK(exchange.Put(0, i));
  exchange.sender.TryFlush();
  for (int i = 1; i <= 3; ++i) CHECK(exchange.Next(0) == i);
  CHECK(exchange.Put(1, 1));
  exchange.sender.TryFlush();
  exchange.receiver.Pull();  // half of the frames that may be under way
  CHECK(exchange.Reported(0) == -1);
  CHECK(exchange.Next(0) == 4);
  CHECK(exchange.Reported(0) == 4);
}

TEST_CASE("Every step is news for a report that is sent for want of anything to do") {
  Exchange exchange(OfNumbers(2, 100));
  for (int i = 1; i <= 9; ++i) CHECK(exchange.Put(0, i));
  exchange.sender.TryFlush();
  exchange.HasNext(0);
  int num_stepped = 0;
  for (const int more : {0, 1, 3, 2, 1}) {
    for (int i = 0; i < more; ++i) CHECK(exchange.Next(0) == ++num_stepped);
    for (int i = 0; i < 10; ++i) exchange.receiver.ReportIfIdle();
    CHECK(exchange.Reported(0) == -1);  // not for a while
    for (int i = 0; i < 100; ++i) exchange.receiver.ReportIfIdle();
    CHECK(exchange.Reported(0) == num_stepped);
    for (int i = 0; i < 100; ++i) exchange.receiver.ReportIfIdle();
    CHECK(exchange.Reported(0) == -1);
  }
}

TEST_CASE("A report that is due while an outlet is held leaves with its first step after that") {
  Exchange exchange(OfNumbers(1, 20, 200));
  NumberOutlet outlet{exchange.SharedReceiver(), 0, 0};
  for (int i = 1; i <= 19; ++i) CHECK(exchange.Put(0, i));
  exchange.sender.TryFlush();
  exchange.receiver.Pull();
  outlet.HoldOutlet(true);
  for (int i = 1; i <= 15; ++i) REQUIRE((outlet.TryStep(1) == 1 && outlet.Get() == i));
  CHECK(exchange.Reported(0) == -1);
  outlet.HoldOutlet(false);
  CHECK(outlet.TryStep(1) == 1);
  CHECK(exchange.Reported(0) == 16);
  CHECK(outlet.TryStep(2) == 2);
  CHECK(outlet.NumPassed() == 18);
  CHECK(outlet.NumUnread() == 1);
}

TEST_CASE("A queue of bytes gives each byte once and in order, also where it moves few of them to make room") {
  for (const std::size_t num_kept : {0U, 1U, 2U, 7U}) {
    CAPTURE(num_kept);
    ByteQueue queue;
    std::uint8_t written = 0;
    std::uint8_t read = 0;
    bool is_in_order = true;
    for (int round = 0; round < 1000; ++round) {
      std::array<std::byte, 5> some{};
      for (std::byte& each : some) each = std::byte{written++};
      queue.Append(some.data(), some.size());
      while (queue.NumBytes() > num_kept) {
        is_in_order &= *queue.Head() == std::byte{read++};
        queue.Drop(1);
      }
    }
    CHECK(is_in_order);
  }
}

TEST_CASE("Messages that are moved to make room for more are stepped to once, and nothing beyond them") {
  Exchange exchange(
      {.num_channels = 2, .message_bytes = sizeof(int), .payload_bytes = 512, .depth = 1000, .num_frames = 16});
  NumberOutlet outlet{exchange.SharedReceiver(), 0, 0};
  int num_put = 0;
  int num_stepped = 0;
  for (const int more : {20, 20, 25}) {
    CHECK(exchange.Put(1, 1));  // no frame of one channel, so that it is copied
    for (int i = 0; i < more; ++i) CHECK(exchange.Put(0, ++num_put));
    exchange.sender.TryFlush();
    exchange.receiver.Pull();
    while (num_stepped + 1 < num_put) REQUIRE((outlet.TryStep(1) == 1 && outlet.Get() == ++num_stepped));
  }
  CHECK(outlet.TryStep(1) == 1);
  CHECK(outlet.Get() == num_put);
  CHECK(outlet.TryStep(1) == 0);
}

TEST_CASE("A window that widens while a run is open lets the run go on") {
  Exchange exchange(OfNumbers(1, 4, 200));
  for (int i = 1; i <= 3; ++i) CHECK(exchange.Put(0, i));
  exchange.sender.TryFlush();
  CHECK(exchange.Put(0, 4));
  CHECK_FALSE(exchange.Put(0, 5));
  for (int i = 1; i <= 3; ++i) CHECK(exchange.Next(0) == i);
  exchange.receiver.Report();
  for (int i = 5; i <= 7; ++i) CHECK(exchange.Put(0, i));
  CHECK_FALSE(exchange.Put(0, 8));
  CHECK_FALSE(exchange.receiver.Pull());
  exchange.sender.TryFlush();
  CHECK(exchange.receiver.Pull());
  CHECK_FALSE(exchange.receiver.Pull());  // one frame
  for (int i = 4; i <= 7; ++i) CHECK(exchange.Next(0) == i);
}

TEST_CASE("Frames read where they arrived, one by one or with others behind them, lose and mix nothing") {
  Exchange exchange(OfNumbers(2, 100, 8 + 4 * sizeof(int)));
  int next_put[2] = {1, 1};
  int next_got[2] = {1, 1};
  for (std::uint32_t round = 0; round < 400; ++round) {
    const std::uint32_t channel = round / 3 % 2;
    for (std::uint32_t i = 0; i <= round % 5; ++i) next_put[channel] += exchange.Put(channel, next_put[channel]);
    exchange.sender.TryFlush();
    const std::uint32_t reader = round / 5 % 2;
    AggregatedInbox& inbox = exchange.receiver.Inbox(reader);
    if (round % 7 == 0) exchange.receiver.Pull();
    for (std::uint32_t i = 0; i < round % 6; ++i) {
      exchange.receiver.PullFor(inbox);
      if (inbox.NumUnread(sizeof(int)) == 0) break;
      int value = 0;
      std::memcpy(&value, exchange.Step<sizeof value>(reader).data(), sizeof value);
      REQUIRE(value == next_got[reader]++);
    }
    exchange.receiver.Report();
  }
  while (!exchange.sender.TryFlush()) {
    exchange.receiver.Pull();
    exchange.receiver.Report();
  }
  for (std::uint32_t channel = 0; channel < 2; ++channel) {
    while (const int value = exchange.Next(channel)) REQUIRE(value == next_got[channel]++);
    CHECK(next_got[channel] == next_put[channel]);
    CHECK(next_put[channel] > 300);
  }
}

TEST_CASE("What waits in a frame that was kept stays as it is while the frames of others come and go") {
  Exchange exchange(OfNumbers(2, 100));
  for (int i = 1; i <= 4; ++i) CHECK(exchange.Put(0, i));
  exchange.sender.TryFlush();
  for (int i = 1; i <= 30; ++i) {
    for (int k = 0; k < 5; ++k) REQUIRE(exchange.Put(1, 100 * i + k));
    exchange.sender.TryFlush();
    exchange.receiver.PullFor(exchange.receiver.Inbox(1));
    for (int k = 0; k < 5; ++k) REQUIRE(exchange.Next(1) == 100 * i + k);
    exchange.receiver.Report();
  }
  for (int i = 1; i <= 4; ++i) CHECK(exchange.Next(0) == i);
}

TEST_CASE("A poll sends a frame when its first message is old enough, and not before") {
  AggregatedOptions options = OfNumbers(1, 16);
  SECTION("of an age") {
    options.max_age = 20ms;
    Exchange exchange(options);
    const TimePoint before = Now();
    CHECK(exchange.Put(0, 1));
    bool has_left = false;
    while (!has_left) {
      exchange.sender.Poll();
      has_left = exchange.receiver.Pull();
    }
    CHECK(Now() - before >= 20ms);
  }
  SECTION("of no age, polls send nothing") {
    Exchange exchange(options);
    CHECK(exchange.Put(0, 1));
    for (int i = 0; i < 1000; ++i) exchange.sender.Poll();
    CHECK_FALSE(exchange.receiver.Pull());
  }
}

TEST_CASE("While held, room depends on the last refresh alone, and full frames wait for the update's end") {
  Exchange exchange(OfNumbers(2, 40, 8 + 2 * sizeof(int)));
  exchange.sender.Hold(true);
  int next = 1;
  for (std::uint64_t update = 1; update <= 5; ++update) {
    exchange.sender.SetUpdate(update);
    exchange.receiver.SetUpdate(update);
    for (int i = 0; i < 40; ++i) REQUIRE(exchange.Put(0, i + 1));
    CHECK_FALSE(exchange.Put(0, 0));
    CHECK(exchange.Put(1, next++));
    exchange.receiver.Pull();  // some frames have left early
    exchange.receiver.Report();
    CHECK_FALSE(exchange.sender.RefreshReport(update));
    int num_tries = 0;
    for (; !exchange.sender.TryEndUpdate(); ++num_tries) {
      exchange.receiver.Pull();
      exchange.receiver.ReportIfDue();
    }
    CHECK(num_tries > 0);
    exchange.receiver.Pull();
    CHECK(exchange.receiver.HasLast(update));
    for (int i = 0; i < 40; ++i) REQUIRE(exchange.Next(0) == i + 1);
    CHECK(exchange.Next(1) == next - 1);
    CHECK_FALSE(exchange.Put(0, 0));
    exchange.receiver.Report(true);
    CHECK(exchange.sender.RefreshReport(update));
  }
}

TEST_CASE("A fabric that closes sends everything and the receiver takes it in") {
  Exchange exchange(OfNumbers(1, 1000, 8 + 2 * sizeof(int)));
  int num_put = 0;
  SECTION("one frame that waits") {
    while (exchange.Put(0, num_put + 1)) ++num_put;
  }
  SECTION("many, after an update that was broken off") {
    exchange.sender.Hold(true);
    while (num_put < 999 && exchange.Put(0, num_put + 1)) ++num_put;
    CHECK(num_put == 999);
  }
  while (!exchange.sender.TryFinish()) {
    CHECK_FALSE(exchange.Put(0, 0));  // though there would be room
    exchange.receiver.TryFinish();
  }
  exchange.receiver.TryFinish();
  CHECK_FALSE(exchange.reports->TryStep());  // nothing is said that nobody waits for
  CHECK_FALSE(exchange.Put(0, 1));
  for (int i = 1; i <= num_put; ++i) REQUIRE(exchange.Next(0) == i);
}

TEST_CASE("Malformed frames are refused with a clear message") {
  Exchange exchange(OfNumbers(2, 4));
  const auto pull = [&](const std::vector<std::uint32_t>& words) {
    Frame frame = RawFrame(words);
    exchange.box->TryPut(frame);
    exchange.receiver.Pull();
  };
  testing::CheckThrows([&] { pull({2, 1, 5}); }, "not belong to its exchange");  // there is no such channel
  CHECK_THROWS_AS(pull({0, 2, 5}), Error);           // a message is missing
  CHECK_THROWS_AS(pull({0, 0xffffffff, 5}), Error);  // many are
  CHECK_THROWS_AS(pull({0, 1, 5, 6}), Error);        // there is too much
  CHECK_THROWS_AS(pull({0, 5, 1, 2, 3, 4, 5}), Error);  // more than the window allows
}

TEST_CASE("Buffers of the sizes that are slow become larger") {
  CHECK(AggregatedPayloadBytes(65'536, 16) == 65'536);
  CHECK(AggregatedPayloadBytes(2048, 16) == 2048);
  CHECK(AggregatedPayloadBytes(4096, 16) == 8192);
  CHECK(AggregatedPayloadBytes(100, 5000) == 8192);
  CHECK(AggregatedPayloadBytes(100, 70'000) == 70'000);
  CHECK_THROWS_AS(AggregatedPayloadBytes(100, std::size_t{1} << 31), Error);
}
