#include <netuit/netuit.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "demos/channel_selection/cell.hpp"
#include "tests/netuit/run/chaos.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/shared_page.hpp"
#include "tests/uit/core/support/sanitized.hpp"

using namespace netuit;
using namespace std::chrono_literals;
using channel_selection::Cells;
using netuit::testing::Mix;
using uit::testing::is_sanitized;
using uit::testing::MpiTestWorld;
using uit::testing::SharedPage;

namespace {

struct Color : Multicast<unsigned> {};
struct ColorByEdge
    : Unicast<unsigned, uit::Policy{.retain = uit::Retain::latest, .consolidate = uit::Consolidate::pooled}> {};

constexpr channel_selection::LeithRule rule{.num_colors = 3, .learning_rate = 0.1};

Placement PlaceOnAll(const Topology& topology) {
  const std::size_t threads = MpiTestWorld().Size() == 4 ? 1 : 2;
  return PlaceByMetis(topology, {.processes = MpiTestWorld().Size(), .threads = threads});
}

unsigned Heard(unsigned value) { return value; }
unsigned Heard(auto& outlet) { return outlet.JumpGet(); }

/// A mesh that colours its graph.
template <Layer L>
class Painter {
 public:
  Painter(const Topology& topology, std::uint64_t seed)
      : mesh(topology, PlaceOnAll(topology), MpiTestWorld()), cells_(mesh.NumLocalNodes(), rule), seed_(seed) {
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

  TaggedMesh<L> mesh;

 private:
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

TEMPLATE_TEST_CASE("In mode 4 nothing crosses between threads before the end", "", Color,
                   ColorByEdge) {
  const Topology topology = MakeTorus(24, 24);
  Painter<TestType> painter{topology, 1};
  const bool is_one_place = MpiTestWorld().Size() == 1 && painter.mesh.NumThreads() == 1;
  const RunReport report = painter.Run({.mode = AsyncMode::no_communication, .num_updates = 100});
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

namespace {

constexpr std::uint64_t num_silent_updates = 100;

/// Where all workers meet, wherever they are.
struct MeetingPlace {
  std::array<std::atomic<std::size_t>, 2> num_here{};

  void Meet(std::size_t which, std::size_t num_workers) {
    ++num_here[which];
    while (num_here[which] < num_workers) std::this_thread::sleep_for(100us);
  }
};

}  // namespace

TEMPLATE_TEST_CASE("In mode 4 no frame arrives from another worker before the end", "", Color, ColorByEdge) {
  using L = TestType;
  static constexpr unsigned initial = 7;
  const Topology topology = MakeTorus(12, 12);
  const Placement placement = PlaceOnAll(topology);
  const std::size_t num_workers = placement.Shape().Count();
  TaggedMesh<L> mesh{topology, placement, MpiTestWorld()};
  mesh.template Initialize<L>([](NodeId) { return initial; });
  std::vector<NodeId> last_node(num_workers);
  for (NodeId node = 0; node < topology.NumNodes(); ++node) last_node[placement.WorkerOf(node)] = node;

  const SharedPage<MeetingPlace> place{MpiTestWorld()};
  std::atomic<std::uint64_t> num_from_others{0};
  std::atomic<std::uint64_t> num_of_own{0};
  std::uint64_t num_frames = 0;
  const std::uint64_t num_before = mesh.GetFabric().NumFramesReceived();
  const RunReport report = Run(mesh, {.mode = AsyncMode::no_communication, .num_updates = num_silent_updates}, [&](auto& node) {
    const std::uint32_t worker = placement.WorkerOf(node.Id());
    std::size_t input = 0;
    for (auto&& in : node.template In<L>()) {
      const NodeId source = topology.Source(topology.InEdges(node.Id())[input++]);
      if (const unsigned heard = Heard(in); heard != initial && heard != 0)
        ++(placement.WorkerOf(source) == worker ? num_of_own : num_from_others);
    }
    const auto value = static_cast<unsigned>(100 + node.Update());
    if constexpr (MulticastLayer<L>) {
      node.template Out<L>().TryPut(value);
    } else {
      for (auto&& inlet : node.template Out<L>()) inlet.TryPut(value);
    }
    if (node.Id() != last_node[worker] || node.Update() + 1 != num_silent_updates) return;
    place->Meet(0, num_workers);  // from here to the next meeting nobody is at the fabric
    if (worker % placement.Shape().threads == 0) num_frames = mesh.GetFabric().NumFramesReceived() - num_before;
    place->Meet(1, num_workers);
  });
  CHECK(report.stopped_by == StopReason::count);
  CHECK(num_from_others == 0);
  CHECK(num_of_own > 0);
  CHECK(num_frames == 0);
  if (MpiTestWorld().Size() > 1) CHECK(mesh.GetFabric().NumFramesReceived() > num_before);  // at the end
}
