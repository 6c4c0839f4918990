#pragma once

#include <string>

#include <netuit/graph/topology.hpp>

namespace netuit::testing {

/// Records a run whose layers have the names of those of replay_trouble_mpi_test, Heard and Each, and differ from them in the
/// period of Each alone. Collective.
void RecordOtherLayers(const Topology& topology, const std::string& folder);

}  // namespace netuit::testing
