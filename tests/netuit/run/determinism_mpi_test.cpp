#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <netuit/graph/small_world.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/placement/metis.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run.hpp>
#include <string>
#include <vector>

#include "demos/channel_selection/cell.hpp"
#include "tests/netuit/run/chaos.hpp"
#include "tests/netuit/run/policies.hpp"
#include "tests/netuit/run/serial_mesh.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/goal.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/steals.hpp"
#include "tests/uit/core/support/sanitized.hpp"

using namespace netuit;
using netuit::testing::ChannelsOf;
using netuit::testing::Chaos;
using netuit::testing::Kind;
using netuit::testing::MakeOddGraph;
using netuit::testing::Mix;
using netuit::testing::NetworksOf;
using netuit::testing::PeriodsOf;
using netuit::testing::SerialMesh;
using netuit::testing::SerialNode;
using netuit::testing::StealsIf;
using netuit::testing::ValuesOfNodes;
using netuit::testing::pooled;
using netuit::testing::aggregated;
using netuit::testing::newest_pooled;
using netuit::testing::newest_aggregated;
using netuit::testing::sum_pooled;
using uit::testing::is_slow_build;
using uit::testing::IsNightly;
using uit::testing::MpiTestWorld;
using uit::testing::PerCommitOrNight;
using uit::testing::PrintGoal;

namespace {

/// Threads per process to try. With the ranks of the test they make 1x1, 1x2, 1x4, 2x1, 2x2, 3x1, 4x1 and, if it is cheap or
/// at night, 4x2.
std::vector<std::uint32_t> ThreadCounts(bool is_cheap = false) {
  switch (MpiTestWorld().Size()) {
    case 1: return {1, 2, 4};
    case 2: return {1, 2};
    case 4: if (is_cheap || IsNightly()) return {1, 2}; [[fallthrough]];
    default: return {1};
  }
}

struct Layout {
  std::string name;
  Placement placement;

  uit::Team Team() const { return uit::Team{MpiTestWorld(), {.threads = static_cast<std::uint32_t>(placement.Shape().threads)}}; }
};

std::vector<Layout> LayOut(const Topology& topology, std::size_t threads) {
  const Workers workers{.processes = MpiTestWorld().Size(), .threads = threads};
  const std::string shape = std::to_string(workers.processes) + "x" + std::to_string(threads);
  return {{shape + " by METIS", PlaceByMetis(topology, workers)}, {shape + " at random", PlaceRandom(topology, workers, 3)}};
}

/// Reports only whether any node differs.
std::uint64_t HashOf(const std::vector<std::uint64_t>& states) {
  std::uint64_t hash = 0;
  for (const std::uint64_t state : states) hash = Mix(hash, state);
  return hash;
}

// Colouring.

using channel_selection::Cells;

constexpr channel_selection::LeithRule rule{.num_colors = 3, .learning_rate = 0.1};

unsigned FirstColor(std::uint64_t seed, NodeId node) { return static_cast<unsigned>(Mix(seed, node) % rule.num_colors); }

/// Colour and probabilities of a node, bit by bit.
std::uint64_t StateOf(const Cells<float>& cells, std::size_t index) {
  std::uint64_t state = cells.Color(index);
  for (unsigned color = 0; color < rule.num_colors; ++color)
    state = Mix(state, std::bit_cast<std::uint32_t>(cells.Probability(index, color)));
  return state;
}

std::uint64_t ColorSerially(const Topology& topology, std::uint64_t seed, std::uint64_t num_updates) {
  Cells<float> cells{topology.NumNodes(), rule};
  std::vector<unsigned> visible;
  for (NodeId node = 0; node < topology.NumNodes(); ++node) {
    visible.push_back(FirstColor(seed, node));
    cells.Set(node, visible.back());
  }
  for (std::uint64_t update = 0; update < num_updates; ++update) {
    for (NodeId node = 0; node < topology.NumNodes(); ++node) {
      bool conflict = false;
      for (const EdgeId edge : topology.InEdges(node)) conflict |= visible[topology.Source(edge)] == cells.Color(node);
      cells.Learn(node, conflict, NodeRandom{seed, node, update});
    }
    for (NodeId node = 0; node < topology.NumNodes(); ++node) visible[node] = cells.Color(node);
  }
  std::vector<std::uint64_t> states;
  for (NodeId node = 0; node < topology.NumNodes(); ++node) states.push_back(StateOf(cells, node));
  return HashOf(states);
}

std::uint64_t ColorPlaced(const Topology& topology, const Layout& layout, std::uint64_t seed, std::uint64_t num_updates) {
  const uit::Team team = layout.Team();
  Mesh mesh{team, topology, {.placement = layout.placement}};
  const auto color = mesh.AddPublishedField<unsigned>([&](NodeId node) { return FirstColor(seed, node); });
  const auto state = mesh.AddField<std::uint64_t>();
  Cells<float> cells{mesh.NumLocalNodes(), rule};
  mesh.Visit([&](Node& node) { cells.Set(node.Index(), color[node]); });
  const RunReport report = mesh.Run(EveryUpdate{.updates = num_updates}, [&](Node& node) {
    const std::size_t index = node.Index();
    bool conflict = false;
    for (const auto edge : node.In()) conflict |= color[edge] == cells.Color(index);
    cells.Learn(index, conflict, node.Random());
    color[node] = cells.Color(index);
  }, {.seed = seed});
  CHECK(report.ExitCode() == 0);
  mesh.Visit([&](Node& node) { state[node] = StateOf(cells, node.Index()); });
  return HashOf(mesh.Gather(state));
}

}  // namespace

TEST_CASE("Bulk synchronous colouring equals the serial loop for every placement") {
  const std::uint64_t num_updates = is_slow_build ? 100 : 1000;
  const std::uint64_t num_seeds = is_slow_build ? 1 : PerCommitOrNight<std::uint64_t>(2, 20);
  std::size_t num_equal = 0;
  std::size_t num_runs = 0;
  for (const Topology& topology : {MakeTorus(64, 64), MakeSmallWorld(2000, 6, 0.1, 7)}) {
    for (std::uint64_t seed = 1; seed <= num_seeds; ++seed) {
      const std::uint64_t expected = MpiTestWorld().IsRoot() ? ColorSerially(topology, seed, num_updates) : 0;
      for (const std::uint32_t threads : ThreadCounts()) {
        for (const Layout& layout : LayOut(topology, threads)) {
          INFO(layout.name << ", " << topology.NumNodes() << " nodes, seed " << seed);
          const std::uint64_t hash = ColorPlaced(topology, layout, seed, num_updates);
          ++num_runs;
          num_equal += hash == expected;
          CHECK((hash == expected || !MpiTestWorld().IsRoot()));
        }
      }
    }
  }
  if (MpiTestWorld().IsRoot()) WARN(num_equal << " of " << num_runs << " hashes equal the serial loop's");
}

namespace {

// Chaos.

constexpr std::size_t depth = 3;
/// Messages so large that an update fills more frames than may be in flight.
constexpr MeshOptions small_buffers{.depth = depth, .buffer_bytes = 64, .max_message_bytes = 64};

using Kinds = std::vector<Kind>;
using Runs = std::vector<std::uint64_t>;

/// Some runs. Each continues from the end of the previous one. Between them, waiting messages are read.
std::uint64_t RunSerially(const Topology& topology, const Kinds& kinds, const Runs& runs, std::uint64_t seed = 0) {
  SerialMesh mesh{topology, PeriodsOf(kinds), depth};
  const Chaos chaos(mesh, kinds, seed);
  for (std::size_t run = 0; run < runs.size(); ++run) {
    if (run % 2 == 1) mesh.Visit([&](SerialNode& node) { chaos.Look(node); });
    mesh.Run(runs[run], seed + run, [&](SerialNode& node) { chaos.Update(node); });
  }
  return HashOf(mesh.Gather(chaos.state));
}

/// Modes that show exactly the values of the previous update.
constexpr std::array exact_modes{AsyncMode::every_update, AsyncMode::dataflow};

/// Does the same in `mode`, and every second run in the other of the exact modes.
std::uint64_t RunPlaced(const Topology& topology, const Layout& layout, const Kinds& kinds, const Runs& runs, AsyncMode mode,
                        std::uint64_t seed = 0, bool steals = false) {
  const uit::Team team = layout.Team();
  MeshOptions options = small_buffers;
  options.placement = layout.placement;
  Mesh mesh{team, NetworksOf(topology, kinds), options};
  const Chaos chaos(mesh, kinds, seed);
  for (std::size_t run = 0; run < runs.size(); ++run) {
    if (run % 2 == 1) mesh.Visit([&](Node& node) { chaos.Look(node); });
    const AsyncMode next = exact_modes[(run + (mode == exact_modes[0] ? 0U : 1U)) % 2];
    const RunPlan plan = ScheduleOf(next, {.updates = runs[run], .steals = StealsIf(steals)});
    const RunReport report = mesh.Run(plan, [&](Node& node) { chaos.Update(node); }, {.seed = seed + run});
    INFO("run " << run << ": " << report.message);
    CHECK(report.ExitCode() == 0);
    CHECK((report.Balanced() || !MpiTestWorld().IsRoot()));
  }
  return HashOf(mesh.Gather(chaos.state));
}

void CheckAgainstSerial(const Topology& topology, const Kinds& kinds, const Runs& runs) {
  const std::uint64_t expected = MpiTestWorld().IsRoot() ? RunSerially(topology, kinds, runs) : 0;
  for (const std::uint32_t threads : ThreadCounts()) {
    for (const Layout& layout : LayOut(topology, threads)) {
      for (const AsyncMode mode : exact_modes) {
        for (const bool steals : {false, true}) {
          if (steals && threads == 1) continue;
          INFO(layout.name << ", " << topology.NumNodes() << " nodes, mode " << static_cast<int>(mode) << ", steals " << steals);
          CHECK((RunPlaced(topology, layout, kinds, runs, mode, 0, steals) == expected || !MpiTestWorld().IsRoot()));
        }
      }
    }
  }
}

using Word = std::uint64_t;
using Row = std::vector<Word>;

const Kind heard = ValuesOfNodes();
const Kind heard_seldom = ValuesOfNodes(3);
const Kind each_solo = ChannelsOf<Word, uit::every>();
const Kind each_solo_seldom = ChannelsOf<Word, uit::every>(4);
const Kind each_pooled = ChannelsOf<Word, pooled>();
const Kind each_pooled_seldom = ChannelsOf<Word, pooled>(2);
const Kind each_aggregated = ChannelsOf<Word, aggregated>();
const Kind each_aggregated_seldom = ChannelsOf<Word, aggregated>(3);
const Kind each_row = ChannelsOf<Row, aggregated>();
const Kind each_row_solo = ChannelsOf<Row, uit::every>();
const Kind newest_solo = ChannelsOf<Word, uit::latest>();
const Kind newest = ChannelsOf<Word, newest_pooled>();
const Kind newest_seldom = ChannelsOf<Word, newest_pooled>(3);
const Kind newest_words = ChannelsOf<Word, newest_aggregated>();
const Kind newest_row = ChannelsOf<Row, newest_aggregated>();
const Kind newest_row_solo_seldom = ChannelsOf<Row, uit::latest>(2);
const Kind sum_solo = ChannelsOf<Word, uit::summed>();
const Kind sum = ChannelsOf<Word, sum_pooled>();
const Kind sum_seldom = ChannelsOf<Word, sum_pooled>(3);

const Runs one_run{is_slow_build ? 40U : 200U};

}  // namespace

TEST_CASE("The result of modes 0 and 5 does not depend on the placement for any puts and steps") {
  CheckAgainstSerial(MakeSmallWorld(200, 5, 0.2, 1), {heard, each_solo, newest}, one_run);
}

TEST_CASE("The result of modes 0 and 5 does not depend on the placement for unpooled channels that keep every message") {
  CheckAgainstSerial(MakeTorus(8, 8), {each_solo}, one_run);
}

TEST_CASE("The result of modes 0 and 5 does not depend on the placement for pooled channels, or unpooled ones of the newest message") {
  CheckAgainstSerial(MakeTorus(12, 12), {each_pooled, newest_solo, each_aggregated}, one_run);
  // some nodes share a channel with no other worker
  CheckAgainstSerial(MakeRing(12), {each_pooled, newest_solo, each_aggregated}, one_run);
}

TEST_CASE("The state after a seed is one and the same for every layout, launch and MPI") {
  // The results of a serial loop after 40 updates, by seed.
  constexpr std::array<std::uint64_t, 20> expected{
      0x3f59f0f3bd348526U, 0x9196704cfe73f775U, 0x8801e0613ca84c06U, 0xa2e9fccb85f4c323U,
      0x9707afe7e73cc5adU, 0x1963e91a863a2f9fU, 0xf9fadb0ae3834104U, 0x99f1f77adcbc80dbU,
      0x1d9e32e42ceded9eU, 0x480245110bf74493U, 0x92c276bea0b3309eU, 0x690f90a451b70ed8U,
      0x7e367b3ee36420daU, 0x09662b84f29b1a6cU, 0xbcfe1abb03db0fe3U, 0x429256e59dcaf29aU,
      0x3dd5ac3fda89db22U, 0x3e4694786ce87cc0U, 0x7700aaf0d7695fe1U, 0x904714510fb4d3ceU};
  const Topology topology = MakeTorus(8, 8);
  const std::size_t num_seeds = PerCommitOrNight<std::size_t>(3, expected.size());
  std::string layouts;
  std::size_t num_layouts = 0;
  std::size_t num_equal = 0;
  for (const std::uint32_t threads : ThreadCounts(true)) {
    for (const Layout& layout : LayOut(topology, threads)) {
      for (const AsyncMode mode : exact_modes) {
        INFO(layout.name << ", mode " << static_cast<int>(mode));
        for (std::size_t seed = 0; seed < num_seeds; ++seed) {
          const std::uint64_t hash = RunPlaced(topology, layout, {each_solo}, {40}, mode, seed);
          CHECK((hash == expected[seed] || !MpiTestWorld().IsRoot()));
          num_equal += hash == expected[seed];
        }
      }
      ++num_layouts;
      layouts += (layouts.empty() ? "" : ", ") + layout.name;
    }
  }
  if (!MpiTestWorld().IsRoot()) return;
  for (std::size_t seed = 0; seed < num_seeds; ++seed) CHECK(RunSerially(topology, {each_solo}, {40}, seed) == expected[seed]);
  std::array<char, 300> figure{};
  std::snprintf(figure.data(), figure.size(),
                "%zu seeds x %zu layouts (%s) x modes 0 and 5, %s: %zu of %zu are the committed hash of their seed", num_seeds,
                num_layouts, layouts.c_str(), MpiTestWorld().Library().c_str(), num_equal,
                num_seeds * num_layouts * exact_modes.size());
  PrintGoal("R11", figure.data());
}

TEST_CASE("The result of modes 0 and 5 does not depend on the placement for messages of any size") {
  CheckAgainstSerial(MakeTorus(6, 6), {each_row, newest_row, each_row_solo}, one_run);
}

TEST_CASE("The result of modes 0 and 5 does not depend on the placement for aggregated layers of several periods") {
  CheckAgainstSerial(MakeOddGraph(64, 7), {each_aggregated_seldom, newest_words, each_row, newest_row_solo_seldom, heard},
                     {7, 1, 20, 13});
}

TEST_CASE("The result of modes 0 and 5 does not depend on the placement for channels that add up, and may refuse") {
  CheckAgainstSerial(MakeOddGraph(64, 5), {sum_solo, sum, sum_seldom}, {7, 1, 20, 13});
}

TEST_CASE("The result of modes 0 and 5 does not depend on the placement for irregular graphs over several runs") {
  CheckAgainstSerial(MakeOddGraph(64, 5), {heard, each_solo, newest}, {7, 1, 20, 13});
}

TEST_CASE("The result of modes 0 and 5 does not depend on the placement for mixed layers over several runs") {
  CheckAgainstSerial(MakeSmallWorld(60, 4, 0.3, 2), {heard_seldom, each_pooled_seldom, each_solo_seldom, newest_seldom, heard},
                     {1, 2, 3, 4, 5, 30});
}

TEST_CASE("The result of modes 0 and 5 does not depend on the placement for layers without reports") {
  for (const Kind& kind : {heard, heard_seldom, newest, newest_seldom}) {
    CheckAgainstSerial(MakeOddGraph(64, 9), {kind}, {40, 7});
    CheckAgainstSerial(MakeTorus(6, 6), {kind}, {40});
  }
}

TEST_CASE("The result of modes 0 and 5 does not depend on the placement if some workers have no node") {
  const Topology topology = MakeOddGraph(9, 3);
  const Kinds kinds{heard, each_solo, newest};
  const std::uint64_t expected = MpiTestWorld().IsRoot() ? RunSerially(topology, kinds, {10, 10}) : 0;
  for (const std::uint32_t threads : ThreadCounts()) {
    const Workers workers{.processes = MpiTestWorld().Size(), .threads = threads};
    const std::uint32_t last = workers.Count() - 1;
    std::vector<std::uint32_t> worker_of(topology.NumNodes(), last);
    worker_of[2] = worker_of[5] = last / 2;
    const Layout layout{"on two places", Placement{workers, worker_of}};
    for (const AsyncMode mode : exact_modes)
      CHECK((RunPlaced(topology, layout, kinds, {10, 10}, mode) == expected || !MpiTestWorld().IsRoot()));
  }
}

TEST_CASE("A bulk synchronous run owes nothing to a best-effort run before it") {
  const Topology topology = MakeTorus(6, 6);
  const Kinds kinds{heard, each_pooled, each_solo, each_aggregated};
  const std::uint64_t expected = MpiTestWorld().IsRoot() ? RunSerially(topology, kinds, one_run) : 0;
  for (const std::uint32_t threads : ThreadCounts()) {
    for (const Layout& layout : LayOut(topology, threads)) {
      INFO(layout.name);
      const uit::Team team = layout.Team();
      Mesh mesh{team, NetworksOf(topology, kinds), {.placement = layout.placement, .depth = depth}};
      const Chaos chaos(mesh, kinds);
      const auto update = [&](Node& node) { chaos.Update(node); };
      mesh.Run(Free{.updates = 50}, update);
      mesh.Run(Rolling{.updates = 50}, update);
      mesh.Run(Isolated{.updates = 50}, update);
      mesh.Run(EveryUpdate{.updates = Chaos<Mesh>::num_restarts}, [&](Node& node) { chaos.Restart(node); });
      mesh.Run(EveryUpdate{.updates = one_run[0]}, update, {.seed = 0});
      CHECK((HashOf(mesh.Gather(chaos.state)) == expected || !MpiTestWorld().IsRoot()));
    }
  }
}
