#pragma once

#include <cstddef>
#include <vector>

#include <netuit/quality/quality.hpp>
#include <uit/config.hpp>
#include <uit/link/world.hpp>

namespace netuit {

/// Describes the other processes of a mesh as seen from this one: which transport reaches each, and whether its clock is the
/// same as this process's.
class PeerTable {
 public:
  PeerTable() = default;
  /// Collective. Throws on every process unless `is_traced` is the same on all.
  PeerTable(const uit::World& world, bool shares_memory, bool is_traced);

  /// Returns the transport that carries messages to a process.
  Transport TransportTo(std::size_t process) const { return transports_[process]; }
  /// Whether times from that process's clock can be compared with times from this one's.
  bool IsSameClock(std::size_t process) const { return is_same_clock_[process]; }

 private:
  /// Returns an identifier of the running kernel, or an empty string. Processes on one kernel share its monotonic clock.
  static std::string KernelName();

  std::size_t rank_ = 0;
  std::vector<Transport> transports_;
  std::vector<bool> is_same_clock_;
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/peer_table.ipp>
#endif
