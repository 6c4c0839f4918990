#pragma once

#include <cstdint>

#include <netuit/graph/topology.hpp>
#include <netuit/placement/partition_report.hpp>
#include <netuit/placement/placement.hpp>
#include <uit/config.hpp>

namespace netuit {

/// How METIS is asked.
struct MetisOptions {
  /// How much more than its share a worker may carry, in thousandths (METIS' UFACTOR). A synchronous mode
  /// waits for the most loaded.
  unsigned imbalance = 1;
  /// Of METIS' random numbers; its lowest 31 bits count.
  std::uint64_t seed = 1;
  /// Where to say what had to be mended, if anyone wants to know.
  PartitionReport* report = nullptr;
};

/// Places nodes by METIS so that each worker carries the same node weight and little edge weight crosses,
/// between processes first, then between the threads of each.
///
///     const auto placement = netuit::PlaceByMetis(topology, {.processes = 4, .threads = 2});
///
/// Always recursive bisection: at 0.1 % imbalance METIS' k-way method leaves parts empty on small graphs and
/// cut more on those of 2 000 to 20 000 nodes, 4 to 64 parts (64 × 64 torus, 4 parts: 300 links, here 274;
/// 20 000 nodes random geometric, 64 parts: 40 433, here 2 440); on 10⁶ nodes it cut 6 % less. Deterministic
/// in the seed. Throws as CountWorkersFor.
Placement PlaceByMetis(const Topology& topology, Workers workers, const MetisOptions& options = {});

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/placement/metis.ipp>
#endif
