// The memory of a graph in parts: no process needs room for the whole graph, nor for the owners of all nodes.
#include <netuit/mesh/graph_in_parts.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include <netuit/calls/calls.hpp>
#include <netuit/file/csr_file.hpp>
#include <netuit/graph/uniform.hpp>
#include <netuit/mesh/mesh.hpp>
#include <uit/link/world.hpp>
#include <uit/team/team.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/counted_memory.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/shared_folder.hpp"

using namespace netuit;
using netuit::testing::Folder;
using uit::testing::LargestAllocation;
using uit::testing::most_held_bytes;
using uit::testing::MpiTestWorld;
using uit::testing::num_held_bytes;

namespace {

constexpr NodeId num_nodes = 60'000;
constexpr std::uint64_t num_links = 60'000;

/// What this process needs for some work.
struct Need {
  std::size_t most = 0;     // bytes that it holds at a time, beyond those that it holds before
  std::size_t largest = 0;  // allocation
};
Need NeedOf(const std::function<void()>& work) {
  const std::size_t before = num_held_bytes;
  most_held_bytes = before;
  const LargestAllocation largest;
  work();
  return {most_held_bytes - before, largest.NumBytes()};
}

/// Compares what a process needs for its part with what it needs for the whole graph, as a team of its own.
void CheckParts(const GraphInParts& graph) {
  const uit::Team alone{uit::World{}, {.threads = 1}};
  const uit::Team team{MpiTestWorld(), {.threads = 1}};
  const Need whole = NeedOf([&] { Mesh{alone, graph}; });
  MpiTestWorld().Agree("");
  const Need part = NeedOf([&] { Mesh{team, graph}; });
  CAPTURE(whole.most, part.most, whole.largest, part.largest);
  CHECK(whole.most > 8'000'000);
  CHECK(part.most < whole.most * 5 / 4 / MpiTestWorld().Size());
  CHECK(part.largest < whole.largest * 7 / 4 / MpiTestWorld().Size());  // arrays that grow have room for more
}

}  // namespace

TEST_CASE("A process that draws its part of a graph never needs memory for the whole") {
  CheckParts(UniformInParts(num_nodes, num_links, 1));
}

TEST_CASE("A process that reads its part of a graph never needs memory for the whole") {
  const Folder folder;
  const std::string path = folder.Path() + "/graph.csr";
  if (MpiTestWorld().IsRoot()) {
    std::filesystem::create_directories(folder.Path());
    WriteCsr(path, MakeUniform(num_nodes, num_links, 1));
  }
  MpiTestWorld().Agree("");
  CheckParts(ReadInParts(path));
}

TEST_CASE("Calls of a mesh whose workers have blocks of nodes need no memory for the owners of nodes") {
  const uit::Team team{MpiTestWorld(), {.threads = 2}};
  Mesh mesh{team, UniformInParts(num_nodes, num_links, 1)};
  auto owner = mesh.AddField<std::uint32_t>();
  mesh.Visit([&](Node& node) { owner[node] = node.Worker() + 1; });
  std::size_t num_wrong = 0;
  const std::size_t needed = NeedOf([&] {
    auto take = mesh.AddCall<NodeId>([&](Node& node, NodeId id) {
      if (node.Id() == id && owner[node] == node.Worker() + 1) owner[node] = 0;
    });
    mesh.Finish([&](Node& node) { take((node.Id() + num_nodes / 2) % num_nodes, (node.Id() + num_nodes / 2) % num_nodes); });
  }).most;
  for (const std::uint32_t left : mesh.Gather(owner)) num_wrong += left;
  CHECK(num_wrong == 0);
  const std::size_t of_buffers = NeedOf([&] {
    Mesh small{team, UniformInParts(100, 100, 1)};
    auto take = small.AddCall<NodeId>([](Node&, NodeId) {});
    small.Finish([&](Node& node) {
      for (NodeId i = 0; i < num_nodes / 100; ++i) take((node.Id() + 50) % 100, 0);
    });
  }).most;
  CAPTURE(needed, of_buffers);
  // Of the edges, 4 bytes each, and of the nodes less than the 8 bytes that their owners would take.
  CHECK(needed < of_buffers + num_nodes + 9 * mesh.NumEdges() / (2 * team.NumProcesses()));
}
