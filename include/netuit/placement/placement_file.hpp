#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>

#include <netuit/graph/topology.hpp>
#include <netuit/placement/placement.hpp>
#include <uit/config.hpp>

namespace netuit {

/// Reads a placement in METIS' .part format, as gpmetis and other programs write it. Line i has the worker of node i, from 0.
/// Worker w is thread w % threads of process w / threads. A worker may have no node.
///
/// Empty lines and comments after '#' are skipped. Throws uit::InputError "name:line: reason" if a worker does not exist, or if
/// the number of lines differs from the number of nodes.
Placement ReadPlacement(std::istream& stream, std::string name, const Topology& topology, Workers workers);

/// ReadPlacement from a file.
Placement PlaceFromFile(const Topology& topology, Workers workers, const std::filesystem::path& path);

/// Writes a placement for PlaceFromFile, in METIS' .part format. The file appears whole or not at all.
/// Throws uit::OutputError if it cannot be written.
void SavePlacement(const Placement& placement, const std::filesystem::path& path);

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/placement/placement_file.ipp>
#endif
