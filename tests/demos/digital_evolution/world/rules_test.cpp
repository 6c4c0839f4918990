// The rules of a world, one at a time, on one process.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <netuit/graph/topologies.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/placement/placement.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/demos/digital_evolution/world/worlds.hpp"
#include "tests/support/catch.hpp"

using namespace digital_evolution;
using namespace digital_evolution::testing;

TEST_CASE("one who dies leaves all to its heir, or forfeits it") {
  const Rules rules = QuietRules();
  Solitude with_heir{"module @heartbeat\n turn\n mark_heir\n die\n", rules};
  const Resource before = with_heir.CellAt(0).stockpile;
  with_heir.RunInStep(1);
  CHECK(with_heir.NumAlive() == 0);
  CHECK(with_heir.world.SumLedger().forfeited == 0);
  CHECK(with_heir.world.Transferred() == before);
  with_heir.RunInStep(1);
  CHECK(with_heir.world.SumLedger().lost_to_empty == before);

  Solitude without{"module @heartbeat\n die\n", rules};
  without.RunInStep(1);
  CHECK(without.NumAlive() == 0);
  CHECK(without.world.SumLedger().forfeited == before);
  CHECK(without.world.SumCounters().deaths[static_cast<std::size_t>(Death::apoptosis)] == 1);
}

TEST_CASE("a cell shares a twentieth or half of its stockpile with the neighbour that it faces") {
  for (const auto& [verb, divisor] : {std::pair{"share_some", 20}, {"share_half", 2}}) {
    CAPTURE(verb);
    Solitude scene{std::string{"module @heartbeat\n set r0 1\n face r0\n "} + verb + "\n", QuietRules()};
    const Resource before = scene.CellAt(0).stockpile;
    scene.RunInStep(8);
    const Resource given = before / divisor;
    CHECK(scene.CellAt(0).stockpile == before - given);
    CHECK(scene.world.SumLedger().transfers_sent == given);
    CHECK(scene.world.SumLedger().lost_to_empty == given);
    CHECK(scene.world.SumCounters().transferred_strangers == given);
  }
}

TEST_CASE("a gift reaches a neighbour in the next update") {
  Solitude scene{"module @heartbeat\n set r0 1\n face r0\n share_half\n", QuietRules(), 0};
  std::vector<Resource> before;
  for (const Place& place : scene.world.Places()) before.push_back(place.cell.stockpile);
  scene.RunInStep(2);
  CHECK(scene.CellAt(1).stockpile == before[1] - before[1] / 2 + before[0] / 2);
  CHECK(scene.CellAt(1).state[Sensor::received] == (before[0] / 2) >> Cell::sensed_shift);
}

TEST_CASE("packets of strangers start cores only where they are admitted, those of kin everywhere") {
  const std::string says_hello = "module @heartbeat\n set r0 1\n face r0\n send @hello\nmodule @hello\n show r5 3\n";
  Solitude strangers{says_hello, QuietRules(), 0};
  strangers.RunInStep(64);
  CHECK(strangers.world.SumCounters().packets_sent == 7 * 25);  // one at update 0, then two in every 16 updates
  CHECK(strangers.world.SumCounters().packets_received == 5 * 25);
  CHECK(strangers.world.SumCounters().packets_heeded == 0);
  CHECK(strangers.CellAt(0).state[Sensor::shown_3] == 0);

  Solitude admitted{says_hello + "module @beside_stranger\n admit\n", QuietRules(), 0};
  admitted.RunInStep(64);
  CHECK(admitted.world.SumCounters().packets_heeded == 5 * 25);
  CHECK(admitted.CellAt(0).state[Sensor::shown_3] == 1);

  Solitude kin{bears_left + "turn\n set r0 1\n send @hello\nmodule @hello\n show r5 3\n", QuietRules()};
  kin.RunInStep(80);
  CHECK(kin.world.SumCounters().packets_heeded > 0);
}

TEST_CASE("more packets than four to a neighbour in sixteen updates are lost") {
  Solitude scene{"module @heartbeat\n send @a\n send @a\n send @a\n broadcast @a\n", QuietRules()};
  scene.RunInStep(17);
  CHECK(scene.world.SumCounters().packets_sent == 7 + 2 * 4 + 2 * 2);  // the packets of updates 8 and 16 together
  CHECK(scene.world.SumCounters().packets_dropped == 2);
}

TEST_CASE("resource comes evenly, or with waves") {
  Rules rules = QuietRules();
  rules.inflow = 1000;
  rules.even_harvest = 77;
  Solitude even{"module @heartbeat\n nop\n", rules, 0};
  even.RunInStep(40);
  CHECK(even.world.SumLedger().inflow == 25 * 40 * 1000);
  CHECK(even.world.SumLedger().harvested == 25 * 40 * 77);

  rules.harvest = Harvest::wave;
  rules.wave.start = 1U << 28U;
  rules.fertile_kin_age = 100;
  rules.harvest_kin_age = 100;
  Solitude kin{bears_left + "turn\n spawn_kin\n turn\n turn\n spawn_kin\n", rules};
  kin.RunInStep(800);
  REQUIRE(kin.NumAlive() == 25);
  const Counters counters = kin.world.SumCounters();
  CHECK(counters.waves_begun > 20);
  CHECK(counters.waves_harvested > 3 * counters.waves_begun);
  CHECK(kin.world.SumLedger().harvested == static_cast<std::int64_t>(counters.waves_harvested) * rules.wave_harvest);

  rules.harvest_kin_age = -1;
  Solitude expired{bears_left, rules, 0};
  expired.RunInStep(100);
  CHECK(expired.world.SumCounters().waves_harvested == 0);
}

TEST_CASE("stockpiles decay by a part of themselves") {
  Rules rules = QuietRules();
  rules.decay_shift = 4;
  Solitude scene{"module @heartbeat\n nop\n", rules};
  const Resource before = scene.CellAt(0).stockpile;
  scene.RunInStep(1);
  CHECK(scene.CellAt(0).stockpile == before - before / 16);
  CHECK(scene.world.SumLedger().decayed == before / 16);
}

TEST_CASE("founders are as many as asked for, and half of them a rival's") {
  const auto topology = netuit::MakeTorus(10, 10);
  for (const netuit::NodeId num_founders : {1U, 2U, 3U, 30U, 99U, 100U}) {
    CAPTURE(num_founders);
    Founding founding{.ancestor = GenomeOf("nop"), .rival = GenomeOf("stop"), .num_founders = num_founders};
    std::vector<unsigned> counts(2);
    for (netuit::NodeId node = 0; node < topology.NumNodes(); ++node) {
      if (const auto founder = FounderOf(founding, 1, node, topology.NumNodes())) ++counts[*founder];
    }
    CHECK(counts[0] + counts[1] == num_founders);
    CHECK(std::max(counts[0], counts[1]) - std::min(counts[0], counts[1]) == num_founders % 2);
  }
}

TEST_CASE("only a torus can be a world") {
  const auto topology = netuit::MakeGrid(4, 4);
  const auto placement = netuit::PlaceContiguous(topology, {.processes = 1, .threads = 1});
  CHECK_THROWS_AS(World(uit::Team{}, topology, {.placement = placement}, Rules{}, 1), uit::InputError);
}

TEST_CASE("sensors and events have names of their own") {
  std::set<std::string_view> names;
  for (const SensorEntry& entry : sensor_table) names.insert(entry.name);
  CHECK(names.size() == num_sensors);
  names.clear();
  for (const EventEntry& entry : event_table) names.insert(entry.name);
  CHECK(names.size() == event_table.size());
  CHECK(sensor_table[static_cast<std::size_t>(Sensor::shown_0)].name == "shown_0");
  CHECK(sensor_table[static_cast<std::size_t>(Sensor::clock)].name == "clock");
  CHECK(sensor_table[static_cast<std::size_t>(Sensor::chance)].name == "chance");
}
