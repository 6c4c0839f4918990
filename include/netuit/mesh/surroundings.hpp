#pragma once

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include <netuit/quality/quality.hpp>
#include <uit/support/error.hpp>
#include <uit/link/world.hpp>

namespace netuit {

/// Describes the other processes of a mesh as seen from this one: which transport reaches each, and whether its clock is the
/// same as this process's.
class Surroundings {
 public:
  Surroundings() = default;
  /// Collective. Throws on every process unless `is_traced` is the same on all.
  Surroundings(const uit::World& world, bool shares_memory, bool is_traced) : rank_(world.Rank()) {
    const std::string card = (is_traced ? "1" : "0") + KernelName();
    const std::vector<uit::Bytes> cards = world.AllGather(std::as_bytes(std::span{card}));
    bool agrees = true;
    for (std::size_t process = 0; process < cards.size(); ++process) {
      const std::string theirs(reinterpret_cast<const char*>(cards[process].data()), cards[process].size());
      agrees &= !theirs.empty() && theirs[0] == card[0];
      is_same_clock_.push_back(process == rank_ || (card.size() > 1 && theirs.substr(std::min<std::size_t>(theirs.size(), 1)) == card.substr(1)));
    }
    world.Agree(agrees ? "" : "MeshOptions::is_traced is not the same on every process");
    transports_.assign(world.Size(), Transport::mpi);
    for (const std::size_t process : world.HostRanks()) {
      if (shares_memory) transports_[process] = Transport::shared_memory;
    }
    transports_[rank_] = Transport::thread;
  }

  /// Returns the transport that carries messages to a process.
  Transport TransportTo(std::size_t process) const { return transports_[process]; }
  /// Whether times from that process's clock can be compared with times from this one's.
  bool IsSameClock(std::size_t process) const { return is_same_clock_[process]; }

 private:
  /// Returns an identifier of the running kernel, or an empty string. Processes on one kernel share its monotonic clock.
  static std::string KernelName() {
    std::string name;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> name;
    return name;
  }

  std::size_t rank_ = 0;
  std::vector<Transport> transports_;
  std::vector<bool> is_same_clock_;
};

}  // namespace netuit
