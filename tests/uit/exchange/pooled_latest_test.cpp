#include <uit/exchange/pooled/pooled_latest.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include <uit/link/frame_box.hpp>

#include "tests/support/catch.hpp"

using namespace uit;

namespace {

/// Both halves, with nothing but a box between them.
struct Pool {
  explicit Pool(std::size_t num_channels)
      : layout{num_channels, sizeof(int)}, sender{layout, OutPort{box}}, receiver{layout, box, nullptr} {}

  void Put(std::size_t channel, int value) {
    std::memcpy(sender.Slot(channel), &value, sizeof value);
    sender.Commit(channel);
  }
  int Value(std::size_t channel) {
    int value = 0;
    std::memcpy(&value, receiver.Slot(channel), sizeof value);
    return value;
  }

  LatestFrame layout;
  std::shared_ptr<FrameBox> box = FrameBox::Latest();
  PooledLatestSender sender;
  PooledLatestReceiver receiver;
};

}  // namespace

TEST_CASE("A frame departs when each channel has put since the last one") {
  Pool pool{3};
  pool.Put(0, 1);
  pool.Put(1, 2);
  CHECK_FALSE(pool.receiver.Pull());
  pool.Put(2, 3);
  CHECK(pool.receiver.Pull());
  for (std::size_t channel = 0; channel < 3; ++channel) {
    CHECK(pool.receiver.Take(channel) == 1);
    CHECK(pool.Value(channel) == static_cast<int>(channel) + 1);
  }
}

TEST_CASE("A second message before departure replaces the first, and then those who skip are not waited for") {
  Pool pool{3};
  pool.Put(0, 1);
  CHECK_FALSE(pool.receiver.Pull());
  pool.Put(0, 2);
  CHECK(pool.receiver.Pull());
  CHECK(pool.receiver.Take(0) == 2);
  CHECK(pool.Value(0) == 2);
  CHECK(pool.receiver.Take(1) == 0);
  pool.Put(0, 3);
  CHECK(pool.receiver.Pull());
  CHECK(pool.Value(0) == 3);
  pool.Put(1, 20);
  CHECK_FALSE(pool.receiver.Pull());  // from now on it is waited for, and waits
  pool.Put(0, 4);
  CHECK(pool.receiver.Pull());
  CHECK(pool.receiver.Take(0) == 2);
  CHECK(pool.receiver.Take(1) == 1);
  CHECK(pool.Value(1) == 20);
}

TEST_CASE("A flush sends what some have put, and the silent keep theirs") {
  Pool pool{2};
  CHECK(pool.sender.TryFlush());
  CHECK_FALSE(pool.receiver.Pull());
  pool.Put(1, 7);
  CHECK(pool.sender.TryFlush());
  CHECK(pool.receiver.Pull());
  CHECK(pool.receiver.Take(0) == 0);
  CHECK(pool.receiver.Take(1) == 1);
  CHECK(pool.Value(1) == 7);
  pool.Put(0, 8);
  CHECK(pool.sender.TryFlush());
  CHECK(pool.receiver.Pull());
  CHECK(pool.receiver.Take(0) == 1);
  CHECK(pool.receiver.Take(1) == 0);
  CHECK(pool.Value(0) == 8);
  CHECK(pool.Value(1) == 7);
}

TEST_CASE("A newer frame replaces an older one, and loses no channel's newest message nor its count") {
  Pool pool{2};
  pool.Put(0, 1);
  pool.sender.TryFlush();
  pool.Put(1, 2);
  pool.sender.TryFlush();
  pool.Put(1, 3);
  pool.sender.TryFlush();
  CHECK(pool.receiver.Pull());
  CHECK(pool.receiver.NumUnread(0) == 1);
  CHECK(pool.receiver.NumUnread(1) == 2);
  CHECK(pool.receiver.Take(0) == 1);
  CHECK(pool.receiver.Take(1) == 2);
  CHECK(pool.Value(0) == 1);
  CHECK(pool.Value(1) == 3);
  CHECK_FALSE(pool.receiver.Pull());
  CHECK(pool.receiver.Take(1) == 0);
}

TEST_CASE("Counts travel once while channels agree, and each again when they do not") {
  Pool pool{4};
  const auto bytes = [&] {
    REQUIRE(pool.box->TryStep());
    return pool.box->Get().Header().num_bytes;
  };
  const std::uint32_t uniform = 4 * sizeof(int);
  const std::uint32_t each = uniform + 4 * sizeof(std::uint64_t);
  const auto put_all = [&] {
    for (std::size_t channel = 0; channel < 4; ++channel) pool.Put(channel, 1);
  };
  put_all();
  CHECK(bytes() == uniform);
  put_all();
  CHECK(bytes() == uniform);
  pool.Put(2, 1);
  pool.sender.TryFlush();
  CHECK(bytes() == each);
  put_all();
  CHECK(bytes() == each);
  for (const std::size_t channel : {0U, 1U, 3U}) pool.Put(channel, 1);
  pool.sender.TryFlush();  // level again
  CHECK(bytes() == each);
  put_all();
  CHECK(bytes() == uniform);
  pool.Put(0, 1);
  put_all();  // one has put twice, and so ran ahead of the others
  pool.sender.TryFlush();
  CHECK(bytes() == each);
  pool.sender.TryEndUpdate();
  REQUIRE(pool.receiver.Pull());
  for (std::size_t channel = 0; channel < 4; ++channel) CHECK(pool.receiver.Take(channel) == (channel == 0 ? 7U : 6U));
}

TEST_CASE("The end of an update departs in any case, and says so") {
  Pool pool{2};
  pool.sender.SetUpdate(5);
  pool.sender.TryEndUpdate();
  CHECK_FALSE(pool.receiver.HasLast(5));
  CHECK(pool.receiver.Pull());
  CHECK(pool.receiver.HasLast(5));
  CHECK_FALSE(pool.receiver.HasLast(4));
  CHECK(pool.receiver.Take(0) == 0);
  pool.sender.SetUpdate(6);
  pool.Put(0, 1);
  pool.Put(1, 1);
  CHECK(pool.receiver.Pull());
  CHECK_FALSE(pool.receiver.HasLast(6));
}

TEST_CASE("Who follows an inlet that has put and gone has its own message counted") {
  Pool pool{2};
  pool.sender.Claim(0);
  pool.Put(0, 1);
  pool.sender.Yield(0);
  pool.Put(0, 2);
  pool.sender.TryFlush();
  CHECK(pool.sender.NumAccepted(0) == 2);
  pool.receiver.Pull();
  CHECK(pool.receiver.NumUnread(0) == 2);
  CHECK(pool.receiver.NumUnread(1) == 0);
}
