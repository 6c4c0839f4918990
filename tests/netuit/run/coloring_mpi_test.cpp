#include <netuit/netuit.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "demos/channel_selection/cell.hpp"
#include "tests/netuit/run/chaos.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/uit/core/support/sanitized.hpp"

using namespace netuit;
using namespace std::chrono_literals;
using channel_selection::Cells;
using netuit::testing::Mix;
using uit::testing::is_sanitized;
using uit::testing::MpiTestWorld;

namespace {

struct Color : Multicast<unsigned> {};
struct ColorByEdge
    : Unicast<unsigned, uit::Policy{.retain = uit::Retain::latest, .consolidate = uit::Consolidate::pooled}> {};

constexpr channel_selection::LeithRule rule{.num_colors = 3, .learning_rate = 0.1};

Placement Place(const Topology& topology) {
  const std::size_t threads = MpiTestWorld().Size() == 4 ? 1 : 2;
  return PlaceByMetis(topology, {.processes = MpiTestWorld().Size(), .threads = threads});
}

/// A mesh that colours its graph.
template <Layer L>
class Painter {
 public:
  Painter(const Topology& topology, std::uint64_t seed)
      : mesh(topology, Place(topology), MpiTestWorld()), cells_(mesh.NumLocalNodes(), rule), seed_(seed) {
    const auto first = [seed](NodeId node) { return static_cast<unsigned>(Mix(seed, node) % rule.num_colors); };
    mesh.template Initialize<L>(first);
    for (std::size_t node = 0; node < mesh.NumLocalNodes(); ++node) cells_.Set(node, first(mesh.Id(node)));
  }

  RunReport Run(RunOptions options) {
    options.seed = seed_;
    return netuit::Run(mesh, options, [this](auto& node) {
      const std::size_t index = node.Index();
      bool conflict = false;
      for (auto&& in : node.template In<L>()) conflict |= Heard(in) == cells_.Color(index);
      cells_.Learn(index, conflict, node.Random());
      if constexpr (MulticastLayer<L>) {
        node.template Out<L>().TryPut(cells_.Color(index));
      } else {
        for (auto&& inlet : node.template Out<L>()) inlet.TryPut(cells_.Color(index));
      }
      if (on_update) on_update(node.Update());
    });
  }

  /// On rank 0, by node.
  std::vector<unsigned> Colors() const {
    const std::vector<unsigned> colors = cells_.Colors();
    return mesh.Gather(std::span<const unsigned>(colors));
  }

  /// Nodes whose inputs show other colours than their sources have. On rank 0, over all.
  std::size_t CountStale(const Topology& topology) {
    const std::vector<unsigned> colors = Colors();
    const auto written = std::as_bytes(std::span(colors));
    uit::Bytes bytes(written.begin(), written.end());
    bytes = MpiTestWorld().Broadcast(std::move(bytes));
    std::vector<unsigned> all(topology.NumNodes());
    std::memcpy(all.data(), bytes.data(), bytes.size());
    std::vector<std::uint8_t> is_stale(mesh.NumLocalNodes());
    netuit::Run(mesh, {.mode = AsyncMode::no_communication, .num_updates = 1}, [&](auto& node) {
      std::size_t input = 0;
      for (auto&& in : node.template In<L>())
        is_stale[node.Index()] |= Heard(in) != all[topology.Source(topology.InEdges(node.Id())[input++])];
    });
    const auto gathered = mesh.Gather(std::span<const std::uint8_t>(is_stale));
    return std::accumulate(gathered.begin(), gathered.end(), std::size_t{0});
  }

  Mesh<L> mesh;
  std::function<void(std::uint64_t)> on_update;

 private:
  static unsigned Heard(unsigned value) { return value; }
  static unsigned Heard(auto& outlet) { return outlet.JumpGet(); }

  Cells<float> cells_;
  std::uint64_t seed_;
};

/// Share of the nodes that have a neighbour of their own colour, recounted from the gathered colours.
double ShareInConflict(const Topology& topology, const std::vector<unsigned>& colors) {
  std::size_t count = 0;
  for (NodeId node = 0; node < topology.NumNodes(); ++node) {
    bool conflict = false;
    for (const NodeId other : topology.OutNeighbors(node)) conflict |= colors[other] == colors[node];
    count += conflict;
  }
  return static_cast<double>(count) / topology.NumNodes();
}

std::string Percent(double share) { return std::to_string(100 * share) + " %"; }

}  // namespace

TEST_CASE("2000 bulk synchronous updates of a 64x64 torus leave 3 % of the nodes in conflict at most") {
  const Topology topology = MakeTorus(64, 64);
  const std::uint64_t num_seeds = is_sanitized ? 2 : 10;
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= num_seeds; ++seed) {
    Painter<Color> painter{topology, seed};
    const RunReport report = painter.Run({.mode = AsyncMode::every_update, .num_updates = 2000});
    const std::vector<unsigned> colors = painter.Colors();
    if (!MpiTestWorld().IsRoot()) continue;
    CHECK(report.Balanced());
    sum += ShareInConflict(topology, colors);
  }
  if (!MpiTestWorld().IsRoot()) return;
  const double mean = sum / static_cast<double>(num_seeds);
  WARN("mode 0: " << Percent(mean) << " of the nodes in conflict, the mean of " << num_seeds);
  CHECK(mean <= 0.03);
}

TEMPLATE_TEST_CASE("Best effort colours about as well", "", Color, ColorByEdge) {
  const Topology topology = MakeTorus(48, 48);
  for (const AsyncMode mode : {AsyncMode::rolling, AsyncMode::fixed, AsyncMode::no_barrier}) {
    INFO("mode " << static_cast<int>(mode));
    Painter<TestType> painter{topology, 1};
    const RunReport report = painter.Run({.mode = mode, .num_updates = 1500, .rolling_span = 2ms, .fixed_period = 2ms});
    const std::vector<unsigned> colors = painter.Colors();
    const std::size_t num_stale = painter.CountStale(topology);
    if (!MpiTestWorld().IsRoot()) continue;
    CHECK(report.Balanced());
    CHECK(report.Tally().put.muted == 0);
    const double share = ShareInConflict(topology, colors);
    WARN("mode " << static_cast<int>(mode) << ": " << Percent(share) << " of the nodes in conflict");
    CHECK(share <= 0.06);
    CHECK(num_stale == 0);  // the drain brings everybody's last colour to all
  }
}

TEMPLATE_TEST_CASE("Without communication nothing is put, sent or pulled across threads before the end", "", Color,
                   ColorByEdge) {
  const Topology topology = MakeTorus(24, 24);
  Painter<TestType> painter{topology, 1};
  const bool is_one_place = MpiTestWorld().Size() == 1 && painter.mesh.NumThreads() == 1;
  // Frames are counted where no other thread may be moving them.
  std::uint64_t num_received_in_run = 0;
  if (painter.mesh.NumThreads() == 1) {
    const std::uint64_t num_before = painter.mesh.GetFabric().NumFramesReceived();
    painter.on_update = [&, num_before](std::uint64_t) {
      num_received_in_run = painter.mesh.GetFabric().NumFramesReceived() - num_before;
    };
  }
  const RunReport report = painter.Run({.mode = AsyncMode::no_communication, .num_updates = 100});
  painter.on_update = nullptr;
  CHECK(num_received_in_run == 0);
  if (MpiTestWorld().Size() > 1) CHECK(painter.mesh.GetFabric().NumFramesReceived() > 0);
  if (MpiTestWorld().IsRoot()) {
    const uit::Tally tally = report.Tally();
    CHECK(tally.put.attempted == 0);
    CHECK(tally.put.dropped == 0);
    CHECK((tally.put.muted > 0) == !is_one_place);
    CHECK(tally.get == uit::GetTally{});
    CHECK(report.Balanced());
  }
  // Values of nodes are exchanged once, so that whoever looks at the result sees it whole.
  const std::size_t num_stale = painter.CountStale(topology);
  if (MulticastLayer<TestType> && MpiTestWorld().IsRoot()) CHECK(num_stale == 0);
}
