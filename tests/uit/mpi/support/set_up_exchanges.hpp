#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <uit/link/world.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/thrown.hpp"

namespace uit::testing {

/// Checks the collective functions of a world. Collective.
inline void CheckSetUpExchanges(const World& world) {
  const std::size_t size = world.Size();
  const std::size_t last = size - 1;
  const auto bytes_of = [](std::size_t number, std::size_t count) { return Bytes(count, static_cast<std::byte>(number)); };
  for (const std::size_t max_at_once : {std::size_t{1} << 20, std::size_t{2}, std::size_t{0}}) {
    CAPTURE(max_at_once);
    const std::vector<Bytes> all = world.Gather(bytes_of(world.Rank(), 10 * world.Rank()), max_at_once);
    REQUIRE(all.size() == (world.IsRoot() ? size : 0));
    for (std::size_t rank = 0; rank < all.size(); ++rank) CHECK(all[rank] == bytes_of(rank, 10 * rank));
  }
  const std::vector<Bytes> everywhere = world.AllGather(bytes_of(world.Rank(), world.Rank()));
  const std::vector<std::size_t> ranks = world.AllGatherValue(world.Rank());
  REQUIRE((everywhere.size() == size && ranks.size() == size));
  for (std::size_t rank = 0; rank < size; ++rank) CHECK((everywhere[rank] == bytes_of(rank, rank) && ranks[rank] == rank));
  std::vector<Bytes> parts;
  for (std::size_t rank = 0; rank < size; ++rank) parts.push_back(bytes_of(7 + rank, 100'000 * rank));
  CHECK(world.Scatter(world.IsRoot() ? parts : std::vector<Bytes>{}) == parts[world.Rank()]);
  for (const std::size_t root : {std::size_t{0}, last}) {
    const bool is_root = world.Rank() == root;
    CHECK(world.Broadcast(bytes_of(is_root ? 3 : 4, is_root ? 10 : 20), root) == bytes_of(3, 10));
    CHECK(world.Broadcast(bytes_of(5, is_root ? 0 : 20), root).empty());
  }
  CHECK(world.BroadcastValue(world.Rank() + 5) == 5);
  CHECK(world.Max(world.Rank()) == last);
  CHECK(world.Max(last - world.Rank()) == last);
  CHECK(world.Min(world.Rank() + 2) == 2);
  CHECK(world.Min(size - world.Rank()) == 1);
  std::array<std::uint64_t, 3> values{world.Rank(), 9, last - world.Rank()};
  world.Max(values);
  CHECK(values == std::array<std::uint64_t, 3>{last, 9, last});
  CHECK(WordsThrownBy([&] { world.Agree({}); }).empty());
  CHECK(WordsThrownBy([&] { world.Agree(world.Rank() == last ? "the last complains" : ""); }) == "the last complains");
  CHECK(WordsThrownBy([&] { world.Agree("rank " + std::to_string(world.Rank())); }) == "rank 0");
}

}  // namespace uit::testing
