#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <uit/conveyor/conveyor.hpp>

#include "counts.hpp"
#include "demos/common/exchange.hpp"
#include "demos/common/places.hpp"

namespace histogram {

/// Each update is an item for the member that owns its word.
inline void CountByConveyor(uit::Conveyor<std::uint64_t>& conveyor, const std::vector<demo::Place>& places) {
  for (const demo::Place& place : places) conveyor.Push(place.owner, place.word);
  conveyor.Finish();
}

/// All processes exchange batches of the same number of updates.
inline void CountByAlltoallv(demo::Exchange<std::uint64_t>& exchange, std::size_t batch, std::span<const demo::Place> places,
                             Counts& counts) {
  for (; !places.empty(); places = places.subspan(std::min(batch, places.size()))) {
    for (const demo::Place& place : places.first(std::min(batch, places.size()))) exchange.Put(place.owner, place.word);
    exchange.Swap();
    for (const std::uint64_t word : exchange.Incoming()) counts.Add(word);
  }
}

}  // namespace histogram
