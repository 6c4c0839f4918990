// The memory of a channel's edges within a worker.
#include <cstddef>
#include <cstdint>

#include <netuit/graph/graphs.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node.hpp>
#include <netuit/run/run.hpp>
#include <netuit/run/schedules.hpp>
#include <uit/link/world.hpp>
#include <uit/team/team.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/counted_memory.hpp"

using namespace netuit;

namespace {

/// The bytes that a channel holds on the edges of a torus of 1,024 nodes, after a best-effort run in which each node puts `num_puts`
/// messages into every edge in each update, and reads what is there. Checks that none is lost.
std::size_t BytesOfChannel(std::size_t depth, std::uint64_t num_puts) {
  const uit::Team team{uit::World{}, {.threads = 1}};
  Mesh mesh{team, Torus(32, 32), {.depth = depth}};
  const std::size_t before = uit::testing::num_held_bytes.load();
  const auto channel = mesh.AddChannels<std::uint64_t>();
  auto read = mesh.AddField<std::uint64_t>();
  const RunReport report = mesh.Run(Free{.updates = 4}, [&](Node& node) {
    for (const auto edge : node.In())
      while (channel[edge].TryStep() > 0) ++read[node];
    for (const auto edge : node.Out())
      for (std::uint64_t i = 0; i < num_puts; ++i) channel[edge].TryPut(i);
  });
  const std::size_t held = uit::testing::num_held_bytes.load() - before;
  CHECK(report.Balanced());
  CHECK(report.Tally().put.dropped == 0);
  std::uint64_t num_found = 0;
  mesh.Visit([&](Node& node) {
    num_found += read[node];
    for (const auto edge : node.In()) channel.ForEachUnread(edge, [&](std::uint64_t) { ++num_found; });
  });
  CHECK(num_found == 4 * 4096 * num_puts);
  return held;
}

}  // namespace

TEST_CASE("An edge within a worker costs no depth: it has memory for what has waited") {
  const std::size_t shallow = BytesOfChannel(2, 1);
  CHECK(BytesOfChannel(2, 1) < shallow + 4096);
  CHECK(BytesOfChannel(65'535, 1) < shallow + 4096 * 17);  // 16 bytes an edge, to grow
  // Of two updates at most 40 messages wait, in 64 slots; the fewer slots that a ring had before stay.
  CHECK(BytesOfChannel(65'535, 20) < shallow + 4096 * 2 * 64 * sizeof(std::uint64_t));
}
