#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
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
#include <netuit/placement/placement_file.hpp>
#include <uit/config.hpp>

namespace netuit {

UIT_DEFINE Placement ReadPlacement(std::istream& stream, std::string name, const Topology& topology, Workers workers) {
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

UIT_DEFINE Placement PlaceFromFile(const Topology& topology, Workers workers, const std::filesystem::path& path) {
  std::ifstream stream = OpenInput(path);
  return ReadPlacement(stream, path.string(), topology, workers);
}

UIT_DEFINE void SavePlacement(const Placement& placement, const std::filesystem::path& path) {
  WriteFileAtomically(path, [&](std::ostream& stream) {
    for (NodeId node = 0; node < placement.NumNodes(); ++node) stream << placement.WorkerOf(node) << '\n';
  });
}

}  // namespace netuit
