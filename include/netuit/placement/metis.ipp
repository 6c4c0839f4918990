#pragma once

#include <signal.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <metis.h>

#include <netuit/graph/topology.hpp>
#include <netuit/placement/bisection.hpp>
#include <netuit/placement/metis.hpp>
#include <netuit/placement/partition_graph.hpp>
#include <netuit/placement/placement.hpp>
#include <uit/config.hpp>

namespace netuit {

/// Saves the handlers of SIGTERM and SIGABRT, and restores them on destruction. METIS installs its own while it works, and
/// afterwards leaves handlers that reset themselves at the first signal.
class KeptSignalHandlers {
 public:
  KeptSignalHandlers() {
    for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], nullptr, &before_[i]);
  }
  KeptSignalHandlers(const KeptSignalHandlers&) = delete;
  KeptSignalHandlers& operator=(const KeptSignalHandlers&) = delete;
  ~KeptSignalHandlers() {
    for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &before_[i], nullptr);
  }

 private:
  static constexpr std::array signals{SIGTERM, SIGABRT};
  std::array<struct sigaction, signals.size()> before_{};
};

/// One cut by METIS.
class MetisBisector {
 public:
  /// seed: only its lowest 31 bits are used.
  explicit MetisBisector(std::uint64_t seed) : seed_{static_cast<idx_t>(seed & 0x7FFFFFFFU)} {}

  /// See Bisector. Returns nothing if METIS returns an error.
  std::optional<std::vector<idx_t>> operator()(const PartitionGraph<idx_t>& graph, double share,
                                               double tolerance) const {
    idx_t num_nodes = graph.NumNodes();
    idx_t num_constraints = 1;
    idx_t num_parts = 2;
    idx_t cut = 0;
    std::array<real_t, 2> shares{static_cast<real_t>(share), static_cast<real_t>(1 - share)};
    auto tolerances = static_cast<real_t>(tolerance);
    std::array<idx_t, METIS_NOPTIONS> options{};
    METIS_SetDefaultOptions(options.data());
    options[METIS_OPTION_SEED] = seed_;
    // METIS keeps the best of several cuts. Large graphs get fewer, because each takes long.
    options[METIS_OPTION_NCUTS] = std::clamp<idx_t>((idx_t{1} << 19) / num_nodes, 1, 8);
    std::vector<idx_t> side_of(graph.node_weights.size());
    // METIS' signature lacks const, but METIS does not write to these.
    const auto in = [](const std::vector<idx_t>& values) { return const_cast<idx_t*>(values.data()); };
    const int status = METIS_PartGraphRecursive(&num_nodes, &num_constraints, in(graph.first), in(graph.neighbors),
                                                in(graph.node_weights), nullptr, in(graph.edge_weights), &num_parts,
                                                shares.data(), &tolerances, options.data(), &cut, side_of.data());
    if (status != METIS_OK) return std::nullopt;
    return side_of;
  }

 private:
  idx_t seed_;
};
static_assert(Bisector<MetisBisector, idx_t>);

UIT_DEFINE Placement PlaceByMetis(const Topology& topology, Workers workers, const MetisOptions& options) {
  const KeptSignalHandlers kept;
  RecursiveBisection<idx_t, MetisBisector> bisection{MetisBisector{options.seed}, workers,
                                                     1 + options.imbalance / 1000.0};
  Placement placement = bisection.Place(topology);
  if (options.report != nullptr) *options.report = bisection.Report();
  return placement;
}

}  // namespace netuit
