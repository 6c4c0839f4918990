#include <netuit/barrier/process_barrier.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <netuit/barrier/exact_sum.hpp>
#include <netuit/barrier/ordered_double.hpp>
#include <netuit/barrier/reduced.hpp>
#include <netuit/barrier/vote.hpp>
#include <netuit/barrier/vote_bytes.hpp>

#include "tests/netuit/barrier/station.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/loopback_world.hpp"
#include "tests/support/thrown.hpp"

using namespace netuit;
using namespace std::chrono_literals;
using netuit::testing::CountFaults;
using netuit::testing::Station;
using uit::testing::LoopbackNetwork;

TEST_CASE("Processes agree at a barrier on the largest that any of them brings") {
  const std::size_t size = GENERATE(1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U);
  const std::size_t per_node = GENERATE(0U, 2U, 3U, 8U);
  LoopbackNetwork network{size, per_node};
  std::vector<std::size_t> num_faults(size);
  std::vector<std::uint8_t> is_clean(size);
  network.Together([&](std::size_t rank) {
    Station station{network.World(rank)};
    num_faults[rank] = CountFaults(station, 200);
    is_clean[rank] = station.barrier.Close(uit::After(10s));
  });
  for (std::size_t rank = 0; rank < size; ++rank) {
    CHECK(num_faults[rank] == 0);
    CHECK(is_clean[rank] != 0);
  }
}

TEST_CASE("No thread leaves a barrier before the last has arrived") {
  constexpr std::size_t size = 5;
  LoopbackNetwork network{size, GENERATE(0U, 2U, 5U)};
  std::vector<std::size_t> num_faults(size);
  std::array<std::atomic<std::uint64_t>, size> round_of{};
  network.Together([&](std::size_t rank) {
    Station station{network.World(rank)};
    for (std::uint64_t round = 1; round <= 200; ++round) {
      round_of[rank] = round;
      station.barrier.ArriveAndWait({}, uit::After(20s), uit::NoIdle{});
      for (const auto& other : round_of) num_faults[rank] += other < round;
    }
    station.barrier.Close(uit::After(10s));
  });
  for (const std::size_t count : num_faults) CHECK(count == 0);
}

TEST_CASE("A reason to stop is seen before the barrier is reached, through the workers that wait there") {
  constexpr std::size_t size = 4;
  LoopbackNetwork network{size, GENERATE(0U, 2U, 4U)};
  std::vector<std::uint32_t> seen(size);
  network.Together([&](std::size_t rank) {
    Station station{network.World(rank)};
    if (rank != 2) uit::WaitUntil([&] { return (seen[rank] = station.barrier.EarlyStop()) != 0; }, uit::After(20s));
    const Vote all = station.barrier.ArriveAndWait({.stop = rank == 2 ? 7 : seen[rank]}, uit::After(20s), uit::NoIdle{});
    seen[rank] = all.stop;
    station.barrier.ArriveAndWait({}, uit::After(20s), uit::NoIdle{});
    station.barrier.Close(uit::After(10s));
  });
  CHECK(seen == std::vector<std::uint32_t>(size, 7));
}

TEST_CASE("All processes agree on the largest number of each reduction") {
  const std::size_t size = GENERATE(2U, 3U, 5U, 6U);
  const bool has_first = GENERATE(true, false);
  LoopbackNetwork network{size, GENERATE(0U, 2U, 6U)};
  std::vector<Vote> agreed(size);
  network.Together([&](std::size_t rank) {
    Station station{network.World(rank)};
    const std::uint64_t first = has_first ? netuit::ToOrdered(-1.5 * static_cast<double>(rank)) : 0;
    const Vote mine{.reduced = {.extremes = {first, rank == 1 ? 7U : 0U}}};
    for (int i = 0; i < 3; ++i) agreed[rank] = station.barrier.ArriveAndWait(mine, uit::After(20s), uit::NoIdle{});
    station.barrier.Close(uit::After(10s));
  });
  for (const Vote& vote : agreed) {
    const auto [one, other] = vote.reduced.Words();
    if (has_first) CHECK(netuit::FromOrdered(one) == 0);
    else CHECK(one == 0);
    CHECK(other == 7);
  }
}

TEST_CASE("All processes agree on the same sum, in which each counts once") {
  const std::size_t size = GENERATE(1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 11U, 13U);
  const std::size_t per_node = GENERATE(0U, 2U, 3U);
  CAPTURE(size, per_node);
  LoopbackNetwork network{size, per_node};
  std::vector<std::size_t> num_faults(size);
  constexpr std::size_t num_barriers = 20;
  // What each process brings to each barrier: to one of two sums, to both, or nothing; and an extreme to the other.
  const auto number = [](std::size_t barrier, std::size_t rank) {
    return (rank % 2 == 0 ? 0.1 : -3e9) * static_cast<double>(1 + barrier * 17 + rank);
  };
  network.Together([&](std::size_t rank) {
    Station station{network.World(rank)};
    for (std::size_t barrier = 0; barrier < num_barriers; ++barrier) {
      ExactSum expected[2];
      Vote mine{.reduced = {.extremes = {0, barrier % 4 == 1 ? 5 + rank : 0}}};
      for (std::size_t each = 0; each < size; ++each) {
        for (const std::size_t sum : {0U, 1U}) {
          if ((barrier + each) % 5 == 0 || (barrier % 4) <= sum) continue;
          expected[sum].Add(number(barrier, each));
          if (each == rank) mine.reduced.sums.At(sum).Add(number(barrier, each));
        }
      }
      const auto words = station.barrier.ArriveAndWait(mine, uit::After(20s), uit::NoIdle{}).reduced.Words();
      for (const std::size_t sum : {0U, 1U}) {
        const std::uint64_t extreme = sum == 1 && barrier % 4 == 1 ? 5 + size - 1 : 0;
        num_faults[rank] += words[sum] != (expected[sum].IsEmpty() ? extreme : netuit::ToOrdered(expected[sum].Value()));
      }
    }
    station.barrier.Close(uit::After(10s));
  });
  CHECK(num_faults == std::vector<std::size_t>(size));
}

TEST_CASE("Of a vote's extremes, those up to the last that has a number count") {
  const auto count = [](std::uint64_t one, std::uint64_t other) {
    return Vote{.reduced = {.extremes = {one, other}}}.NumExtremes();
  };
  CHECK(count(0, 0) == 0);
  CHECK(count(1, 0) == 1);
  CHECK(count(0, 1) == 2);
  CHECK(count(1, 1) == 2);
}

TEST_CASE("A vote is read as it was written, and bytes that are no vote are refused") {
  using netuit::detail::LoadVote;
  Vote vote{.stop = 3, .is_pending = 1, .next = 77, .reduced = {.extremes = {5, 0}}};
  ReductionSums further;
  const std::size_t num_sums = GENERATE(0U, 1U, 2U);
  const bool has_further = GENERATE(false, true);
  for (std::size_t i = 0; i < num_sums; ++i) vote.reduced.sums.At(i).Add(0.1 + static_cast<double>(i));
  if (has_further && num_sums == 2) further.At(0).Add(-4e9);
  std::vector<std::byte> bytes(netuit::detail::max_extended_vote_bytes);
  bytes.resize(netuit::detail::StoreVote(vote, has_further ? &further : nullptr, bytes));
  ReductionSums seen_further;
  ReductionSums* const to = has_further ? &seen_further : nullptr;
  const Vote seen = LoadVote(bytes, to);
  CHECK(seen.stop == 3);
  CHECK(seen.is_pending == 1);
  CHECK(seen.next == 77);
  CHECK(seen.reduced.Words() == vote.reduced.Words());
  CHECK(seen_further.Of(0).Value() == further.Of(0).Value());

  const auto is_refused = [&](const std::vector<std::byte>& damaged) {
    ReductionSums ignored;
    return uit::testing::WordsThrownBy([&] { LoadVote(damaged, has_further ? &ignored : nullptr); }).find("is no vote") != std::string::npos;
  };
  for (std::size_t size = 0; size < bytes.size() + 40; ++size) {
    std::vector<std::byte> other = bytes;
    other.resize(size);
    // Without sums, a vote may have fewer extremes.
    const bool is_vote = size == bytes.size() || (num_sums == 0 && (size == 16 || size == 24 || size == 32));
    CHECK(is_refused(other) == !is_vote);
  }
  std::vector<std::byte> other = bytes;
  other[6] = static_cast<std::byte>(3);  // sums that follow
  CHECK(is_refused(other));
  if (num_sums == 0) return;
  for (const int top : {-1, 70, 1 << 30}) {  // the group of its highest places
    other = bytes;
    std::memcpy(&other[32 + 24], &top, sizeof top);
    CHECK(is_refused(other));
  }
}

TEST_CASE("Words of numbers have the order of the numbers") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> ascending{-infinity, -1e300, -2.0, -1e-310, 0.0, 1e-310, 0.5, 2.0, 1e300, infinity};
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    CHECK(netuit::FromOrdered(netuit::ToOrdered(ascending[i])) == ascending[i]);
    CHECK(netuit::ToOrdered(ascending[i]) > 0);
    if (i != 0) CHECK(netuit::ToOrdered(ascending[i - 1]) < netuit::ToOrdered(ascending[i]));
  }
  for (const double nan : {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::quiet_NaN()}) {
    CHECK(netuit::ToOrdered(nan) == netuit::ordered_nan);
    CHECK(netuit::ToOrdered(nan) > netuit::ToOrdered(infinity));
  }
}

TEST_CASE("A process that misses a barrier is lost and named") {
  const std::size_t size = GENERATE(2U, 3U, 4U, 5U);
  const std::size_t per_node = GENERATE(0U, 2U, 4U, 5U);
  const std::size_t silent = GENERATE_COPY(std::size_t{0}, size / 2, size - 1);
  CAPTURE(size, per_node, silent);
  LoopbackNetwork network{size, per_node};
  std::vector<std::string> words(size);
  std::vector<std::optional<std::size_t>> named(size);
  network.Together([&](std::size_t rank) {
    Station station{network.World(rank)};
    if (rank == silent) return;
    try {
      station.barrier.ArriveAndWait({}, uit::After(20ms), uit::NoIdle{});
    } catch (const uit::PeerLost& lost) {
      words[rank] = lost.what();
      named[rank] = lost.Rank();
    }
  });
  const std::size_t num_together = std::max<std::size_t>(per_node, 1);
  const auto node_of = [&](std::size_t rank) { return rank / num_together; };
  const std::size_t num_nodes = node_of(size - 1) + 1;
  for (std::size_t rank = 0; rank < size; ++rank) {
    if (rank == silent) continue;
    CAPTURE(rank);
    const bool speaks = rank % num_together == 0;
    const bool is_alone = num_together == 1 || (silent == size - 1 && silent % num_together == 0);
    // The others wait for a process that waits itself, so they cannot tell which one is silent.
    const bool is_told = num_nodes == 1 || (speaks && (node_of(rank) == node_of(silent) || (num_nodes == 2 && is_alone)));
    CHECK(words[rank].starts_with("no word from rank "));
    CHECK((words[rank].find("for which it waits") == std::string::npos) == is_told);
    CHECK(named[rank] == (is_told ? std::optional{silent} : std::nullopt));
  }
}
