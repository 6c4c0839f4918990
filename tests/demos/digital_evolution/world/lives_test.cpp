// How cells are born and die in a world on one process.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <netuit/graph/topologies.hpp>
#include <netuit/placement/placement.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/demos/digital_evolution/world/worlds.hpp"
#include "tests/support/catch.hpp"

using namespace digital_evolution;
using namespace digital_evolution::testing;

TEST_CASE("offspring costs its parent the cost and the endowment, and appears when births are due again") {
  const Rules rules = QuietRules();
  const std::string once = "module @heartbeat\n sense_self r2 generation\n jump_if r2 @no\n sense_self r2 births_kin\n"
                           " jump_if r2 @no\n set r0 0\n face r0\n set r1 64\n endow r1\n spawn_kin\n label @no\n";
  Solitude scene{once, rules};
  const Resource before = scene.CellAt(0).stockpile;
  REQUIRE(before > 2 * rules.birth_cost);
  const Resource endowment = (before - rules.birth_cost) / 4;
  scene.RunInStep(16);
  CHECK(scene.CellAt(0).stockpile == before - rules.birth_cost - endowment);
  CHECK(scene.world.SumLedger().spent == rules.birth_cost);
  CHECK(scene.world.UnderWay() == endowment);
  CHECK(scene.NumAlive() == 1);
  scene.RunInStep(1);
  REQUIRE(scene.NumAlive() == 2);
  const Cell& offspring = scene.CellAt(left);
  const Cell& parent = scene.CellAt(0);
  CHECK(offspring.stockpile == endowment);
  CHECK(offspring.generation == 1);
  CHECK(offspring.kin_generation == 1);
  CHECK(offspring.group.kin == parent.group.kin);
  CHECK(offspring.taxon == parent.taxon);
  CHECK(offspring.state[Sensor::parent] == 1);
  CHECK(offspring.state.At(Sensor::relation_0, 1) == 1);
  CHECK(parent.state.At(Sensor::relation_0, 0) == 2);
  CHECK(scene.world.SumCounters().births_kin == 1);
}

TEST_CASE("who cannot pay bears nothing") {
  Rules rules = QuietRules();
  rules.birth_cost = max_stockpile;
  Solitude scene{bears_left, rules};
  const Resource before = scene.CellAt(0).stockpile;
  scene.RunInStep(64);
  CHECK(scene.CellAt(0).stockpile == before);
  CHECK(scene.NumAlive() == 1);
}

TEST_CASE("a kin group that is too old bears no more kin, but can found new ones") {
  Rules rules = QuietRules();
  rules.fertile_kin_age = 2;
  Solitude kin_only{bears_left, rules};
  kin_only.RunInStep(400);
  CHECK(kin_only.world.SumCounters().births_new == 0);
  std::int32_t oldest = 0;
  for (const Place& place : kin_only.world.Places()) oldest = std::max(oldest, place.cell.kin_generation);
  CHECK(oldest == 3);

  Solitude founding{"module @heartbeat\n spawn_new\n", rules};
  founding.RunInStep(400);
  CHECK(founding.world.SumCounters().births_new > 20);
  std::set<std::uint64_t> groups;
  for (const Place& place : founding.world.Places()) {
    if (place.cell.IsAlive()) groups.insert(place.cell.group.kin);
  }
  CHECK(groups.size() == founding.NumAlive());
}

TEST_CASE("a kin group grows older with its cells") {
  Rules rules = QuietRules();
  rules.kin_span = 40;
  Solitude scene{"module @heartbeat\n nop\n", rules};
  scene.RunInStep(119);
  CHECK(scene.CellAt(0).KinAge(rules.kin_span) == 2);
  scene.RunInStep(1);
  CHECK(scene.CellAt(0).KinAge(rules.kin_span) == 3);
}

TEST_CASE("no birth goes where births are paused") {
  Solitude scene{"module @heartbeat\n set r0 0\n face r0\n set r1 100\n spawn_new\n pause_spawn r1\n", QuietRules()};
  scene.RunInStep(64);
  CHECK(scene.world.SumCounters().births_sent == 0);
  CHECK(scene.CellAt(0).state.At(Sensor::paused_0, 0) > 0);
  CHECK(scene.CellAt(0).state.At(Sensor::paused_0, 1) == 0);
}

TEST_CASE("cells die when they are old") {
  Rules rules = QuietRules();
  rules.max_age = 50;
  Solitude scene{"module @heartbeat\n nop\n", rules, 0};
  scene.RunInStep(50);
  CHECK(scene.NumAlive() == 25);
  scene.RunInStep(1);
  CHECK(scene.NumAlive() == 0);
  CHECK(scene.world.SumCounters().deaths[static_cast<std::size_t>(Death::old_age)] == 25);
}

TEST_CASE("of births that arrive together one takes the place, and whom it finds there") {
  const std::string bears_around =
      "module @heartbeat\n spawn_new\n turn\n spawn_new\n turn\n spawn_new\n turn\n spawn_new\n";
  Solitude scene{bears_around, QuietRules(), 0};
  std::vector<std::uint64_t> kin;
  for (const Place& place : scene.world.Places()) kin.push_back(place.cell.group.kin);
  scene.RunInStep(17);
  const Counters counters = scene.world.SumCounters();
  CHECK(counters.Births() == 25);
  CHECK(counters.births_crowded_out == 75);
  CHECK(counters.deaths[static_cast<std::size_t>(Death::displaced_by_stranger)] == 25);
  CHECK(scene.world.SumLedger().forfeited > 0);
  std::set<std::int32_t> parents;
  for (std::size_t node = 0; node < kin.size(); ++node) {
    CHECK(scene.CellAt(node).group.kin != kin[node]);
    CHECK(scene.CellAt(node).state[Sensor::has_displaced] == 1);
    parents.insert(scene.CellAt(node).state[Sensor::parent]);
  }
  CHECK(parents.size() == 4);  // chance decides which
}

TEST_CASE("classes of instructions can be knocked out") {
  Rules rules = QuietRules();
  rules.machine.knocked_out.Insert(InstructionClass::reproduction);
  Solitude scene{bears_left, rules};
  scene.RunInStep(64);
  CHECK(scene.world.SumCounters().births_sent == 0);
  CHECK(scene.world.SumCounters().UseByClass()[static_cast<std::size_t>(InstructionClass::arithmetic)] > 0);
}

TEST_CASE("all can be made to run one program, whatever their genomes, which mutate all the same") {
  Rules rules = QuietRules();
  rules.mutation.per_birth = 1;
  rules.common_program = std::make_shared<const Program>(GenomeOf(bears_left), rules.machine);
  Solitude scene{"module @heartbeat\n stop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop\n", rules};
  scene.RunInStep(400);
  CHECK(scene.world.SumCounters().Births() > 4);
  CHECK(scene.world.SumCounters().births_mutated > 0);
  std::set<std::uint64_t> genomes;
  for (const Place& place : scene.world.Places()) {
    if (place.cell.IsAlive()) genomes.insert(place.program->Hash());
  }
  CHECK(genomes.size() > 1);
}

TEST_CASE("births and deaths that hooks are told of make up the population") {
  std::int64_t num_alive = 36;
  std::set<std::uint64_t> taxa{0};
  std::uint64_t num_faults = 0;
  Hooks hooks;
  hooks.on_birth = [&](const Place& place, const BirthNote& note) {
    ++num_alive;
    num_faults += taxa.contains(note.parent_taxon) ? 0 : 1;
    if (note.is_new_taxon) num_faults += taxa.insert(place.cell.taxon).second ? 0 : 1;
    else num_faults += place.cell.taxon == note.parent_taxon ? 0 : 1;
  };
  hooks.on_death = [&](const Place& place, Death, std::uint64_t) {
    --num_alive;
    num_faults += place.cell.IsAlive() && place.program != nullptr ? 0 : 1;
  };
  const auto topology = netuit::MakeTorus(6, 6);
  Scene scene{topology, netuit::PlaceContiguous(topology, {.processes = 1, .threads = 1}), {}, BusyRules(), 3, hooks};
  scene.world.Found({.ancestor = BusyGenome()});
  scene.RunInStep(1600);
  CHECK(num_faults == 0);
  CHECK(taxa.size() > 50);
  const auto now = std::ranges::count_if(scene.world.Places(), [](const Place& place) { return place.cell.IsAlive(); });
  CHECK(num_alive == now);
  const Counters counters = scene.world.SumCounters();
  std::uint64_t num_deaths = 0;
  for (const std::uint64_t count : counters.deaths) num_deaths += count;
  CHECK(36 + counters.Births() - num_deaths == static_cast<std::uint64_t>(now));
  CHECK(counters.births_mutated + 1 == taxa.size());
}
