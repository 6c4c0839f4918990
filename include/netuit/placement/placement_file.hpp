#pragma once

#include <cstdint>
#include <filesystem>
#include <istream>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <netuit/file/atomic_file.hpp>
#include <netuit/file/line_cursor.hpp>
#include <netuit/file/line_reader.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/placement/placement.hpp>

namespace netuit {

/// Reads a placement in METIS' .part format, as gpmetis and other programs write it. Line i has the worker of node i, from 0.
/// Worker w is thread w % threads of process w / threads. A worker may have no node.
///
/// Empty lines and comments after '#' are skipped. Throws uit::InputError "name:line: reason" if a worker does not exist, or if
/// the number of lines differs from the number of nodes.
inline Placement ReadPlacement(std::istream& stream, std::string name, const Topology& topology, Workers workers) {
  const std::uint32_t num_workers = CountWorkersFor(topology, workers);
  LineReader reader{stream, std::move(name)};
  std::vector<std::uint32_t> worker_of;
  while (const auto line = reader.Next()) {
    LineCursor cursor{reader, *line};
    if (cursor.IsAtEnd()) continue;
    if (worker_of.size() == topology.NumNodes()) {
      cursor.Fail("more lines than the " + std::to_string(topology.NumNodes()) + " nodes");
    }
    const std::uint64_t worker = cursor.TakeCount();
    cursor.ExpectEnd();
    if (worker >= num_workers) {
      cursor.Fail("node " + topology.Label(static_cast<NodeId>(worker_of.size())) + " is placed on worker " +
                  std::to_string(worker) + ", but there are " + std::to_string(num_workers));
    }
    worker_of.push_back(static_cast<std::uint32_t>(worker));
  }
  if (worker_of.size() < topology.NumNodes()) {
    reader.Fail("the file ends after " + std::to_string(worker_of.size()) + " of " +
                std::to_string(topology.NumNodes()) + " nodes");
  }
  return Placement{workers, std::move(worker_of)};
}

/// ReadPlacement from a file.
inline Placement PlaceFromFile(const Topology& topology, Workers workers, const std::filesystem::path& path) {
  std::ifstream stream = OpenInput(path);
  return ReadPlacement(stream, path.string(), topology, workers);
}

/// Writes a placement for PlaceFromFile, in METIS' .part format. The file appears whole or not at all.
/// Throws uit::OutputError if it cannot be written.
inline void SavePlacement(const Placement& placement, const std::filesystem::path& path) {
  WriteFileAtomically(path, [&](std::ostream& stream) {
    for (NodeId node = 0; node < placement.NumNodes(); ++node) stream << placement.WorkerOf(node) << '\n';
  });
}

}  // namespace netuit
