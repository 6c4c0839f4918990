#include <netuit/graph/topologies.hpp>
#include <netuit/placement/metis.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/support/bytes.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>
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

constexpr uit::Policy newest{.retain = uit::Retain::latest, .consolidate = uit::Consolidate::pooled};
constexpr channel_selection::LeithRule rule{.num_colors = 3, .learning_rate = 0.1};

uit::Team TestTeam() { return uit::Team{MpiTestWorld(), {.threads = MpiTestWorld().Size() == 4 ? 1U : 2U}}; }

unsigned FirstColor(NodeId node, std::uint64_t seed) { return static_cast<unsigned>(Mix(seed, node) % rule.num_colors); }

/// Colours that nodes show to their neighbours: a published field, or one channel along each edge.
class ShownColors {
 public:
  ShownColors(Mesh& mesh, bool by_edge, const Initial<unsigned>& first) {
    if (by_edge) edges_ = mesh.AddChannels<unsigned, newest>({}, first);
    else nodes_ = mesh.AddPublishedField<unsigned>(first);
  }
  unsigned Seen(InEdge edge) const { return nodes_ ? (*nodes_)[edge] : (*edges_)[edge].JumpGet(); }
  void Show(Node& node, unsigned color) const {
    if (nodes_) (*nodes_)[node] = color;
    for (std::size_t i = 0; edges_ && i < node.Out().size(); ++i) (*edges_)[node.Out()[i]].TryPut(color);
  }

 private:
  std::optional<PublishedField<unsigned>> nodes_;
  std::optional<Channels<unsigned, newest>> edges_;
};

/// A mesh that colours its graph.
class Painter {
 public:
  Painter(const Topology& topology, std::uint64_t seed, bool by_edge)
      : mesh(TestTeam(), topology),
        shown_(mesh, by_edge, [seed](NodeId node) { return FirstColor(node, seed); }),
        cells_(mesh.NumLocalNodes(), rule),
        seed_(seed) {
    for (std::size_t node = 0; node < mesh.NumLocalNodes(); ++node) cells_.Set(node, FirstColor(mesh.Id(node), seed));
  }

  RunReport Run(const RunPlan& plan) {
    return mesh.Run(plan, [this](Node& node) {
      const std::size_t index = node.Index();
      bool conflict = false;
      for (const auto edge : node.In()) conflict |= shown_.Seen(edge) == cells_.Color(index);
      cells_.Learn(index, conflict, node.Random());
      shown_.Show(node, cells_.Color(index));
    }, {.seed = seed_});
  }

  /// Returns the colours by node, on rank 0.
  std::vector<unsigned> Colors() const { return GatherByNode(mesh, cells_.Colors()); }

  /// Returns the number of nodes whose inputs show other colours than their sources have, over all ranks. On rank 0.
  std::size_t CountStale() {
    const std::vector<unsigned> colors = Colors();
    const auto written = std::as_bytes(std::span(colors));
    const uit::Bytes bytes = MpiTestWorld().Broadcast({written.begin(), written.end()});
    std::vector<unsigned> all(mesh.NumNodes());
    std::memcpy(all.data(), bytes.data(), bytes.size());
    const auto is_stale = mesh.AddField<std::uint8_t>();
    mesh.Visit([&](Node& node) {
      for (const auto edge : node.In()) is_stale[node] |= shown_.Seen(edge) != all[edge.Source()];
    });
    const std::vector<std::uint8_t> gathered = mesh.Gather(is_stale);
    return std::accumulate(gathered.begin(), gathered.end(), std::size_t{0});
  }

  Mesh mesh;

 private:
  ShownColors shown_;
  Cells<float> cells_;
  std::uint64_t seed_;
};

/// Returns the share of nodes that have a neighbour of their own colour, counted from the gathered colours.
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
  const std::uint64_t num_seeds = is_sanitized || MpiTestWorld().Size() > 1 ? 2 : 10;  // the colours are the same on any layout
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= num_seeds; ++seed) {
    Painter painter{topology, seed, false};
    const RunReport report = painter.Run(EveryUpdate{.updates = 2000}.MakePlan());
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

TEST_CASE("Best effort colours about as well as mode 0") {
  const bool by_edge = GENERATE(false, true);
  const Topology topology = MakeTorus(48, 48);
  for (const AsyncMode mode : {AsyncMode::rolling, AsyncMode::fixed, AsyncMode::no_barrier}) {
    INFO("mode " << static_cast<int>(mode));
    Painter painter{topology, 1, by_edge};
    const RunReport report = painter.Run(ScheduleOf(mode, {.updates = 1500, .span = 2ms, .period = 2ms}));
    const std::vector<unsigned> colors = painter.Colors();
    const std::size_t num_stale = painter.CountStale();
    if (!MpiTestWorld().IsRoot()) continue;
    CHECK(report.Balanced());
    CHECK(report.Tally().put.muted == 0);
    const double share = ShareInConflict(topology, colors);
    WARN("mode " << static_cast<int>(mode) << ": " << Percent(share) << " of the nodes in conflict");
    CHECK(share <= 0.06);
    CHECK(num_stale == 0);  // the end of the run delivers every last colour
  }
}

TEST_CASE("In mode 4 nothing crosses between threads before the end") {
  const bool by_edge = GENERATE(false, true);
  Painter painter{MakeTorus(24, 24), 1, by_edge};
  const bool is_one_place = MpiTestWorld().Size() == 1 && painter.mesh.NumThreads() == 1;
  const RunReport report = painter.Run(Isolated{.updates = 100}.MakePlan());
  if (MpiTestWorld().Size() > 1) CHECK(painter.mesh.GetFabric().NumFramesReceived() > 0);
  if (MpiTestWorld().IsRoot()) {
    const uit::Tally tally = report.Tally();
    CHECK(tally.put.attempted == 0);
    CHECK(tally.put.dropped == 0);
    CHECK((tally.put.muted > 0) == !is_one_place);
    CHECK(tally.get == uit::GetTally{});
    CHECK(report.Balanced());
  }
  // A final exchange shows every last value of a field, so that a reader of the result sees a consistent state.
  const std::size_t num_stale = painter.CountStale();
  if (!by_edge && MpiTestWorld().IsRoot()) CHECK(num_stale == 0);
}

namespace {

constexpr std::uint64_t num_silent_updates = 100;

/// A place where workers of all processes meet.
struct MeetingPlace {
  std::array<std::atomic<std::size_t>, 2> num_here{};

  void Meet(std::size_t which, std::size_t num_workers) {
    ++num_here[which];
    while (num_here[which] < num_workers) std::this_thread::sleep_for(100us);
  }
};

}  // namespace

TEST_CASE("In mode 4 no frame arrives from another worker before the end") {
  const bool by_edge = GENERATE(false, true);
  static constexpr unsigned initial = 7;
  const Topology topology = MakeTorus(12, 12);
  const uit::Team team = TestTeam();
  const Placement placement = PlaceByMetis(topology, {.processes = team.NumProcesses(), .threads = team.NumThreads()});
  const std::size_t num_workers = placement.Shape().Count();
  Mesh mesh{team, topology, {.placement = placement}};
  const ShownColors shown{mesh, by_edge, initial};
  std::vector<NodeId> last_node(num_workers);
  for (NodeId node = 0; node < topology.NumNodes(); ++node) last_node[placement.WorkerOf(node)] = node;

  const SharedPage<MeetingPlace> place{MpiTestWorld()};
  std::atomic<std::uint64_t> num_from_others{0};
  std::atomic<std::uint64_t> num_of_own{0};
  std::uint64_t num_frames = 0;
  const std::uint64_t num_before = mesh.GetFabric().NumFramesReceived();
  const RunReport report = mesh.Run(Isolated{.updates = num_silent_updates}, [&](Node& node) {
    const std::uint32_t worker = placement.WorkerOf(node.Id());
    for (const auto edge : node.In()) {
      if (shown.Seen(edge) != initial) ++(placement.WorkerOf(edge.Source()) == worker ? num_of_own : num_from_others);
    }
    shown.Show(node, static_cast<unsigned>(100 + node.Update()));
    if (node.Id() != last_node[worker] || node.Update() + 1 != num_silent_updates) return;
    place->Meet(0, num_workers);  // from here to the next meeting, no worker uses the fabric
    if (worker % team.NumThreads() == 0) num_frames = mesh.GetFabric().NumFramesReceived() - num_before;
    place->Meet(1, num_workers);
  });
  CHECK(report.stopped_by == StopReason::count);
  CHECK(num_from_others == 0);
  CHECK(num_of_own > 0);
  CHECK(num_frames == 0);
  if (MpiTestWorld().Size() > 1) CHECK(mesh.GetFabric().NumFramesReceived() > num_before);  // at the end of the run
}
