#include <uit/exchange/pooled/pooled_accumulate.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

#include <uit/exchange/pooled/accumulate_channel_duct.hpp>

#include "tests/support/catch.hpp"

using namespace uit;

namespace {

/// Both halves, with nothing but boxes between them.
struct Pool {
  using Amount = std::uint8_t;

  explicit Pool(std::size_t num_channels, std::size_t depth = 4)
      : layout{num_channels, sizeof(Amount)},
        box{FrameBox::Every(depth + 2)},
        sender{layout, depth, &FoldEncoded<Amount>, OutPort{box}, reports},
        receiver{layout, depth, &FoldEncoded<Amount>, box, OutPort{reports}, nullptr} {}

  bool Put(std::size_t channel, Amount amount) {
    std::byte encoded{amount};
    return sender.TryFold(channel, &encoded);
  }
  /// What a channel's sum was; -1 if there was none.
  int Take(std::size_t channel) {
    std::byte sum{};
    num_taken = receiver.Take(channel, &sum);
    return num_taken == 0 ? -1 : std::to_integer<int>(sum);
  }
  /// As a runner ends a bulk synchronous update.
  void EndUpdate(std::uint64_t update) {
    REQUIRE(sender.TryEndUpdate());
    receiver.Report(true);
    receiver.Pull();
    REQUIRE(receiver.HasLast(update));
    REQUIRE(sender.RefreshReport(update));
  }
  void Begin(std::uint64_t update) {
    sender.SetUpdate(update);
    receiver.SetUpdate(update);
  }

  AccumulateFrame layout;
  std::shared_ptr<FrameBox> box;
  std::shared_ptr<FrameBox> reports = FrameBox::Latest();
  PooledAccumulateSender sender;
  PooledAccumulateReceiver receiver;
  std::uint64_t num_taken = 0;
};

}  // namespace

TEST_CASE("Sums depart when each channel has put since the last departure") {
  Pool pool{3};
  CHECK(pool.Put(0, 3));
  CHECK(pool.Put(1, 10));
  CHECK_FALSE(pool.receiver.Pull());
  CHECK(pool.Put(2, 20));
  CHECK(pool.receiver.Pull());
  CHECK(pool.Take(0) == 3);
  CHECK(pool.num_taken == 1);
  CHECK(pool.Take(1) == 10);
  CHECK(pool.num_taken == 1);
  CHECK(pool.Take(2) == 20);
  CHECK(pool.Take(2) == -1);
}

TEST_CASE("A second put before departure is added to the first, and then those who skip are not waited for until they put") {
  Pool pool{3};
  CHECK(pool.Put(0, 1));
  CHECK_FALSE(pool.receiver.Pull());
  CHECK(pool.Put(0, 2));
  CHECK(pool.receiver.Pull());
  CHECK(pool.Take(0) == 3);
  CHECK(pool.num_taken == 2);
  CHECK(pool.Put(0, 4));
  CHECK(pool.receiver.Pull());
  CHECK(pool.Take(0) == 4);
  CHECK(pool.Put(1, 5));
  CHECK_FALSE(pool.receiver.Pull());
  CHECK(pool.Put(0, 6));
  CHECK(pool.receiver.Pull());
  CHECK(pool.Take(1) == 5);
}

TEST_CASE("A flush sends what some have put, and nothing for the silent") {
  Pool pool{2};
  CHECK(pool.sender.TryFlush());
  CHECK_FALSE(pool.receiver.Pull());
  for (int i = 0; i < 3; ++i) {
    CHECK(pool.Put(1, 7));
    CHECK(pool.sender.TryFlush());
  }
  CHECK(pool.receiver.Pull());
  CHECK(pool.Take(0) == -1);
  CHECK(pool.Take(1) == 21);
  CHECK(pool.num_taken == 3);
}

TEST_CASE("A receiver that does not pull is sent no more than its window, and the rest adds up") {
  Pool pool{1, 2};
  for (int i = 0; i < 100; ++i) CHECK(pool.Put(0, 1));
  CHECK_FALSE(pool.sender.TryFlush());
  CHECK(pool.receiver.Pull());
  CHECK(pool.Take(0) == 2);
  pool.receiver.Report();
  CHECK(pool.sender.TryFlush());
  CHECK(pool.receiver.Pull());
  CHECK(pool.Take(0) == 98);
  CHECK(pool.num_taken == 98);
}

TEST_CASE("Counts travel only where channels differ") {
  Pool pool{2};
  const auto num_bytes = [&] {
    REQUIRE(pool.box->TryStep());
    return pool.box->Get().Header().num_bytes;
  };
  pool.Put(0, 1);
  pool.Put(1, 1);
  CHECK(num_bytes() == 2);
  pool.Put(0, 1);
  pool.sender.TryFlush();
  CHECK(num_bytes() == 2 + 2 * sizeof(std::uint64_t));
  pool.sender.Hold(true);
  pool.sender.TryEndUpdate();
  CHECK(num_bytes() == 0);
}

TEST_CASE("What would make a sum overflow waits beside it, and holds up no other channel") {
  Pool pool{2, 2};
  CHECK(pool.Put(0, 200));
  CHECK(pool.sender.TryFlush());
  CHECK(pool.Put(0, 100));
  CHECK(pool.Put(1, 1));
  pool.receiver.Pull();
  pool.receiver.ReportIfDue();
  CHECK(pool.receiver.NumUnread(0) == 2);
  // The sender knows by now, so that the full channel stays, and in the end is refused; its sibling goes on.
  for (int i = 0; i < 10; ++i) {
    CHECK(pool.Put(0, 25));
    CHECK(pool.Put(1, 1));
    pool.sender.TryFlush();
    pool.receiver.Pull();
    pool.receiver.Report();
  }
  CHECK_FALSE(pool.Put(0, 25));
  CHECK(pool.receiver.NumUnread(0) == 2);
  CHECK(pool.Take(1) == 11);
  CHECK(pool.Take(0) == 200);
  CHECK(pool.Take(0) == 100);
  CHECK(pool.Take(0) == -1);
  pool.receiver.ReportIfDue();
  CHECK(pool.sender.TryFlush());
  pool.receiver.Pull();
  CHECK(pool.Take(0) == 250);
  CHECK(pool.num_taken == 10);
}

TEST_CASE("While held, sums leave at the update's end, and acceptance does not show who has stepped since") {
  Pool pool{1};
  pool.sender.Hold(true);
  pool.Begin(1);
  CHECK(pool.Put(0, 100));
  CHECK(pool.sender.TryFlush());
  CHECK_FALSE(pool.receiver.Pull());
  pool.EndUpdate(1);
  pool.Begin(2);
  CHECK(pool.Put(0, 100));
  CHECK_FALSE(pool.Put(0, 56));  // with what waits
  CHECK(pool.Take(0) == 100);
  CHECK_FALSE(pool.Put(0, 56));  // which has gone, but that is not to show
  CHECK(pool.Put(0, 55));
  pool.EndUpdate(2);
  pool.Begin(3);
  CHECK_FALSE(pool.Put(0, 101));
  pool.EndUpdate(3);
  pool.Begin(4);
  CHECK(pool.Put(0, 100));
  CHECK_FALSE(pool.Put(0, 1));
  pool.EndUpdate(4);
  CHECK(pool.Take(0) == 255);
  CHECK(pool.num_taken == 3);
}

TEST_CASE("While held, the bound is of all that waits: what was reported and what left after that") {
  Pool pool{2};
  pool.sender.Hold(true);
  pool.Begin(1);
  CHECK(pool.Put(0, 100));
  CHECK(pool.Put(1, 100));
  pool.EndUpdate(1);
  pool.Begin(2);
  CHECK(pool.Put(0, 50));
  pool.EndUpdate(2);  // the report tells of 100 of each, and 50 more of one have left since
  pool.Begin(3);
  CHECK_FALSE(pool.Put(0, 106));
  CHECK(pool.Put(0, 105));
  CHECK_FALSE(pool.Put(0, 1));
  CHECK_FALSE(pool.Put(1, 156));
  CHECK(pool.Put(1, 155));
  pool.EndUpdate(3);
  CHECK(pool.Take(0) == 255);
  CHECK(pool.num_taken == 3);
  CHECK(pool.Take(1) == 255);
  CHECK(pool.num_taken == 2);
}

TEST_CASE("A member that yields is not waited for, and what it had put leaves with the others'") {
  Pool pool{3};
  pool.sender.Claim(2);
  SECTION("before it has put") {
    pool.sender.Yield(2);
    CHECK(pool.Put(0, 1));
    CHECK_FALSE(pool.receiver.Pull());
    CHECK(pool.Put(1, 2));
    CHECK(pool.receiver.Pull());
    CHECK(pool.Take(2) == -1);
  }
  SECTION("as the last that is waited for") {
    CHECK(pool.Put(0, 1));
    CHECK(pool.Put(1, 2));
    CHECK_FALSE(pool.receiver.Pull());
    pool.sender.Yield(2);
    pool.sender.Poll();
    CHECK(pool.receiver.Pull());
    CHECK(pool.Take(2) == -1);
  }
  SECTION("after it has put") {
    CHECK(pool.Put(2, 3));
    pool.sender.Yield(2);
    CHECK(pool.Put(0, 1));
    CHECK_FALSE(pool.receiver.Pull());
    CHECK(pool.Put(1, 2));
    CHECK(pool.receiver.Pull());
    CHECK(pool.Take(2) == 3);
  }
  CHECK(pool.Take(0) == 1);
  CHECK(pool.Take(1) == 2);
  CHECK(pool.Put(1, 4));
  CHECK_FALSE(pool.receiver.Pull());
  CHECK(pool.Put(0, 5));
  CHECK(pool.receiver.Pull());
  CHECK(pool.Take(0) == 5);
  CHECK(pool.Take(1) == 4);
}

TEST_CASE("The last frame leaves whatever the window, with all there is") {
  Pool pool{2, 1};
  for (int i = 0; i < 5; ++i) {
    pool.Put(0, 10);
    pool.Put(1, 20);
  }
  CHECK_FALSE(pool.sender.TryFlush());
  CHECK(pool.sender.TryFinish());
  CHECK(pool.receiver.TryFinish());
  CHECK(pool.Take(0) == 50);
  CHECK(pool.Take(1) == 100);
  CHECK(pool.num_taken == 5);
}
