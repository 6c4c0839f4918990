#pragma once

#include <algorithm>
#include <cstddef>

#include <netuit/mesh/delayed_slots.hpp>
#include <uit/config.hpp>

namespace netuit {

UIT_DEFINE std::size_t DelayedSlots::Peer::MaxBatch() const {
  std::size_t most = 0;
  for (const Batch& batch : batches) most = std::max(most, batch.channels.size());
  return most;
}

}  // namespace netuit
