#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <netuit/barrier/process_barrier.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/pause.hpp>
#include <uit/link/world.hpp>

namespace netuit::testing {

/// One process's end of a barrier.
struct Station {
  uit::World world;
  uit::Fabric fabric{world};
  ProcessBarrier barrier{world, fabric};

  explicit Station(const uit::World& w) : world(w) { world.Agree({}); }
};

/// Meets that many times; each process brings a different vote each time. Returns the number of wrong results.
inline std::size_t CountFaults(Station& station, std::uint64_t num_rounds) {
  const std::size_t size = station.world.Size();
  const std::size_t rank = station.world.Rank();
  std::size_t num_faults = 0;
  for (std::uint64_t round = 1; round <= num_rounds; ++round) {
    const bool is_mine = round % size == rank;
    const Vote mine{.stop = is_mine ? static_cast<std::uint32_t>(round) : 0,
                      .is_pending = is_mine && round % 2 == 0 ? 1U : 0U,
                      .next = round * 100 + rank};
    const Vote all = station.barrier.ArriveAndWait(mine, uit::After(std::chrono::seconds(20)), uit::NoIdle{});
    num_faults += all.stop != round || all.is_pending != (round % 2 == 0 ? 1U : 0U) || all.next != round * 100 + size - 1;
  }
  return num_faults;
}

}  // namespace netuit::testing
