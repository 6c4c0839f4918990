// Large messages of one frame each, through a box in shared memory: written there by the inlet and read there by the outlet.
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include <uit/exchange/aggregated/aggregated_duct.hpp>
#include <uit/inlet.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/out_port.hpp>
#include <uit/outlet.hpp>
#include <uit/transport/process.hpp>
#include <uit/transport/transport_set.hpp>

#include "tests/support/catch.hpp"
#include "tests/uit/link/support/shared_memory.hpp"

using namespace uit;

namespace {

using Numbers = std::vector<double>;
using Transports = TransportSet<Process>;
constexpr std::size_t max_numbers = 4096;
constexpr std::size_t large = 2048;  // numbers, more than min_lent_bytes
constexpr std::size_t small = 10;

/// Numbers from `first` on.
void Fill(std::span<double> numbers, double first) { std::iota(numbers.begin(), numbers.end(), first); }
Numbers Made(std::size_t count, double first) {
  Numbers numbers(count);
  Fill(numbers, first);
  return numbers;
}

/// A conduit between two processes on one host, of which this is both.
class Line {
 public:
  explicit Line(std::size_t depth = 2, bool shares_memory = true)
      : options_{.max_message_bytes = max_numbers * sizeof(double),
                 .payload_bytes = sizeof(MessageRun) + sizeof(MessageLength) + max_numbers * sizeof(double),
                 .depth = depth,
                 .num_frames = depth,
                 .departs_at_once = true,
                 .lends = true} {
    const auto in = FrameBox::Every(FrameWindow::BoxDepth(depth));
    const auto out = shares_memory ? FrameBox::Every(FrameWindow::BoxDepth(depth)) : in;
    const auto reports = FrameBox::Latest();
    receiver_ = std::make_shared<AggregatedEveryReceiver>(options_, in, OutPort{reports}, nullptr);
    if (shares_memory) {
      memory_.emplace(in->SharedBytes(options_.payload_bytes));
      in->CreateShared(memory_->All(), options_.payload_bytes);
      in->ReceiveBy(memory_->All(), options_.payload_bytes);
      out->SendBy(memory_->All(), options_.payload_bytes);
    }
    detach_ = [in, out] { in->Detach(), out->Detach(); };
    sender_ = std::make_shared<AggregatedEverySender>(options_, OutPort{out}, reports);
    inlet = Inlet<Numbers, Policy{}, Transports>{MakeRef<AggregatedInletDuct<Numbers, Policy{}>>(sender_, 0U)};
    outlet = Outlet<Numbers, Policy{}, Transports>{MakeRef<AggregatedOutletDuct<Numbers, Policy{}>>(receiver_, 0U, Numbers{})};
  }
  /// Lends room and fills it.
  std::optional<std::span<double>> Loan(std::size_t count, double first) {
    auto room = inlet.TryLoan(count);
    if (room) Fill(*room, first);
    return room;
  }
  /// Whether the next message is this one. Read in place, it must lie in shared memory if it is large.
  bool Reads(const Numbers& expected) {
    bool is_equal = false;
    const bool any = outlet.TryRead([&](std::span<const double> numbers) {
      is_equal = Numbers(numbers.begin(), numbers.end()) == expected;
      if (memory_) CHECK(IsShared(numbers) == (numbers.size() >= large));
    });
    return any && is_equal;
  }
  bool IsShared(std::span<const double> numbers) const {
    const auto* const place = reinterpret_cast<const std::byte*>(numbers.data());
    return memory_ && place > memory_->All().data() && place < memory_->All().data() + memory_->All().size();
  }
  bool IsBalanced() const {
    Tally tally;
    tally += inlet.Tally();
    tally += outlet.Tally();
    return tally.Balanced();
  }
  /// Ends the exchange, and takes the memory away.
  void Close() {
    while (!sender_->TryFinish() || !receiver_->TryFinish()) {
    }
    detach_();
    if (memory_) std::memset(memory_->All().data(), 0xFF, memory_->All().size());
  }

 private:
  AggregatedOptions options_;
  std::optional<testing::SharedMemory> memory_;
  std::shared_ptr<AggregatedEverySender> sender_;
  std::shared_ptr<AggregatedEveryReceiver> receiver_;
  std::function<void()> detach_;

 public:
  Inlet<Numbers, Policy{}, Transports> inlet;
  Outlet<Numbers, Policy{}, Transports> outlet;
};

}  // namespace

TEST_CASE("A large message is written and read in shared memory, and a small one is copied") {
  Line line;
  for (int lap = 0; lap < 50; ++lap) {
    const auto first = static_cast<double>(lap);
    const std::size_t count = lap % 3 == 0 ? small : large + static_cast<std::size_t>(lap);
    const auto room = line.Loan(count, first);
    REQUIRE(room);
    CHECK(line.IsShared(*room) == (count >= large));
    CHECK_FALSE(line.Reads(Made(count, first)));  // not yet published
    REQUIRE(line.inlet.Publish(*room));
    REQUIRE(line.Reads(Made(count, first)));
    REQUIRE(line.inlet.TryPut(Made(count, -first)));
    REQUIRE(line.outlet.TryStep() == 1);
    REQUIRE(line.outlet.Get() == Made(count, -first));
  }
  CHECK(line.inlet.Tally().attempted == 100);
  CHECK(line.inlet.Tally().dropped == 0);
  CHECK(line.IsBalanced());
}

TEST_CASE("Without shared memory loans work the same way") {
  Line line{2, false};
  for (int lap = 0; lap < 10; ++lap) {
    const auto room = line.Loan(large, lap);
    REQUIRE(room);
    REQUIRE(line.inlet.Publish(*room));
    REQUIRE(line.Reads(Made(large, lap)));
  }
  CHECK(line.IsBalanced());
}

TEST_CASE("A loan that is not published is no message") {
  const bool shares_memory = GENERATE(true, false);
  Line line{2, shares_memory};
  SECTION("but a put takes its place") {
    const auto room = line.Loan(large, 1);
    const std::size_t count = GENERATE(small, large, max_numbers);
    REQUIRE(line.inlet.TryPut(Made(count, 2)));
    CHECK_FALSE(line.inlet.Publish(*room));
    CHECK(line.outlet.TryStep() == 1);
    CHECK(line.outlet.Get() == Made(count, 2));
    CHECK(line.inlet.Tally().attempted == 2);
    CHECK(line.inlet.Tally().dropped == 1);
  }
  SECTION("but another loan takes its place") {
    line.Loan(GENERATE(small, large), 1);
    const auto room = line.Loan(max_numbers, 2);
    REQUIRE(line.inlet.Publish(*room));
    CHECK_FALSE(line.inlet.Publish(*room));  // twice
    CHECK(line.Reads(Made(max_numbers, 2)));
  }
  SECTION("and no other memory can be published") {
    Numbers own(small);
    const auto room = line.Loan(large, 1);
    CHECK_FALSE(line.inlet.Publish(own));
    CHECK_FALSE(line.inlet.Publish(room->subspan(1)));
    CHECK_FALSE(line.inlet.Publish({}));
  }
  SECTION("and nothing is sent by flushes and polls") {
    const auto room = line.Loan(large, 1);
    line.inlet.TryFlush();
    line.inlet.Poll();
    CHECK(line.outlet.TryStep() == 0);
    CHECK(line.inlet.Publish(*room));
    CHECK(line.Reads(Made(large, 1)));
  }
  SECTION("and ends with the exchange") {
    const auto room = line.Loan(large, 1);
    line.Close();
    CHECK_FALSE(line.inlet.Publish(*room));
    CHECK_FALSE(line.inlet.TryLoan(large));
    CHECK(line.outlet.TryStep() == 0);
  }
  CHECK(line.outlet.TryStep() == 0);
  CHECK(line.IsBalanced());
}

TEST_CASE("The first elements of a loan can be published alone") {
  Line line;
  for (int lap = 0; lap < 30; ++lap) {  // the ring wraps at many places
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, small, large}) {
      const auto room = line.Loan(max_numbers, lap);
      REQUIRE(line.inlet.Publish(room->first(count)));
      REQUIRE(line.outlet.TryStep() == 1);
      REQUIRE(line.outlet.Get() == Made(count, lap));
    }
  }
  CHECK(line.IsBalanced());
}

TEST_CASE("A loan is refused if no message has room, and if it is too large") {
  Line line{3};
  for (int i = 0; i < 3; ++i) REQUIRE(line.inlet.Publish(*line.Loan(max_numbers, i)));
  CHECK_FALSE(line.inlet.TryLoan(max_numbers));
  CHECK_THROWS_AS(line.inlet.TryLoan(max_numbers + 1), MessageTooLarge);
  CHECK_THROWS_AS(line.inlet.TryLoan(~std::size_t{0} / 4), MessageTooLarge);
  for (int i = 0; i < 3; ++i) REQUIRE(line.Reads(Made(max_numbers, i)));
  CHECK(line.inlet.Tally().attempted == 6);
  CHECK(line.inlet.Tally().dropped == 3);
  CHECK(line.IsBalanced());
}

TEST_CASE("A depth of large messages has room while the outlet still reads one before them") {
  Line line{2};
  for (int lap = 0; lap < 20; ++lap) {
    REQUIRE(line.inlet.TryPut(Made(max_numbers, lap)));
    REQUIRE(line.outlet.TryStep() == 1);
    for (int i = 0; i < 2; ++i) REQUIRE(line.inlet.TryPut(Made(max_numbers, i)));
    REQUIRE(line.outlet.Get() == Made(max_numbers, lap));
    for (int i = 0; i < 2; ++i) REQUIRE(line.Reads(Made(max_numbers, i)));
  }
}

TEST_CASE("Messages that wait in shared memory can be read after the memory is gone") {
  const int num_messages = GENERATE(2, 3, 4);
  Line line{4};
  for (int i = 0; i < num_messages; ++i) REQUIRE(line.inlet.TryPut(Made(large, i)));
  REQUIRE(line.outlet.TryStep() == 1);
  line.Close();
  CHECK(line.outlet.Get() == Made(large, 0));
  for (int i = 1; i < num_messages; ++i) {
    REQUIRE(line.outlet.TryStep() == 1);
    CHECK(line.outlet.Get() == Made(large, i));
  }
  CHECK(line.outlet.TryStep() == 0);
}

TEST_CASE("A jump passes over large messages") {
  Line line{4};
  for (int i = 0; i < 4; ++i) REQUIRE(line.inlet.TryPut(Made(large, i)));
  CHECK(line.outlet.Jump() == 4);
  CHECK(line.outlet.Get() == Made(large, 3));
  CHECK(line.IsBalanced());
}

TEST_CASE("A length that a peer changes after the check leads nowhere beyond the message") {
  AggregatedInbox inbox;
  std::vector<std::byte> lent(sizeof(MessageLength) + 16);
  const MessageLength wrong = ~MessageLength{0};
  std::memcpy(lent.data(), &wrong, sizeof wrong);
  inbox.bytes.Borrow(lent);
  inbox.num_arrived = 1;
  CHECK(inbox.Take<0>().size() == 16);
  CHECK(inbox.bytes.NumBytes() == 0);

  // Of two messages, the first takes all.
  inbox.bytes.Borrow(lent);
  inbox.num_arrived += 2;
  CHECK(inbox.Take<0>().size() == 16);
  CHECK(inbox.Take<0>().empty());
  CHECK(inbox.bytes.NumBytes() == 0);

  // What a shorter message leaves is none of the next.
  const MessageLength shorter = 3;
  std::memcpy(lent.data(), &shorter, sizeof shorter);
  inbox.bytes.Borrow(lent);
  inbox.num_arrived += 1;
  CHECK(inbox.Take<0>().size() == 3);
  CHECK(inbox.bytes.NumBytes() == 0);
}
