#include <netuit/netuit.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "demos/channel_selection/cell.hpp"
#include "demos/channel_selection/serial.hpp"
#include "tests/netuit/run/chaos.hpp"
#include "tests/netuit/run/serial_mesh.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/goal.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/uit/core/support/sanitized.hpp"

using namespace netuit;
using netuit::testing::MakeOddGraph;
using netuit::testing::MessageOf;
using netuit::testing::Mix;
using netuit::testing::SerialMesh;
using netuit::testing::UpdateChaotically;
using uit::testing::is_sanitized;
using uit::testing::IsNightly;
using uit::testing::MpiTestWorld;
using uit::testing::PerCommitOrNight;
using uit::testing::PrintGoal;

namespace {

/// Threads per process to try: with the ranks that the test is run on they make 1x1, 1x2, 1x4, 2x1, 2x2, 3x1, 4x1 and, where
/// it is cheap or at night, 4x2.
std::vector<std::size_t> ThreadCounts(bool is_cheap = false) {
  switch (MpiTestWorld().Size()) {
    case 1: return {1, 2, 4};
    case 2: return {1, 2};
    case 4: if (is_cheap || IsNightly()) return {1, 2}; [[fallthrough]];
    default: return {1};
  }
}

struct NamedPlacement {
  std::string name;
  Placement placement;
};

std::vector<NamedPlacement> PlaceSomehow(const Topology& topology, std::size_t threads) {
  const Workers workers{.processes = MpiTestWorld().Size(), .threads = threads};
  const std::string shape = std::to_string(workers.processes) + "x" + std::to_string(threads);
  return {{shape + " by METIS", PlaceByMetis(topology, workers)}, {shape + " at random", PlaceRandom(topology, workers, 3)}};
}

/// Which nodes differ is of no interest here; that any does, is.
std::uint64_t HashOf(const std::vector<std::uint64_t>& states) {
  std::uint64_t hash = 0;
  for (const std::uint64_t state : states) hash = Mix(hash, state);
  return hash;
}

// Colouring.

struct Color : Multicast<unsigned> {};
using channel_selection::Cells;

constexpr channel_selection::LeithRule rule{.num_colors = 3, .learning_rate = 0.1};

unsigned FirstColor(std::uint64_t seed, NodeId node) { return static_cast<unsigned>(Mix(seed, node) % rule.num_colors); }

/// Colour and probabilities of a node, to the last bit.
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

std::uint64_t ColorPlaced(const Topology& topology, const Placement& placement, std::uint64_t seed,
                          std::uint64_t num_updates) {
  TaggedMesh<Color> mesh{topology, placement, MpiTestWorld()};
  Cells<float> cells{mesh.NumLocalNodes(), rule};
  mesh.Initialize<Color>([&](NodeId node) { return FirstColor(seed, node); });
  for (std::size_t node = 0; node < mesh.NumLocalNodes(); ++node) cells.Set(node, FirstColor(seed, mesh.Id(node)));
  const RunReport report =
      Run(mesh, {.mode = AsyncMode::every_update, .num_updates = num_updates, .seed = seed}, [&](auto& node) {
        const std::size_t index = node.Index();
        bool conflict = false;
        for (const unsigned neighbor : node.template In<Color>()) conflict |= neighbor == cells.Color(index);
        cells.Learn(index, conflict, node.Random());
        node.template Out<Color>().TryPut(cells.Color(index));
      });
  CHECK(report.ExitCode() == 0);
  std::vector<std::uint64_t> states;
  for (std::size_t node = 0; node < mesh.NumLocalNodes(); ++node) states.push_back(StateOf(cells, node));
  return HashOf(mesh.Gather(std::span<const std::uint64_t>(states)));
}

}  // namespace

TEST_CASE("Bulk synchronous colouring equals the serial loop for every placement") {
  const std::uint64_t num_updates = is_sanitized ? 100 : 1000;
  const std::uint64_t num_seeds = is_sanitized ? 1 : PerCommitOrNight<std::uint64_t>(2, 20);
  std::size_t num_equal = 0;
  std::size_t num_runs = 0;
  for (const Topology& topology : {MakeTorus(64, 64), MakeSmallWorld(2000, 6, 0.1, 7)}) {
    for (std::uint64_t seed = 1; seed <= num_seeds; ++seed) {
      const std::uint64_t expected = MpiTestWorld().IsRoot() ? ColorSerially(topology, seed, num_updates) : 0;
      for (const std::size_t threads : ThreadCounts()) {
        for (const auto& [name, placement] : PlaceSomehow(topology, threads)) {
          INFO(name << ", " << topology.NumNodes() << " nodes, seed " << seed);
          const std::uint64_t hash = ColorPlaced(topology, placement, seed, num_updates);
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
/// So that an update fills many frames, more than may be under way.
constexpr MeshOptions small_buffers{.depth = depth, .buffer_bytes = 64, .max_message_bytes = 64};

template <Layer... Ls>
std::uint64_t RunSerially(const Topology& topology, const std::vector<std::uint64_t>& runs, std::uint64_t seed = 0) {
  SerialMesh<Ls...> mesh{topology, depth};
  (mesh.template Initialize<Ls>([&](NodeId node) { return MessageOf<typename Ls::Message>(Mix(1 + seed, node)); }), ...);
  std::vector<std::uint64_t> states(topology.NumNodes());
  for (std::size_t run = 0; run < runs.size(); ++run) {
    mesh.Run(seed + run, runs[run], [&](auto& node) { states[node.Id()] = UpdateChaotically<Ls...>(node, states[node.Id()]); });
  }
  return HashOf(states);
}

template <Layer... Ls>
std::uint64_t RunPlaced(const Topology& topology, const Placement& placement, const std::vector<std::uint64_t>& runs,
                        std::uint64_t seed = 0) {
  TaggedMesh<Ls...> mesh{topology, placement, MpiTestWorld(), small_buffers};
  (mesh.template Initialize<Ls>([&](NodeId node) { return MessageOf<typename Ls::Message>(Mix(1 + seed, node)); }), ...);
  std::vector<std::uint64_t> states(mesh.NumLocalNodes());
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const RunReport report =
        Run(mesh, {.mode = AsyncMode::every_update, .num_updates = runs[run], .seed = seed + run}, [&](auto& node) {
          states[node.Index()] = UpdateChaotically<Ls...>(node, states[node.Index()]);
        });
    CHECK(report.ExitCode() == 0);
    CHECK((report.Balanced() || !MpiTestWorld().IsRoot()));
  }
  return HashOf(mesh.Gather(std::span<const std::uint64_t>(states)));
}

template <Layer... Ls>
void CheckAgainstSerial(const Topology& topology, const std::vector<std::uint64_t>& runs) {
  const std::uint64_t expected = MpiTestWorld().IsRoot() ? RunSerially<Ls...>(topology, runs) : 0;
  for (const std::size_t threads : ThreadCounts()) {
    for (const auto& [name, placement] : PlaceSomehow(topology, threads)) {
      INFO(name << ", " << topology.NumNodes() << " nodes");
      CHECK((RunPlaced<Ls...>(topology, placement, runs) == expected || !MpiTestWorld().IsRoot()));
    }
  }
}

using Word = std::uint64_t;
using uit::Consolidate;
using uit::Policy;
using uit::Retain;

struct Heard : Multicast<Word> {};
struct HeardSeldom : Multicast<Word, LayerOptions{.period = 3}> {};
struct EachSolo : Unicast<Word> {};
struct EachPooled : Unicast<Word, Policy{.consolidate = Consolidate::pooled}> {};
struct EachSoloSeldom : Unicast<Word, Policy{}, LayerOptions{.period = 4}> {};
struct EachPooledSeldom : Unicast<Word, Policy{.consolidate = Consolidate::pooled}, LayerOptions{.period = 2}> {};
struct EachAggregated : Unicast<Word, Policy{.consolidate = Consolidate::aggregated}> {};
struct EachAggregatedSeldom : Unicast<Word, Policy{.consolidate = Consolidate::aggregated}, LayerOptions{.period = 3}> {};
struct EachRow : Unicast<std::vector<Word>, Policy{.consolidate = Consolidate::aggregated}> {};
struct EachRowSolo : Unicast<std::vector<Word>> {};
struct NewestAggregated : Unicast<Word, Policy{.retain = Retain::latest, .consolidate = Consolidate::aggregated}> {};
struct NewestRow : Unicast<std::vector<Word>, Policy{.retain = Retain::latest, .consolidate = Consolidate::aggregated}> {};
struct NewestRowSoloSeldom
    : Unicast<std::vector<Word>, Policy{.retain = Retain::latest}, LayerOptions{.period = 2}> {};
struct NewestSolo : Unicast<Word, Policy{.retain = Retain::latest}> {};
struct NewestPooled : Unicast<Word, Policy{.retain = Retain::latest, .consolidate = Consolidate::pooled}> {};
struct NewestPooledSeldom
    : Unicast<Word, Policy{.retain = Retain::latest, .consolidate = Consolidate::pooled}, LayerOptions{.period = 3}> {};

struct SumSolo : Unicast<Word, Policy{.retain = Retain::accumulate}> {};
struct SumPooled : Unicast<Word, Policy{.retain = Retain::accumulate, .consolidate = Consolidate::pooled}> {};
struct SumPooledSeldom
    : Unicast<Word, Policy{.retain = Retain::accumulate, .consolidate = Consolidate::pooled}, LayerOptions{.period = 3}> {};

const std::vector<std::uint64_t> one_run{is_sanitized ? 40U : 200U};

}  // namespace

// Each mesh type takes seconds to compile: as few as there are things to tell apart.

TEST_CASE("The result of mode 0 does not depend on the placement for any puts and steps") {
  CheckAgainstSerial<Heard, EachSolo, NewestPooled>(MakeSmallWorld(200, 5, 0.2, 1), one_run);
}

TEST_CASE("Nor does it with a conduit per edge that keeps every message in frames of its own") {
  CheckAgainstSerial<EachSolo>(MakeTorus(8, 8), one_run);
}

TEST_CASE("Nor with conduits that share frames, or keep the newest message in frames of their own") {
  CheckAgainstSerial<EachPooled, NewestSolo, EachAggregated>(MakeTorus(12, 12), one_run);
  CheckAgainstSerial<EachPooled, NewestSolo, EachAggregated>(MakeRing(12), one_run);  // some share them with nobody
}

TEST_CASE("The state after a seed is one and the same for every layout, launch and MPI") {
  // What a serial loop comes to after 40 updates, by seed.
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
  for (const std::size_t threads : ThreadCounts(true)) {
    for (const auto& [name, placement] : PlaceSomehow(topology, threads)) {
      INFO(name);
      for (std::size_t seed = 0; seed < num_seeds; ++seed) {
        const std::uint64_t hash = RunPlaced<EachSolo>(topology, placement, {40}, seed);
        CHECK((hash == expected[seed] || !MpiTestWorld().IsRoot()));
        num_equal += hash == expected[seed];
      }
      ++num_layouts;
      layouts += (layouts.empty() ? "" : ", ") + name;
    }
  }
  if (!MpiTestWorld().IsRoot()) return;
  for (std::size_t seed = 0; seed < num_seeds; ++seed) CHECK(RunSerially<EachSolo>(topology, {40}, seed) == expected[seed]);
  std::array<char, 300> figure{};
  std::snprintf(figure.data(), figure.size(), "%zu seeds x %zu layouts (%s), %s: %zu of %zu are the committed hash of their seed",
                num_seeds, num_layouts, layouts.c_str(), MpiTestWorld().Library().c_str(), num_equal, num_seeds * num_layouts);
  PrintGoal("R11", figure.data());
}

TEST_CASE("Nor with messages of any size, in frames shared or their own") {
  CheckAgainstSerial<EachRow, NewestRow, EachRowSolo>(MakeTorus(6, 6), one_run);
}

TEST_CASE("Nor with aggregated layers of several periods at once, over several runs") {
  CheckAgainstSerial<EachAggregatedSeldom, NewestAggregated, EachRow, NewestRowSoloSeldom, Heard>(MakeOddGraph(64, 7),
                                                                                             {7, 1, 20, 13});
}

TEST_CASE("Nor with conduits that add up, some of which refuse what has no room") {
  CheckAgainstSerial<SumSolo, SumPooled, SumPooledSeldom>(MakeOddGraph(64, 5), {7, 1, 20, 13});
}

TEST_CASE("The result of mode 0 does not depend on the placement for irregular graphs over several runs") {
  CheckAgainstSerial<Heard, EachSolo, NewestPooled>(MakeOddGraph(64, 5), {7, 1, 20, 13});
}

TEST_CASE("The result of mode 0 does not depend on the placement for mixed layers over several runs") {
  CheckAgainstSerial<HeardSeldom, EachPooledSeldom, EachSoloSeldom, NewestPooledSeldom, Heard>(MakeSmallWorld(60, 4, 0.3, 2),
                                                                                              {1, 2, 3, 4, 5, 30});
}

TEST_CASE("Nor where some places have no node, and the others have few") {
  const Topology topology = MakeOddGraph(9, 3);
  const std::vector<std::uint64_t> runs{10, 10};
  const std::uint64_t expected = MpiTestWorld().IsRoot() ? RunSerially<Heard, EachSolo, NewestPooled>(topology, runs) : 0;
  for (const std::size_t threads : ThreadCounts()) {
    const Workers workers{.processes = MpiTestWorld().Size(), .threads = threads};
    const std::uint32_t last = workers.Count() - 1;
    std::vector<std::uint32_t> worker_of(topology.NumNodes(), last);
    worker_of[2] = worker_of[5] = last / 2;
    CHECK((RunPlaced<Heard, EachSolo, NewestPooled>(topology, Placement{workers, worker_of}, runs) == expected ||
           !MpiTestWorld().IsRoot()));
  }
}

TEST_CASE("A bulk synchronous run owes nothing to a best-effort run before it") {
  const Topology topology = MakeTorus(6, 6);
  const std::uint64_t expected = MpiTestWorld().IsRoot() ? RunSerially<Heard, EachPooled, EachSolo, EachAggregated>(topology, one_run) : 0;
  for (const std::size_t threads : ThreadCounts()) {
    for (const auto& [name, placement] : PlaceSomehow(topology, threads)) {
      INFO(name);
      TaggedMesh<Heard, EachPooled, EachSolo, EachAggregated> mesh{topology, placement, MpiTestWorld(), {.depth = depth}};
      std::vector<std::uint64_t> states(mesh.NumLocalNodes());
      const auto update = [&](auto& node) {
        states[node.Index()] = UpdateChaotically<Heard, EachPooled, EachSolo, EachAggregated>(node, states[node.Index()]);
      };
      for (const AsyncMode mode : {AsyncMode::no_barrier, AsyncMode::rolling, AsyncMode::no_communication})
        Run(mesh, {.mode = mode, .num_updates = 50}, update);
      states.assign(states.size(), 0);
      mesh.Initialize<Heard>([](NodeId node) { return Mix(1, node); });
      mesh.Initialize<EachSolo>([](NodeId node) { return Mix(1, node); });
      mesh.Initialize<EachPooled>([](NodeId node) { return Mix(1, node); });
      mesh.Initialize<EachAggregated>([](NodeId node) { return Mix(1, node); });
      Run(mesh, {.mode = AsyncMode::every_update, .num_updates = one_run[0], .seed = 0}, update);
      const auto all = mesh.Gather(std::span<const std::uint64_t>(states));
      CHECK((HashOf(all) == expected || !MpiTestWorld().IsRoot()));
    }
  }
}
