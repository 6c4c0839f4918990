#include <uit/link/progress_engine.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/loopback_world.hpp"

using namespace uit;

namespace {

/// The engines of two processes and the link between them. The first sends from one box, and the second receives.
struct Engines {
  explicit Engines(std::size_t num_slots)
      : pair({.num_sends = num_slots + Connection::num_uncredited,
              .num_receives = num_slots + Connection::num_uncredited,
              .payload_bytes = sizeof(std::uint64_t)}) {
    sender.AddOutgoing(1, 0, FrameBox::Every(16), false);
    sender.AddConnection(1, pair.First(), num_slots);
    sender.Activate();
    receiver.AddIncoming(0, box, sizeof(std::uint64_t));
    receiver.AddConnection(0, pair.Second(), num_slots);
    receiver.Activate();
  }
  bool Put(std::uint64_t number) {
    frame.Reserve(sizeof number);
    frame.Header() = FrameHeader{};
    frame.Header().num_bytes = sizeof number;
    std::memcpy(frame.Payload(), &number, sizeof number);
    return sender.TryDepart(sender.Outgoing(0), 0, frame);
  }
  /// Receives what was sent, acknowledges it, and returns all numbers received so far.
  const std::vector<std::uint64_t>& Taken() {
    receiver.Poll();
    while (box->TryStep()) {
      taken.emplace_back();
      std::memcpy(&taken.back(), box->Get().Payload(), sizeof taken.back());
    }
    return taken;
  }

  testing::LoopbackPair pair;
  ProgressEngine sender{std::make_shared<ProcessState>(), 1};
  ProgressEngine receiver{std::make_shared<ProcessState>(), 1};
  std::shared_ptr<FrameBox> box = FrameBox::Every(16);
  std::vector<std::uint64_t> taken{};
  Frame frame{};
};

}  // namespace

TEST_CASE("A put without credit checks for new credit, and then sends at once without a poll") {
  Engines engines{1};
  for (std::uint64_t number = 1; number <= 5; ++number) {
    CHECK(engines.Put(number));
    CHECK(engines.pair.there->NumInFlight() == 1);
    CHECK(engines.Taken().size() == number);
  }
  CHECK(engines.taken == std::vector<std::uint64_t>{1, 2, 3, 4, 5});
}

TEST_CASE("A put first sends the frames that wait, and then its own if there is credit") {
  Engines engines{2};
  for (const std::uint64_t number : {1U, 2U, 3U}) CHECK(engines.Put(number));
  CHECK(engines.pair.there->NumInFlight() == 2);
  CHECK(engines.Taken().size() == 2);
  CHECK(engines.Put(4));
  CHECK(engines.pair.there->NumInFlight() == 2);
  CHECK(engines.Put(5));
  CHECK(engines.pair.there->NumInFlight() == 2);  // no more without credit
  CHECK(engines.Taken().size() == 4);
  CHECK(engines.Put(6));
  CHECK(engines.Taken() == std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6});
}
