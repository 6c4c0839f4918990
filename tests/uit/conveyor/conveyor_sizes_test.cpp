// The sizes of conveyors among many members: within the budget, and with room for what is promised.
#include <uit/conveyor/conveyor_sizes.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include <uit/conveyor/blocks.hpp>
#include <uit/conveyor/dealer.hpp>
#include <uit/conveyor/outbox.hpp>
#include <uit/conveyor/own_lane.hpp>
#include <uit/conveyor/span_pieces.hpp>
#include <uit/conveyor/spill.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/exchange/frame_window.hpp>
#include <uit/link/connection.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/link.hpp>
#include <uit/link/shared_memory_link.hpp>
#include <uit/support/error.hpp>
#include <uit/transport/process.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/thrown.hpp"

using namespace uit;
using namespace uit::detail;
using uit::testing::WordsThrownBy;

namespace {

template <std::size_t num_bytes>
using Item = std::array<std::byte, num_bytes>;

/// Lanes to so many members, of which `num_here` are in one process, and each other one in another.
LaneCounts Apart(std::size_t num_here, std::size_t num_members) {
  return {num_here, num_members - num_here, num_members - num_here};
}

/// Checks that buffers and the spill are within the budget and large enough.
void CheckSizes(const ConveyorOptions& options, const ItemBytes& bytes, std::size_t num_members, const LaneCounts& lanes) {
  CAPTURE(bytes.item, bytes.sent, num_members, lanes.num_here, options.budget_bytes);
  const ConveyorSizes sizes = SizeConveyor(options, bytes, num_members, lanes);
  // What a member of another process needs in shared memory. Over MPI, conveyor_memory_mpi_test looks at what is allocated.
  const std::size_t num_frames = Process{}.num_frames;
  const auto box = FrameBox::Every(FrameWindow::BoxDepth(num_frames));
  box->LendFrom(1);
  const LinkOptions link{.num_receives = FabricOptions{}.num_slots + Connection::num_uncredited, .payload_bytes = sizes.frame_bytes};
  const std::size_t frames = lanes.num_elsewhere * (box->SharedFrameBytes(sizes.frame_bytes) + sizes.frame_bytes) +
                             lanes.num_processes * SharedMemoryLink::RingBytes(link);
  const std::size_t queues = (lanes.num_here - 1) * sizes.depth * bytes.slot + OwnLane<std::byte>::NumSlots(sizes.depth_own) * bytes.item;
  const std::size_t blocks = num_members * (sizes.block_items * bytes.item + sizeof(Block<std::byte>));
  const std::size_t lane_blocks = (lanes.num_here + lanes.num_elsewhere) * sizes.lane_block_items * bytes.sent;
  CHECK(frames + queues + blocks + lane_blocks <= sizes.buffers_bytes);
  CHECK(sizes.buffers_bytes + sizes.spill_items * bytes.place <= options.budget_bytes);
  CHECK((sizes.spill_items + 1) * bytes.place > options.budget_bytes / 4);
  CHECK(sizes.frame_bytes > bytes.sent);
  CHECK(sizes.depth >= 1);
  CHECK(sizes.depth_own >= 1);
  CHECK(sizes.block_items >= 1);
  CHECK((sizes.lane_block_items >= 1) == (num_members > options.two_hops_above));
}

/// The same for items of so many bytes, among many members or few, straight or by two hops.
template <std::size_t num_bytes>
void CheckAllSizes(ConveyorOptions options) {
  options.two_hops_above = 4096;
  for (const std::size_t num_members : {1U, 4U, 256U, 1024U, 4096U})
    for (const std::size_t num_here : {1U, 4U, 256U, 1024U})
      if (num_here <= num_members && (num_members <= 1024 || options.budget_bytes >= 256U << 20U))
        CheckSizes(options, bytes_of<Item<num_bytes>>, num_members, Apart(num_here, num_members));
  options.two_hops_above = 0;
  for (const std::size_t root : {1U, 2U, 32U, 64U, 128U})
    for (const std::size_t num_here : {std::size_t{1}, root})
      CheckSizes(options, bytes_of<Item<num_bytes>, Routed<Item<num_bytes>>>, root * root, Apart(num_here, 2 * root - 1));
}

}  // namespace

TEST_CASE("Among 1024 members, the buffers and the spill of each stay within its budget") {
  for (const std::size_t budget : {256U << 20U, 64U << 20U, 1000U << 20U}) {
    for (const std::size_t buffer_bytes : {1449U, 3000U}) CheckAllSizes<8>({.buffer_bytes = buffer_bytes, .budget_bytes = budget});
    CheckAllSizes<1>({.budget_bytes = budget});
    CheckAllSizes<8>({.budget_bytes = budget});
    CheckAllSizes<64>({.budget_bytes = budget});
    CheckAllSizes<500>({.budget_bytes = budget});
  }
  // Members elsewhere do not take room from each other: frames are as large as the budget allows.
  const ConveyorSizes direct = SizeConveyor({.two_hops_above = 1024}, bytes_of<std::uint64_t>, 1024, {1, 1023, 1023});
  CHECK(direct.frame_bytes == 2048);
  // With two hops there are few of them, so frames are almost as large as they may be.
  const ConveyorSizes two_hops = SizeConveyor({}, bytes_of<std::uint64_t, Routed<std::uint64_t>>, 1024, {1, 62, 62});
  CHECK(two_hops.frame_bytes == ConveyorOptions{}.buffer_bytes / 2);
}

TEST_CASE("A budget that is too small is refused with the least that is enough") {
  const auto check = [](std::size_t two_hops_above, const ItemBytes& bytes, const LaneCounts& lanes) {
    const auto words = [&](std::size_t budget) {
      const ConveyorOptions options{.budget_bytes = budget, .two_hops_above = two_hops_above};
      return WordsThrownBy([&] { SizeConveyor(options, bytes, 1024, lanes); });
    };
    const std::string refusal = words(1000);
    const std::string before = "a conveyor between 1024 members needs a budget of at least ";
    REQUIRE(refusal.starts_with(before));
    const std::size_t least = std::stoull(refusal.substr(before.size()));
    CHECK(words(least).empty());
    CHECK(words(least - 4).starts_with(before));  // the spill takes a quarter, rounded down
  };
  check(1024, bytes_of<std::uint64_t>, {4, 1020, 255});
  check(1023, bytes_of<std::uint64_t, Routed<std::uint64_t>>, {4, 59, 59});
}

TEST_CASE("Options beyond every machine are refused or have the largest useful size") {
  const auto size = [](const ConveyorOptions& options, const ItemBytes& bytes) { return SizeConveyor(options, bytes, 2, {1, 1, 1}); };
  const ItemBytes bytes = bytes_of<std::uint64_t>;
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  CHECK_THROWS_WITH(size({.spill_items = most}, bytes), "no memory has room for a spill of " + std::to_string(most) + " items");
  CHECK(size({.num_between_looks = most}, bytes).depth_own == size({}, bytes).depth);
  CHECK(size({.num_between_looks = most / 2 + 1}, bytes).depth_own == size({}, bytes).depth);
  CHECK(size({.num_between_looks = 8}, bytes).depth_own == 16);
  CHECK(size({.buffer_bytes = 16U << 20U, .budget_bytes = std::size_t{2} << 30U}, bytes).depth == Process::max_depth);
  CHECK(size({.buffer_bytes = most, .budget_bytes = 1U << 20U}, bytes).buffers_bytes <= 1U << 20U);
}

TEST_CASE("Among 1024 members, the longest item of spans has room in half of the spill, and on arrival") {
  for (const std::size_t budget : {256U << 20U, 64U << 20U, 1000U << 20U}) {
    for (const std::size_t num_members : {1U, 2U, 4U, 256U, 1024U, 4096U}) {
      CAPTURE(budget, num_members);
      const SpanConveyorOptions options = SizeSpans({.conveyor = {.budget_bytes = budget, .two_hops_above = 4096}}, num_members);
      CHECK(2 * num_members * options.max_item_bytes + options.conveyor.budget_bytes == budget);
      CHECK(options.max_item_bytes >= 1000);
      const ConveyorSizes sizes = SizeConveyor(options.conveyor, bytes_of<Piece>, num_members, {1, num_members - 1, num_members - 1});
      CHECK(WordsThrownBy([&] { CheckSpill(options, sizes.spill_items); }).empty());
    }
  }
}

TEST_CASE("An item that says to be longer than the longest is refused, also if another has come before") {
  constexpr std::size_t most = 150;
  ArrivingItem item;
  const auto head = [](std::size_t num_bytes) { return Piece{.head = static_cast<std::uint32_t>(2 * num_bytes)}; };
  CHECK(WordsThrownBy([&] { item.Add(head(most + 1), most); }).starts_with("an item of 151 bytes has arrived"));
  CHECK(item.NumBytes() == 0);
  CHECK_FALSE(item.Add(head(100), most));
  CHECK(item.Add(head(most + 1), most));  // the second piece of two, whose head says nothing
  CHECK(item.Bytes().size() == 100);
  CHECK_FALSE(WordsThrownBy([&] { item.Add(head(std::size_t{1} << 30), most); }).empty());
  CHECK(item.NumBytes() <= most);
  CHECK_FALSE(item.Add(head(most), most));
  CHECK_FALSE(item.Add({}, most));
  CHECK(item.Add({}, most));
  CHECK(item.Bytes().size() == most);
}
