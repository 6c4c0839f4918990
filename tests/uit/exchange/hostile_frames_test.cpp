// Frames through shared memory that are whole and as long as they say, but none of their exchange.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <uit/exchange/aggregated/aggregated_duct.hpp>
#include <uit/exchange/pooled/accumulate_channel_duct.hpp>
#include <uit/exchange/pooled/channel_duct.hpp>
#include <uit/support/bytes.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/out_port.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/thrown.hpp"
#include "tests/uit/link/support/shared_memory.hpp"

using namespace uit;
using uit::testing::CheckThrows;

namespace {

constexpr std::size_t payload_bytes = 256;
constexpr std::size_t num_channels = 3;

/// A box with a hostile peer at its putting end.
struct Shared {
  explicit Shared(bool keeps_latest)
      : out(keeps_latest ? FrameBox::Latest() : FrameBox::Every(8)),
        in(keeps_latest ? FrameBox::Latest() : FrameBox::Every(8)),
        memory(in->SharedBytes(payload_bytes)) {
    in->CreateShared(memory.All(), payload_bytes);
    in->ReceiveBy(memory.All(), payload_bytes);
    out->SendBy(memory.All(), payload_bytes);
  }
  /// Sends a frame all of whose bytes are `fill`.
  void Send(std::uint32_t num_bytes, std::uint64_t base, int fill = 1) {
    Frame frame{payload_bytes};
    frame.Header() = {.num_bytes = num_bytes, .base = base};
    std::memset(frame.Payload(), fill, payload_bytes);
    REQUIRE(out->TryPut(frame));
  }
  static OutPort Nowhere() { return OutPort{FrameBox::Latest()}; }

  std::shared_ptr<FrameBox> out;
  std::shared_ptr<FrameBox> in;
  testing::SharedMemory memory;
};

}  // namespace

TEST_CASE("A pool that keeps every message refuses frames of another length or number and continues") {
  const EveryFrame layout{num_channels, sizeof(int)};
  Shared shared{false};
  PooledEveryReceiver receiver{layout, 4, shared.in, Shared::Nowhere(), nullptr};
  const auto round = static_cast<std::uint32_t>(layout.SlotsBytes());
  const auto partial = static_cast<std::uint32_t>(layout.MaxBytes());
  using Claim = std::pair<std::uint32_t, std::uint64_t>;  // bytes, and channels that spoke
  for (const auto& [num_bytes, base] : {Claim{round - 1, 3}, Claim{round + 1, 3}, Claim{partial, 3}, Claim{0, 3},
                                        Claim{round, 2}, Claim{round, 0}, Claim{partial - 1, 1}, Claim{round, 4},
                                        Claim{partial, ~std::uint64_t{0}}}) {
    shared.Send(num_bytes, base);
    CheckThrows([&] { receiver.Pull(); }, "not belong to its exchange");
    for (std::size_t channel = 0; channel < num_channels; ++channel) CHECK(receiver.NumUnread(channel) == 0);
    CHECK_FALSE(receiver.Pull());
  }
  shared.Send(round, 3);
  CHECK(receiver.Pull());
  shared.Send(0, 0);
  CHECK(receiver.Pull());
  for (std::size_t channel = 0; channel < num_channels; ++channel) CHECK(receiver.NumUnread(channel) == 1);
}

TEST_CASE("A pool that keeps the latest message refuses frames of another length and shows the previous one") {
  const LatestFrame layout{num_channels, sizeof(int)};
  Shared shared{true};
  PooledLatestReceiver receiver{layout, shared.in, nullptr};
  const auto uniform = static_cast<std::uint32_t>(layout.SlotsBytes());
  const auto each = static_cast<std::uint32_t>(layout.MaxBytes());
  for (std::size_t channel = 0; channel < num_channels; ++channel) CHECK(receiver.NumUnread(channel) == 0);
  shared.Send(uniform, 5, 1);
  REQUIRE(receiver.Pull());
  REQUIRE(receiver.Take(0) == 5);
  for (const std::uint32_t num_bytes : {0U, uniform - 1, uniform + 1, each - 1, each + 1, 256U}) {
    shared.Send(num_bytes, 9, 2);
    CheckThrows([&] { receiver.Pull(); }, "not belong to its exchange");
    CHECK_FALSE(receiver.Pull());
    CHECK(receiver.NumUnread(0) == 0);
    CHECK(receiver.NumUnread(1) == 5);
    CHECK(LoadBytes<int>({receiver.Slot(0), sizeof(int)}) == 0x01010101);
  }
  shared.Send(uniform, 6, 3);
  CHECK(receiver.Pull());
  CHECK(receiver.Take(0) == 1);
  CHECK(LoadBytes<int>({receiver.Slot(0), sizeof(int)}) == 0x03030303);
}

TEST_CASE("A pool of sums refuses frames of another length and continues") {
  const AccumulateFrame layout{num_channels, sizeof(int)};
  Shared shared{false};
  PooledAccumulateReceiver receiver{layout, 4, &FoldEncoded<int>, shared.in, Shared::Nowhere(), nullptr};
  const auto uniform = static_cast<std::uint32_t>(layout.SlotsBytes());
  const auto each = static_cast<std::uint32_t>(layout.MaxBytes());
  for (const std::uint32_t num_bytes : {1U, uniform - 1, uniform + 1, each - 1, each + 1}) {
    shared.Send(num_bytes, 9);
    CheckThrows([&] { receiver.Pull(); }, "not belong to its exchange");
    for (std::size_t channel = 0; channel < num_channels; ++channel) CHECK(receiver.NumUnread(channel) == 0);
  }
  shared.Send(uniform, 2);
  CHECK(receiver.Pull());
  CHECK(receiver.NumUnread(1) == 2);
}

TEST_CASE("Aggregated exchanges refuse frames that end within a record and continue") {
  const AggregatedOptions options{.num_channels = num_channels,
                                  .message_bytes = sizeof(int),
                                  .payload_bytes = payload_bytes,
                                  .depth = 4,
                                  .num_frames = 8};
  const bool keeps_latest = GENERATE(false, true);
  Shared shared{false};
  std::function<bool()> pull;
  AggregatedEveryReceiver every_receiver{options, shared.in, Shared::Nowhere(), nullptr};
  AggregatedLatestReceiver latest_receiver{options, shared.in, Shared::Nowhere(), nullptr};
  if (keeps_latest) pull = [&] { return latest_receiver.Pull(); };
  else pull = [&] { return every_receiver.Pull(); };
  for (std::uint32_t num_bytes = 1; num_bytes <= payload_bytes; num_bytes += 15) {
    shared.Send(num_bytes, 0, static_cast<int>(num_bytes % 3));
    CheckThrows(pull, "a peer has sent a frame that ");
    CHECK_FALSE(pull());
  }
  shared.Send(0, 0);
  CHECK(pull());
}

TEST_CASE("A sender refuses reports that are too short for its channels") {
  Shared shared{true};
  const auto check = [&](std::uint32_t num_bytes, std::function<void()> read) {
    shared.Send(num_bytes - 1, 0);
    CheckThrows(read, "a report of " + std::to_string(num_bytes - 1) + " bytes, not " + std::to_string(num_bytes));
    shared.Send(num_bytes, 0);
    CHECK_NOTHROW(read());
  };
  SECTION("of a pool of every message") {
    PooledEverySender sender{{num_channels, sizeof(int)}, 4, Shared::Nowhere(), shared.in};
    check(num_channels * 8, [&] { sender.RefreshReport(0); });
  }
  SECTION("of a pool of sums") {
    PooledAccumulateSender sender{{num_channels, sizeof(int)}, 4, &FoldEncoded<int>, Shared::Nowhere(), shared.in};
    check(8, [&] { sender.RefreshReport(0); });
  }
  SECTION("of aggregated messages") {
    const AggregatedOptions options{.num_channels = num_channels, .message_bytes = 4, .payload_bytes = 96};
    AggregatedEverySender sender{options, Shared::Nowhere(), shared.in};
    check(num_channels * 8, [&] { sender.RefreshReport(0); });
  }
}
