// The sizes of conveyors among many members: within the budget, and with room for what is promised.
#include <uit/conveyor/conveyor_sizes.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include <uit/conveyor/blocks.hpp>
#include <uit/conveyor/span_pieces.hpp>
#include <uit/conveyor/spill.hpp>
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

/// Checks the sizes of a conveyor of items of so many bytes between `num_members` members, of which a process has `num_here`.
template <std::size_t num_bytes>
void CheckSizes(std::size_t num_members, std::size_t num_here, const ConveyorOptions& options) {
  CAPTURE(num_bytes, num_members, num_here, options.budget_bytes);
  constexpr std::size_t slot_bytes = sizeof(RingSlot<Item<num_bytes>>);
  constexpr std::size_t place_bytes = Spill<Item<num_bytes>>::place_bytes;
  const ConveyorSizes sizes = SizeConveyor(options, num_bytes, slot_bytes, place_bytes, num_here, num_members - num_here);
  const std::size_t frames = 2 * Process{}.num_frames * sizes.frame_bytes * (num_members - num_here);
  const std::size_t queues = (num_here - 1) * sizes.depth * slot_bytes + sizes.depth_own * slot_bytes;
  const std::size_t blocks = num_members * sizes.block_items * num_bytes;
  CHECK(frames + queues + blocks <= sizes.buffers_bytes);
  CHECK(sizes.buffers_bytes + sizes.spill_items * place_bytes <= options.budget_bytes);
  CHECK((sizes.spill_items + 1) * place_bytes > options.budget_bytes / 4);
  CHECK(sizes.frame_bytes > num_bytes);
  CHECK(sizes.depth >= 1);
  CHECK(sizes.depth_own >= 1);
  CHECK(sizes.block_items >= 1);
}

template <std::size_t num_bytes>
void CheckAllSizes(const ConveyorOptions& options) {
  for (const std::size_t num_members : {1U, 4U, 256U, 1024U, 4096U})
    for (const std::size_t num_here : {1U, 4U, 256U, 1024U})
      if (num_here <= num_members) CheckSizes<num_bytes>(num_members, num_here, options);
}

}  // namespace

TEST_CASE("Among 1024 members, the buffers and the spill of each stay within its budget") {
  for (const std::size_t budget : {256U << 20U, 64U << 20U, 1000U << 20U}) {
    CheckAllSizes<1>({.budget_bytes = budget});
    CheckAllSizes<8>({.budget_bytes = budget});
    CheckAllSizes<64>({.budget_bytes = budget});
    CheckAllSizes<500>({.budget_bytes = budget});
  }
  // Members elsewhere do not take room from each other: frames are as large as the budget allows.
  const ConveyorSizes sizes = SizeConveyor({}, 8, 16, 13, 1, 1023);
  CHECK(sizes.frame_bytes == 8192);
}

TEST_CASE("A budget that is too small is refused with the least that is enough") {
  const auto words = [](std::size_t budget) {
    return WordsThrownBy([&] { SizeConveyor({.budget_bytes = budget}, 8, 16, 13, 4, 1020); });
  };
  const std::string refusal = words(1000);
  const std::string before = "a conveyor between 1024 members needs a budget of at least ";
  REQUIRE(refusal.starts_with(before));
  const std::size_t least = std::stoull(refusal.substr(before.size()));
  CHECK(words(least).empty());
  CHECK(words(least - 4).starts_with(before));  // the spill takes a quarter, rounded down
}

TEST_CASE("Among 1024 members, the longest item of spans has room in half of the spill, and on arrival") {
  for (const std::size_t budget : {256U << 20U, 64U << 20U, 1000U << 20U}) {
    for (const std::size_t num_members : {1U, 2U, 4U, 256U, 1024U, 4096U}) {
      CAPTURE(budget, num_members);
      const SpanConveyorOptions options = SizeSpans({.conveyor = {.budget_bytes = budget}}, num_members);
      CHECK(2 * num_members * options.max_item_bytes + options.conveyor.budget_bytes == budget);
      CHECK(options.max_item_bytes >= 1000);
      constexpr std::size_t place_bytes = Spill<Piece>::place_bytes;
      const ConveyorSizes sizes =
          SizeConveyor(options.conveyor, sizeof(Piece), sizeof(RingSlot<Piece>), place_bytes, 1, num_members - 1);
      CHECK(WordsThrownBy([&] { CheckSpill(options, sizes.spill_items); }).empty());
    }
  }
}
