#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace uit::mpi {

/// Keeps buffers until the process ends, because MPI may still use them: their request never completed. Any thread.
inline void Keep(std::shared_ptr<const void> buffers) {
  static std::mutex mutex;
  static auto* const kept = new std::vector<std::shared_ptr<const void>>;  // never destroyed
  const std::lock_guard lock{mutex};
  kept->push_back(std::move(buffers));
}

}  // namespace uit::mpi
