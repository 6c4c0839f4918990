// The memory of calls: once its buffers have been used, a Finish allocates no more for many calls than for none.
#include <netuit/calls/calls.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>

#include <netuit/calls/combine.hpp>
#include <netuit/calls/fetch.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/mesh.hpp>
#include <uit/conveyor/tasks.hpp>

#include "tests/netuit/calls/scattered.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/counted_memory.hpp"
#include "tests/support/mpi_world.hpp"

using namespace netuit;
using netuit::testing::ForEachTeam;
using netuit::testing::Scattered;
using uit::testing::MpiTestWorld;
using uit::testing::num_allocations;

namespace {

/// Returns how much this process allocates in `work`. Collective.
std::size_t NumAllocations(const std::function<void()>& work) {
  MpiTestWorld().Agree("");
  const std::size_t before = num_allocations;
  work();
  return num_allocations - before;
}

/// Repeats `work` until five rounds in a row have allocated no more than `limit` on any process: some buffers are first needed when
/// another worker is late. Returns whether there are such. Collective.
bool BecomesQuiet(std::size_t limit, const std::function<void()>& work) {
  int num_quiet = 0;
  for (int round = 0; round < 500 && num_quiet < 5; ++round) {
    const auto everywhere = MpiTestWorld().AllGatherValue(NumAllocations(work));
    num_quiet = *std::max_element(everywhere.begin(), everywhere.end()) <= limit ? num_quiet + 1 : 0;
  }
  return num_quiet == 5;
}

}  // namespace

TEST_CASE("Once buffers have been used, a mesh allocates nothing for calls, combined calls and fetches") {
  const Topology graph = MakeTorus(8, 8);
  ForEachTeam([&](const uit::Team& team) {
    Mesh mesh{team, graph, Scattered(team, graph)};
    auto sum = mesh.AddField<std::uint64_t>();
    auto read = AddRead(mesh, sum);
    auto give = mesh.AddCall<std::uint64_t>([&](Node& node, std::uint64_t value) { sum[node] += value; });
    auto add = mesh.AddCall<std::uint64_t>([&](Node& node, std::uint64_t value) { sum[node] += value; },
                                           uit::Combine<std::plus<>>{.table_bytes = 1024});
    auto copy = mesh.AddCall<NodeId>([&](Node node, NodeId from) -> uit::Task { sum[node] += co_await read(from); });
    std::size_t for_none = 0;
    for (int i = 0; i < 5; ++i) for_none = NumAllocations([&] { mesh.Finish([](Node&) {}); });
    for_none = static_cast<std::size_t>(team.GetWorld().Max(for_none));  // so that all processes stop after the same trial
    CAPTURE(for_none);
    CHECK(BecomesQuiet(for_none, [&] {
      mesh.Finish([&](Node& node) {
        for (NodeId i = 0; i < 64; ++i) {
          give((node.Id() + i) % 64, 1);
          add((node.Id() + i) % 64, 1);
          copy((node.Id() + i) % 64, i);
        }
      });
    }));
    CHECK(BecomesQuiet(for_none, [&] {
      mesh.Finish([&](Node node) -> uit::Task {
        for (NodeId i = 0; i < 32; ++i) sum[node] += co_await read((node.Id() + i) % 64);
      });
    }));
  });
}
