// Values that a worker sends to another: how they are counted, and frames that do not fit their layer or worker.
#include <netuit/mesh/frame_note.hpp>
#include <netuit/mesh/value_exchange.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>

#include <netuit/mesh/delayed_exchange.hpp>
#include <netuit/mesh/delayed_slots.hpp>
#include <netuit/mesh/field_memory.hpp>
#include <netuit/mesh/node_counts.hpp>
#include <netuit/mesh/status_board.hpp>
#include <uit/exchange/exchange.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/exchange/pooled/latest_frame.hpp>
#include <uit/policy.hpp>
#include <uit/support/type_hash.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/out_port.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/loopback_world.hpp"
#include "tests/support/thrown.hpp"
#include "tests/uit/link/support/shared_memory.hpp"

using namespace netuit;
using uit::testing::CheckThrows;

namespace {

uit::Frame Filled(std::uint32_t num_bytes, std::uint64_t base, int fill) {
  uit::Frame frame{256};
  frame.Header() = {.num_bytes = num_bytes, .base = base};
  std::memset(frame.Payload(), fill, 256);
  return frame;
}

}  // namespace

static_assert(NearestWithLowerHalf(7, 5) == 7 && NearestWithLowerHalf(5, 7) == 5);
static_assert(NearestWithLowerHalf(1, (std::uint64_t{3} << 32U) - 1) == (std::uint64_t{3} << 32U) + 1);  // beyond the lower half
static_assert(NearestWithLowerHalf(0xFFFFFFFF, std::uint64_t{3} << 32U) == (std::uint64_t{3} << 32U) - 1);

TEST_CASE("Values in a frame of another length are refused and the previous ones are shown") {
  ValueReceiver receiver;
  receiver.first_slot = 1;
  receiver.layout = {.num_channels = 3, .slot_bytes = 4, .note_bytes = sizeof(FrameNote)};
  receiver.box = uit::FrameBox::Latest();
  std::array<std::uint32_t, 5> values{9, 9, 9, 9, 9};
  auto* const bytes = reinterpret_cast<std::byte*>(values.data());
  uit::Frame frame = Filled(28, 4, 1);
  receiver.box->TryPut(frame);
  REQUIRE(receiver.Pull(bytes, true));
  const auto before = values;
  CHECK(before == std::array<std::uint32_t, 5>{9, 0x01010101, 0x01010101, 0x01010101, 9});
  CHECK(receiver.num_effective == 0x0101'0101'0101'0101);
  for (const std::uint32_t num_bytes : {0U, 8U, 12U, 27U, 29U, 36U, 51U, 53U, 200U}) {
    frame = Filled(num_bytes, 5, 2);
    receiver.box->TryPut(frame);
    CheckThrows([&] { receiver.Pull(bytes, true); }, "not belong to its exchange");
    CHECK_FALSE(receiver.Pull(bytes, true));
    CHECK(values == before);
    CHECK(receiver.gets.stepped == 3);
    CHECK(receiver.num_effective == 0x0101'0101'0101'0101);
  }
  frame = Filled(52, 5, 3);
  receiver.box->TryPut(frame);
  CHECK(receiver.Pull(bytes, true));
  CHECK(values[3] == 0x03030303);
}

TEST_CASE("Values that newer ones replace before they arrive count as preempted, and as nothing else") {
  const bool is_uniform = GENERATE(true, false);  // whether all nodes have published as often
  const bool will_be_read = GENERATE(true, false);
  constexpr std::uint64_t num_nodes = 3;
  const uit::LatestFrame layout{.num_channels = num_nodes, .slot_bytes = 4, .note_bytes = sizeof(FrameNote)};
  const auto box = uit::FrameBox::Latest();
  std::array<std::uint32_t, num_nodes> nodes{0, 1, 2}, own{}, ghosts{};
  ValueSender sender{.nodes = nodes, .layout = layout, .port = uit::OutPort{box}};
  ValueReceiver receiver;
  receiver.layout = layout;
  receiver.box = box;
  NodeCounts puts;
  const auto publish = [&](std::uint64_t update) {
    puts.AddOneEach();
    if (!is_uniform) puts.Deviate(1, -1, num_nodes);  // this node keeps silent
    const auto* const values = reinterpret_cast<const std::byte*>(own.data());
    sender.Send({.pack = PackSlotsOf<std::uint32_t>, .values = values, .puts = puts}, update, false);
  };
  publish(1);
  publish(2);
  CHECK(receiver.Pull(reinterpret_cast<std::byte*>(ghosts.data()), will_be_read));
  const std::uint64_t num_published = is_uniform ? 3 : 2;  // by an update
  CHECK(receiver.num_preempted == num_published);
  CHECK(receiver.gets.stepped == (will_be_read ? num_published : 0));
  CHECK(receiver.gets.unread == (will_be_read ? 0 : num_published));
  CHECK(receiver.gets.skipped == 0);
  CHECK(receiver.gets.folded == 0);
  CHECK_FALSE(receiver.Pull(reinterpret_cast<std::byte*>(ghosts.data()), will_be_read));
  publish(3);
  CHECK(receiver.Pull(reinterpret_cast<std::byte*>(ghosts.data()), will_be_read));
  CHECK(receiver.num_preempted == num_published);
  CHECK(receiver.gets.stepped + receiver.gets.unread == 2 * num_published);
}

TEST_CASE("Values are packed where the receiver reads them, between threads and between processes of a host") {
  const bool is_shared = GENERATE(false, true);
  constexpr std::size_t num_nodes = 64;
  const uit::LatestFrame layout{.num_channels = num_nodes, .slot_bytes = sizeof(double), .note_bytes = sizeof(FrameNote)};
  const auto stepping = uit::FrameBox::Latest();
  const auto putting = is_shared ? uit::FrameBox::Latest() : stepping;
  uit::testing::SharedMemory memory{stepping->SharedBytes(layout.MaxBytes())};
  if (is_shared) {
    stepping->LendFrom(1);
    stepping->CreateShared(memory.All(), layout.MaxBytes());
    stepping->ReceiveBy(memory.All(), layout.MaxBytes());
    putting->SendBy(memory.All(), layout.MaxBytes());
  }
  static const std::byte* packed = nullptr;
  const PackSlots pack = [](const std::byte* values, std::size_t first, std::span<const std::uint32_t> slots, std::byte* to) {
    packed = to;
    PackSlotsOf<double>(values, first, slots, to);
  };
  std::array<std::uint32_t, num_nodes> nodes{};
  std::iota(nodes.begin(), nodes.end(), 0U);
  ValueSender sender{.nodes = nodes, .layout = layout, .port = uit::OutPort{putting}};
  ValueReceiver receiver;
  receiver.layout = layout;
  receiver.box = stepping;
  std::array<double, num_nodes> own{}, ghosts{};
  NodeCounts puts;
  for (std::uint64_t update = 1; update < 200; ++update) {
    own.fill(static_cast<double>(update));
    puts.AddOneEach();
    if (update % 3 == 0) puts.Deviate(static_cast<std::uint32_t>(update % num_nodes), -1, num_nodes);  // counts differ from now on
    sender.Send({.pack = pack, .values = reinterpret_cast<const std::byte*>(own.data()), .puts = puts}, update, false);
    if (update % 5 == 0) continue;  // replaced by the next
    CHECK(receiver.NewestArrived() == update);
    CHECK(stepping->View().payload == packed);
    CHECK(receiver.PullSeen(reinterpret_cast<std::byte*>(ghosts.data()), true));
    CHECK(ghosts == own);
  }
}

TEST_CASE("A batch of another length or update is refused and the previous values are shown") {
  std::array<std::uint32_t, 4> values{9, 9, 9, 9};
  auto* const bytes = reinterpret_cast<std::byte*>(values.data());
  const FieldMemory memory{.own = bytes, .shown = bytes, .slot_bytes = 4, .pack = PackSlotsOf<std::uint32_t>};
  DelayedSlots slots{.needs = {{{.source = 0, .batch = 0, .back = 1}}}, .first = 2, .origins = {0, 1}};
  slots.sources.push_back({.worker = 1, .lag = 1, .longest = 1, .batches = {{.channels = {0, 1}, .first = 2}}});
  ValueReceiver account;
  account.layout.num_channels = 2;
  DelayedExchange exchange{memory, slots, [&](std::uint32_t) -> ValueReceiver& { return account; }};
  DelayedExchange::Receiver& receiver = exchange.Receivers().front();
  receiver.awaited = uit::FrameBox::Every(4);
  receiver.awaited_reports.emplace(100, uit::OutPort{});
  constexpr std::uint64_t first_stamp = 70;
  exchange.Begin(first_stamp, false);
  const auto arrive = [&](std::uint32_t num_bytes, std::uint64_t update, int fill) {
    uit::Frame frame = Filled(num_bytes, update + 1, fill);
    frame.Header().update = first_stamp + update;
    REQUIRE(receiver.awaited->TryPut(frame));
  };
  CHECK(exchange.TryTakeFor(0, 0));  // the first update needs nothing
  CHECK_FALSE(exchange.TryTakeFor(0, 1));
  for (const auto& [num_bytes, update] : {std::pair{7U, 0U}, {9U, 0U}, {8U, 1U}, {200U, 0U}}) {
    arrive(num_bytes, update, 2);
    CheckThrows([&] { exchange.TryTakeFor(0, 1); }, "not belong to its exchange");
    CHECK(values == std::array<std::uint32_t, 4>{9, 9, 9, 9});
    CHECK(account.gets.stepped == 0);
  }
  arrive(8, 0, 3);
  CHECK(exchange.TryTakeFor(0, 1));
  CHECK(values == std::array<std::uint32_t, 4>{9, 9, 0x03030303, 0x03030303});
  CHECK(account.gets.stepped == 2);
}

TEST_CASE("A status of another length is refused and the previous one is shown") {
  uit::testing::LoopbackNetwork network{2, 2};
  uit::Fabric here{network.World(0)};
  uit::Fabric there{network.World(1)};
  StatusBoard board{here, 1};
  const uit::ExchangeSpec spec{.key = {.layer = 0xFFFF'FFFF, .source = 1, .destination = 0},
                               .type = uit::TypeHash<WorkerStatus>(),
                               .frame_bytes = sizeof(WorkerStatus),
                               .slot_bytes = sizeof(WorkerStatus),
                               .retain = static_cast<std::uint32_t>(uit::Retain::latest)};
  uit::OutPort port = there.AddOutgoing(0, 0, spec, uit::FrameBox::Latest());
  network.Together([&](std::size_t rank) { (rank == 0 ? here : there).Connect(); });
  const auto send = [&](std::uint64_t num_updates, std::uint32_t num_bytes) {
    const WorkerStatus status{.worker = {1, 0}, .num_updates = num_updates};
    uit::Frame frame{sizeof status};
    frame.Header().num_bytes = num_bytes;
    std::memcpy(frame.Payload(), &status, sizeof status);
    REQUIRE(port.TryDepart(frame));
  };
  send(3, sizeof(WorkerStatus));
  REQUIRE(board.Look()[1].num_updates == 3);
  send(4, sizeof(WorkerStatus) - 1);
  CheckThrows([&] { board.Look(); }, "a status of");
  CHECK(board.Look()[1].num_updates == 3);
  network.Together([&](std::size_t rank) { (rank == 0 ? here : there).Close(); });
}
