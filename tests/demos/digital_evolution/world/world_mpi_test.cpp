// The state of a world does not depend on the placement of its cells, and no mode loses resource.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <netuit/checkpoint/checkpoint.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/schedules.hpp>
#include <thread>
#include <uit/codec/codec.hpp>
#include <uit/support/bytes.hpp>
#include <uit/link/world.hpp>
#include <vector>

#include "tests/demos/digital_evolution/world/worlds.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/shared_folder.hpp"
#include "tests/support/thrown.hpp"
#include "tests/uit/core/support/sanitized.hpp"

using namespace digital_evolution;
using namespace digital_evolution::testing;
using namespace std::chrono_literals;
using netuit::testing::Folder;
using uit::testing::CheckThrows;
using uit::testing::is_sanitized;
using uit::testing::MpiTestWorld;
using uit::testing::SumOverRanks;

namespace {

constexpr std::uint64_t seed = 5;
constexpr std::uint64_t num_updates = is_sanitized ? 160 : 480;

netuit::Topology TestTorus() { return netuit::MakeTorus(12, 10); }

/// Some placements on all ranks with 1 and 2 threads each.
std::vector<netuit::Placement> Placements(const netuit::Topology& topology) {
  std::vector<netuit::Placement> placements;
  for (const std::size_t threads : {1U, 2U}) {
    const netuit::Workers workers{.processes = MpiTestWorld().Size(), .threads = threads};
    placements.push_back(netuit::PlaceContiguous(topology, workers));
    placements.push_back(netuit::PlaceRandom(topology, workers, 3));
  }
  return placements;
}

std::unique_ptr<Scene> Begin(const netuit::Topology& topology, const netuit::Placement& placement,
                             const uit::World& processes) {
  auto scene = std::make_unique<Scene>(topology, placement, processes, BusyRules(), seed);
  scene->world.Found({.ancestor = BusyGenome(), .rival = AncestorGenome(), .num_founders = 90});
  return scene;
}

/// On rank 0, returns the hash of a world on one thread of one process. Elsewhere returns 0.
std::uint64_t RunAlone(const netuit::Topology& topology) {
  if (!MpiTestWorld().IsRoot()) return 0;
  const auto scene = Begin(topology, netuit::PlaceContiguous(topology, {.processes = 1, .threads = 1}), {});
  scene->RunInStep(num_updates);
  const Counters counters = scene->world.SumCounters();
  CHECK(counters.births_dropped == 0);
  CHECK(counters.packets_dropped == 0);
  CHECK(counters.births_kin > 50);
  CHECK(counters.births_new > 10);
  CHECK(counters.births_mutated > 50);
  CHECK(counters.births_crowded_out > 0);
  CHECK(counters.packets_heeded > 50);
  CHECK(counters.transfers_kin > 50);
  CHECK(counters.waves_harvested > 50);
  for (const std::uint64_t count : counters.deaths) CHECK(count > 0);
  return scene->world.StateHash();
}

/// A world in which one genome does not change; counts the births with it and with others.
struct UnchangingScene {
  UnchangingScene(const netuit::Topology& topology, const netuit::Placement& placement, const uit::World& processes,
                  const Genome& genome)
      : scene{topology, placement, processes, UnchangingRules(), seed,
              {.on_birth = [this, genome](const Place& place, const BirthNote&) {
                ++(place.program->GetGenome() == genome ? num_same : num_others);
              }}} {
    scene.world.Found({.ancestor = genome, .num_founders = 90});
  }
  static Rules UnchangingRules() {
    Rules rules = BusyRules();
    rules.mutation.per_birth = 0;
    return rules;
  }

  std::atomic<std::uint64_t> num_same = 0;
  std::atomic<std::uint64_t> num_others = 0;
  Scene scene;
};

/// Checks that the amount of resource has not changed.
void CheckConserved(const World& world) {
  const Ledger ledger = world.SumLedger();
  const std::int64_t transfers_under_way = world.Transferred();
  CHECK(SumOverRanks(ledger.Gained()) == SumOverRanks(ledger.Lost() + world.Held() + world.UnderWay()));
  CHECK(SumOverRanks(ledger.transfers_sent) == SumOverRanks(ledger.transfers_received + transfers_under_way));
  CHECK(SumOverRanks(ledger.endowments_sent) ==
        SumOverRanks(ledger.endowments_received + world.UnderWay() - transfers_under_way));
  for (const std::int64_t amount : {ledger.transfers_sent, ledger.endowments_sent, ledger.spent, ledger.forfeited})
    CHECK(SumOverRanks(amount) > 0);
  const Counters counters = world.SumCounters();
  std::uint64_t under_way = 0;
  world.ForEachUnborn([&](const Place&, const auto&) { ++under_way; });
  CHECK(SumOverRanks(counters.births_sent) == SumOverRanks(counters.Births() + counters.births_crowded_out + under_way));
}

}  // namespace

TEST_CASE("in modes 0 and 5 the state of a world does not depend on the placement") {
  const auto topology = TestTorus();
  const std::uint64_t expected = RunAlone(topology);
  for (const netuit::Placement& placement : Placements(topology)) {
    for (const auto& plan :
         {netuit::EveryUpdate{.updates = num_updates}.MakePlan(), netuit::Dataflow{.updates = num_updates}.MakePlan()}) {
      CAPTURE(plan.mode);
      const auto scene = Begin(topology, placement, MpiTestWorld());
      const netuit::RunReport report = scene->world.Run(plan);
      CHECK(report.ExitCode() == 0);
      CHECK((report.Balanced() || !MpiTestWorld().IsRoot()));
      const std::uint64_t hash = SumOverRanks(scene->world.StateHash());
      CHECK((hash == expected || !MpiTestWorld().IsRoot()));
      CHECK(scene->world.Age() == num_updates);
    }
  }
}

TEST_CASE("in mode 0 a run in two parts equals one run, also across a checkpoint and another layout") {
  const auto topology = TestTorus();
  const std::uint64_t expected = RunAlone(topology);
  const auto check = [&](World& world) {
    const std::uint64_t hash = SumOverRanks(world.StateHash());
    CHECK((hash == expected || !MpiTestWorld().IsRoot()));
    CheckConserved(world);
  };
  constexpr std::uint64_t first_part = 96;
  static_assert(first_part % mail_period == 0);
  const auto placements = Placements(topology);
  const auto scene = Begin(topology, placements.front(), MpiTestWorld());
  scene->RunInStep(first_part);
  std::uint64_t num_unborn = 0;
  scene->world.ForEachUnborn([&](const Place&, const auto&) { ++num_unborn; });
  CHECK(SumOverRanks(num_unborn) > 0);
  const Folder folder;
  netuit::SaveCheckpoint(scene->world.GetMesh(), folder.Path());

  const auto restored = std::make_unique<Scene>(topology, placements.back(), MpiTestWorld(), BusyRules(), seed);
  restored->world.Load(folder.Path());
  restored->world.AddToRecords(scene->world.SumLedger(), scene->world.SumCounters());
  CHECK(restored->world.Age() == first_part);
  CHECK(SumOverRanks(restored->world.StateHash()) == SumOverRanks(scene->world.StateHash()));

  scene->RunInStep(num_updates - first_part);
  check(scene->world);
  restored->RunInStep(num_updates - first_part);
  check(restored->world);
}

TEST_CASE("what is cut short, or is no genome, is not decoded") {
  const auto topology = TestTorus();
  const auto scene = Begin(topology, Placements(topology).front(), MpiTestWorld());
  scene->RunInStep(17);
  std::size_t local = 0;
  while (!scene->world.At(local).cell.IsAlive()) ++local;
  const Place& place = scene->world.At(local);
  const PlaceCodec& codec = uit::codec_for<Place>;
  uit::Bytes bytes(codec.Size(place));
  codec.Encode(place, bytes);
  Place decoded;
  for (std::size_t size = 0; size < bytes.size(); size += 7) {
    const bool is_shorter_genome = size > sizeof(Cell) + sizeof(Outbox) && (bytes.size() - size) % sizeof(Instruction) == 0;
    CHECK(codec.TryDecode(uit::ByteView(bytes).first(size), decoded) == is_shorter_genome);
  }
  CHECK(codec.TryDecode(bytes, decoded));
  CHECK(decoded.program->GetGenome() == place.program->GetGenome());
  const auto with = [&bytes](std::size_t at, unsigned value) {
    uit::Bytes changed = bytes;
    changed[at] = static_cast<std::byte>(value);
    return changed;
  };
  CHECK_FALSE(codec.TryDecode(with(bytes.size() - sizeof(Instruction), 0xff), decoded));  // an operation
  CHECK_FALSE(codec.TryDecode(with(sizeof(Cell), max_packets + 1), decoded));             // packets at the first facing
}

TEST_CASE("a checkpoint with a message that no cell sends is not loaded") {
  const auto topology = TestTorus();
  const auto placement = Placements(topology).front();
  for (const bool has_birth : {true, false}) {
    netuit::Mesh mesh{TeamFor(placement, MpiTestWorld()), WorldNetworks(topology), {.placement = placement, .depth = world_depth}};
    const Layers layers{mesh};
    const auto places = mesh.AddField<Place>();
    mesh.SetName(layers.environment, "environment");
    mesh.SetName(layers.kinship, "kinship");
    mesh.SetName(places, "places");
    mesh.Run(netuit::EveryUpdate{.updates = 1}, [&](netuit::Node& node) {
      if (has_birth) layers.spawn[node.Out(layers.mail)[0]].TryPut(std::vector<std::uint32_t>{1, 2, 3});
      else layers.transfer[node.Out()[0]].TryPut(-1);
    });
    const Folder folder;
    netuit::SaveCheckpoint(mesh, folder.Path());
    Scene scene{topology, placement, MpiTestWorld(), BusyRules(), seed};
    CheckThrows([&] { scene.world.Load(folder.Path()); }, "has a message that no cell sends");
  }
}

TEST_CASE("a world goes on under other rules, which make another program of its genomes") {
  const auto topology = TestTorus();
  const auto placement = Placements(topology).front();
  const auto scene = Begin(topology, placement, MpiTestWorld());
  scene->RunInStep(72);
  const Folder folder;
  netuit::SaveCheckpoint(scene->world.GetMesh(), folder.Path());
  Rules rules = BusyRules();
  rules.common_program = std::make_shared<const Program>(GenomeOf("module @can_afford\n spawn_new\n"), rules.machine);
  Scene other{topology, placement, MpiTestWorld(), rules, seed};
  other.world.Load(folder.Path());
  other.RunInStep(160);
  const Counters counters = other.world.SumCounters();
  CHECK(SumOverRanks(counters.births_new) > 10);
  CHECK(SumOverRanks(counters.use[static_cast<std::size_t>(Operation::share_some)]) == 0);
}

TEST_CASE("resource and births are conserved in every mode over several runs") {
  const auto topology = TestTorus();
  std::uint64_t num_dropped = 0;
  for (const netuit::Placement& placement : Placements(topology)) {
    const auto scene = Begin(topology, placement, MpiTestWorld());
    for (const int mode : {3, 0, 1, 4, 2, 3}) {
      CAPTURE(mode);
      const netuit::RunReport report = scene->world.Run(netuit::ScheduleOf(
          static_cast<netuit::AsyncMode>(mode),
          {.updates = num_updates / 4 + static_cast<std::uint64_t>(mode), .span = 300us, .period = 1ms}));
      CHECK(report.ExitCode() == 0);
      CHECK((report.Balanced() || !MpiTestWorld().IsRoot()));
      CheckConserved(scene->world);
      if (mode == 4) num_dropped += scene->world.SumCounters().births_dropped;
    }
  }
  CHECK(SumOverRanks(num_dropped) > 0);  // by cells of several workers
}

TEST_CASE("genomes of 1 and of 1000 instructions are born on other workers as they were sent") {
  constexpr std::uint64_t num_updates_each = 10 * mail_period;
  const auto topology = TestTorus();
  for (const Genome& genome : {ShortGenome(), LongGenome()}) {
    CAPTURE(genome.size());
    std::uint64_t expected = 0;
    if (MpiTestWorld().IsRoot()) {
      UnchangingScene alone{topology, netuit::PlaceContiguous(topology, {.processes = 1, .threads = 1}), {}, genome};
      alone.scene.RunInStep(num_updates_each);
      expected = alone.scene.world.StateHash();
    }
    const auto check = [](const UnchangingScene& one) {
      CHECK(SumOverRanks(one.num_same.load()) > 10);
      CHECK(one.num_others == 0);
      const Ledger ledger = one.scene.world.SumLedger();
      CHECK(SumOverRanks(ledger.Gained()) == SumOverRanks(ledger.Lost() + one.scene.world.Held() + one.scene.world.UnderWay()));
      CHECK(SumOverRanks(ledger.UnderWay()) == SumOverRanks(one.scene.world.UnderWay()));
    };
    for (const netuit::Placement& placement : Placements(topology)) {
      UnchangingScene in_step{topology, placement, MpiTestWorld(), genome};
      in_step.scene.RunInStep(num_updates_each);
      check(in_step);
      const std::uint64_t hash = SumOverRanks(in_step.scene.world.StateHash());
      CHECK((hash == expected || !MpiTestWorld().IsRoot()));
      UnchangingScene free_running{topology, placement, MpiTestWorld(), genome};
      free_running.scene.world.Run(netuit::Free{.updates = num_updates_each});
      check(free_running);
    }
  }
}

TEST_CASE("of amounts too large for one sum none is left behind when a run ends") {
  const auto topology = TestTorus();
  for (const netuit::Placement& placement : Placements(topology)) {
    netuit::Mesh mesh{TeamFor(placement, MpiTestWorld()), WorldNetworks(topology),
                      {.placement = placement, .depth = world_depth}};
    const Layers layers{mesh};
    const auto sent = mesh.AddField<std::int64_t>();
    const auto put = [&](netuit::Node& node) {  // puts and reads nothing
      for (const auto edge : node.Out()) sent[node] += layers.transfer[edge].TryPut(max_stockpile) ? max_stockpile : 0;
    };
    CHECK(mesh.Run(netuit::Free{.updates = 40}, put).ExitCode() == 0);
    std::int64_t put_in_all = 0;
    std::int64_t waiting = 0;
    mesh.Visit([&](netuit::Node& node) {
      put_in_all += sent[node];
      for (const auto edge : node.In()) layers.transfer.ForEachUnread(edge, [&](Resource amount) { waiting += amount; });
    });
    CHECK(SumOverRanks(waiting) == SumOverRanks(put_in_all));
  }
}

TEST_CASE("a message that is refused is counted and not paid for") {
  const auto topology = TestTorus();
  const netuit::Workers workers{.processes = MpiTestWorld().Size(), .threads = 2};
  Scene scene{topology, netuit::PlaceRandom(topology, workers, 3), MpiTestWorld(), BusyRules(), seed, {}, 1};
  scene.world.Found({.ancestor = BusyGenome()});
  // The second thread of each process starts when the first has put more than the depth.
  constexpr std::uint64_t head_start = 8 * mail_period;
  std::atomic<std::uint64_t> num_made = 0;
  netuit::RunOptions options;
  options.sample_interval = 1ns;
  options.on_sample = [&](const netuit::Sample& sample) {
    if (sample.worker.thread == 0) num_made = sample.num_updates;
    else while (num_made < head_start) std::this_thread::yield();
  };
  const netuit::RunReport report = scene.world.Run(netuit::Free{.updates = 2 * head_start}, options);
  CHECK(report.ExitCode() == 0);
  CHECK((report.Balanced() || !MpiTestWorld().IsRoot()));
  const Counters counters = scene.world.SumCounters();
  CHECK(SumOverRanks(counters.births_dropped) > 0);
  CHECK(SumOverRanks(counters.packets_dropped) > 0);
  CHECK(SumOverRanks(counters.births_sent) > 0);
  CheckConserved(scene.world);
}

TEST_CASE("a refused gift, birth, packet or legacy leaves everything with the cell") {
  const auto torus = netuit::MakeTorus(5, 5);
  const auto placement = netuit::PlaceContiguous(torus, {.processes = 1, .threads = 2});
  const auto run = [&](const char* genome, const netuit::RunPlan& plan, auto&& check) {
    Scene scene{torus, placement, {}, QuietRules(), seed};
    scene.world.Found({.ancestor = GenomeOf(genome), .num_founders = 1, .stockpile = plenty});
    const Resource before = scene.world.At(0).cell.stockpile;
    scene.world.Run(plan);
    check(scene.world.At(0).cell, before, scene.world.SumLedger(), scene.world.SumCounters());
  };
  const auto muted = netuit::Isolated{.updates = 33}.MakePlan();
  const auto in_step = netuit::EveryUpdate{.updates = 33}.MakePlan();
  // neighbour 2 of node 0 is node 20, on the other thread
  const char* gives = "module @heartbeat\n set r0 2\n face r0\n share_half\n spawn_kin\n send @hello\n";
  const char* leaves = "module @heartbeat\n set r0 2\n face r0\n mark_heir\n die\n";
  run(gives, muted, [](const Cell& cell, Resource before, const Ledger& ledger, const Counters& counters) {
    CHECK(cell.stockpile == before);
    CHECK(cell.state[Sensor::given] == 0);
    CHECK(cell.state[Sensor::births_kin] == 0);
    CHECK(cell.state[Sensor::packets_sent] == 0);
    CHECK(cell.state.At(Sensor::relation_0, 2) == 0);
    CHECK(ledger.transfers_sent + ledger.endowments_sent + ledger.spent == 0);
    CHECK(counters.transfers_strangers + counters.transfers_kin + counters.births_sent + counters.packets_sent == 0);
    CHECK(counters.births_dropped == 3);   // those of updates 0, 16 and 32
    CHECK(counters.packets_dropped == 5);  // those of one heartbeat each
  });
  run(gives, in_step, [](const Cell& cell, Resource before, const Ledger& ledger, const Counters& counters) {
    CHECK(cell.stockpile < before / 2);
    CHECK(ledger.transfers_sent > 0);
    CHECK(counters.births_sent == 3);
    CHECK(counters.packets_sent >= 5);  // the offspring sends packets too
    CHECK(counters.births_dropped + counters.packets_dropped == 0);
  });
  run(leaves, muted, [](const Cell&, Resource before, const Ledger& ledger, const Counters&) {
    CHECK(ledger.forfeited == before);
    CHECK(ledger.transfers_sent == 0);
  });
  run(leaves, in_step, [](const Cell&, Resource before, const Ledger& ledger, const Counters&) {
    CHECK(ledger.forfeited == 0);
    CHECK(ledger.transfers_sent == before);
  });
}
