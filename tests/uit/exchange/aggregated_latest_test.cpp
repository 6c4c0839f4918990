#include <uit/exchange/aggregated/aggregated_latest.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include <uit/support/clock.hpp>

#include "tests/support/catch.hpp"

using namespace uit;
using namespace std::chrono_literals;

namespace {

/// Both halves, with nothing but two boxes between them.
struct Exchange {
  explicit Exchange(const AggregatedOptions& options)
      : box(FrameBox::Every(FrameWindow::BoxDepth(options.num_frames))),
        sender(options, OutPort{box}, reports),
        receiver(options, box, OutPort{reports}, nullptr) {}

  void Put(std::uint32_t channel, const std::string& text) {
    std::byte* to = sender.SpareSlot(text.size());
    if (!text.empty()) std::memcpy(to, text.data(), text.size());
    sender.CommitSpare(channel);
  }
  /// The newest of a channel, and how many messages that moves past.
  std::string Newest(std::uint32_t channel) {
    receiver.Pull();
    const std::uint64_t count = receiver.Take(channel);
    if (count == 0) return "nothing";
    const ByteView bytes = receiver.Newest(channel);
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()) + " of " + std::to_string(count);
  }

  std::shared_ptr<FrameBox> box;
  std::shared_ptr<FrameBox> reports = FrameBox::Latest();
  AggregatedLatestSender sender;
  AggregatedLatestReceiver receiver;
};

constexpr AggregatedOptions small{.num_channels = 4, .max_message_bytes = 40, .payload_bytes = 64, .num_frames = 2};
constexpr AggregatedOptions large{.num_channels = 4, .max_message_bytes = 40, .payload_bytes = 1024, .num_frames = 2};

/// Checks that what was put leaves by repeated calls of `act` when it is 20 ms old, and not before.
template <typename Act>
void CheckSendsAt20Ms(Act&& act) {
  AggregatedOptions options = large;
  options.max_age = 20ms;
  Exchange aged(options);
  const TimePoint before = Now();
  aged.Put(0, "old");
  bool has_left = false;
  while (!has_left) {
    act(aged);
    has_left = aged.receiver.Pull();
  }
  CHECK(Now() - before >= 20ms);
}

}  // namespace

TEST_CASE("A frame carries the newest message of each channel that has put, and how many it stands for") {
  Exchange exchange(large);
  exchange.Put(0, "a");
  exchange.Put(2, "b");
  exchange.Put(0, "longer than before");
  exchange.Put(3, "");
  CHECK(exchange.Newest(0) == "nothing");
  CHECK(exchange.sender.TryFlush());
  CHECK(exchange.Newest(0) == "longer than before of 2");
  CHECK(exchange.Newest(1) == "nothing");
  CHECK(exchange.Newest(2) == "b of 1");
  CHECK(exchange.Newest(3) == " of 1");
  CHECK(exchange.Newest(0) == "nothing");
  exchange.Put(1, "c");
  CHECK(exchange.sender.TryFlush());
  CHECK(exchange.receiver.Pull());
  CHECK(exchange.Newest(0) == "nothing");
  CHECK(exchange.Newest(1) == "c of 1");
}

TEST_CASE("Without room for a frame nothing is refused, and the newest leaves when there is some") {
  Exchange exchange(large);
  for (int i = 1; i <= 10; ++i) {
    exchange.Put(0, std::to_string(i));
    CHECK(exchange.sender.TryFlush() == (i <= 2));
  }
  CHECK(exchange.Newest(0) == "2 of 2");
  exchange.receiver.ReportIfDue();
  exchange.sender.Poll();
  CHECK(exchange.Newest(0) == "10 of 8");
  CHECK(exchange.sender.TryFlush());
}

TEST_CASE("What fills a frame departs by itself; the rest takes another") {
  Exchange exchange(small);
  exchange.Put(0, std::string(20, 'x'));
  CHECK_FALSE(exchange.receiver.Pull());
  exchange.Put(1, std::string(30, 'y'));
  CHECK(exchange.receiver.Pull());
  CHECK(exchange.Newest(0) == std::string(20, 'x') + " of 1");
  CHECK(exchange.Newest(1) == std::string(30, 'y') + " of 1");
}

TEST_CASE("The end of a node's update sends at once, or what is old enough if there is an age") {
  Exchange at_once(large);
  at_once.Put(0, "new");
  at_once.sender.EndTurn();
  CHECK(at_once.receiver.Pull());
  CheckSendsAt20Ms([](Exchange& aged) { aged.sender.EndTurn(); });
}

TEST_CASE("A poll sends when the first message that waits is old enough") {
  CheckSendsAt20Ms([](Exchange& aged) { aged.sender.Poll(); });
}

TEST_CASE("An update ends with its last frame, even if no channel has put, or the messages need more than one") {
  Exchange exchange(small);
  for (std::uint64_t update = 1; update < 10; ++update) {
    exchange.sender.SetUpdate(update);
    exchange.receiver.SetUpdate(update);
    for (std::uint32_t channel = 0; channel < update % 5; ++channel) {
      exchange.Put(channel, "early");
      exchange.Put(channel, std::string(40, static_cast<char>('a' + update)));
    }
    while (!exchange.sender.TryEndUpdate()) {
      CHECK_FALSE(exchange.receiver.HasLast(update));
      exchange.receiver.Pull();
      exchange.receiver.ReportIfDue();
      CHECK_FALSE(exchange.sender.RefreshReport(update));
    }
    exchange.receiver.Pull();
    CHECK(exchange.receiver.HasLast(update));
    for (std::uint32_t channel = 0; channel < update % 5; ++channel)
      CHECK(exchange.Newest(channel) == std::string(40, static_cast<char>('a' + update)) + " of 2");
    exchange.receiver.Report(true);
    CHECK(exchange.sender.RefreshReport(update));
  }
}

TEST_CASE("When the fabric closes the newest of all channels departs, in as many frames as it takes") {
  Exchange exchange(small);
  for (int i = 0; i < 3; ++i) {
    for (std::uint32_t channel = 0; channel < 4; ++channel) exchange.Put(channel, std::string(40, 'z'));
  }
  while (!exchange.sender.TryFinish()) exchange.receiver.TryFinish();
  exchange.receiver.TryFinish();
  CHECK_FALSE(exchange.reports->TryStep());  // nothing is said that nobody waits for
  for (std::uint32_t channel = 0; channel < 4; ++channel)
    CHECK(exchange.Newest(channel) == std::string(40, 'z') + " of 3");
}
