// What programs sense: each sensor, each event, and what neighbours show.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <netuit/graph/random_stream.hpp>
#include <netuit/graph/topology.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tests/demos/digital_evolution/world/worlds.hpp"
#include "tests/support/catch.hpp"

using namespace digital_evolution;
using namespace digital_evolution::testing;

namespace {

constexpr std::uint64_t seed = 1;
constexpr std::size_t up = 20;
constexpr std::size_t down = 5;
/// The neighbours of node 0, by facing.
constexpr std::array<std::size_t, num_facings> neighbors{left, right, up, down};

template <typename F>
Rules With(F change) {
  Rules rules = QuietRules();
  rules.budget = 64;  // enough for every core to finish in the update in which it starts
  change(rules);
  return rules;
}
const Rules quiet = With([](Rules&) {});

std::string Face(unsigned facing) { return "set r0 " + std::to_string(facing) + "\nface r0\n"; }

/// A sensor, and the value that it must give. Every cell runs the same program: in a heartbeat it does `action`, reads the
/// sensor, and shows the value in word 0. Unless `acts_first`, it reads the sensor before the action.
struct Case {
  std::string_view sensor;
  std::string action{};
  /// update of the heartbeat that reads the sensor, from 0: a multiple of 8
  std::uint64_t update;
  std::function<std::int32_t(const Solitude&)> expected;  ///< computed from the world when it was founded
  bool acts_first = true;
  std::string modules{};         ///< further modules of the program
  std::size_t node = 0;          ///< the cell whose sensor is read
  netuit::NodeId num_founders = 1;
  Rules rules = quiet;
};

std::string TextOf(const Case& one, std::string_view sensor) {
  const std::string sense = "sense_self r7 " + std::string{sensor} + "\nshow r7 0\n";
  return "module @heartbeat\n" + (one.acts_first ? one.action + sense : sense + one.action) + one.modules;
}

std::function<std::int32_t(const Solitude&)> Is(std::int32_t value) {
  return [value](const Solitude&) { return value; };
}

const Rules all_waves = With([](Rules& rules) {
  rules.harvest = Harvest::wave;
  rules.wave.start = ~0U;
});
const Rules ages_fast = With([](Rules& rules) { rules.kin_span = 4; });
const Rules ages_to_barren = With([](Rules& rules) { rules.kin_span = 4, rules.fertile_kin_age = 2; });
const Rules rains = With([](Rules& rules) { rules.even_harvest = 3 << Cell::sensed_shift; });
const Rules dear = With([](Rules& rules) { rules.birth_cost = max_stockpile; });

constexpr std::int32_t Sensed(Resource amount) { return amount >> Cell::sensed_shift; }
Program ProgramOf(const Solitude& world) { return Program{world.world.At(0).program->GetGenome()}; }
/// The founder's random bits, drawn again.
std::int32_t ChanceOf(netuit::NodeId node) {
  netuit::RandomStream random{seed, node};
  random.Next();
  random.Below(2 * static_cast<std::uint32_t>(plenty) + 1);
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(random.Next()) >> 1U);
}

// Births are sent at updates 0, 16, … and take place 16 updates later; so do packets. A gift takes one update.
const std::string bears_one = Face(0) + "spawn_kin\n";
const std::string founds_one = Face(0) + "spawn_new\n";

std::vector<Case> MakeCases() {
  std::vector<Case> cases{
      {.sensor = "alive", .update = 0, .expected = Is(1)},
      {.sensor = "stockpile", .update = 8, .expected = [](const Solitude& world) { return Sensed(world.CellAt(0).stockpile); }},
      {.sensor = "age", .update = 16, .expected = Is(17)},
      {.sensor = "generation", .update = 16, .expected = Is(0)},
      {.sensor = "generation", .action = bears_one, .update = 24, .expected = Is(1), .node = left},
      {.sensor = "kin_low", .update = 8,
       .expected = [](const Solitude& world) { return static_cast<std::int32_t>(world.CellAt(0).group.kin); }},
      {.sensor = "kin_high", .update = 8,
       .expected = [](const Solitude& world) { return static_cast<std::int32_t>(world.CellAt(0).group.kin >> 32U); }},
      {.sensor = "kin_low", .action = bears_one, .update = 24,
       .expected = [](const Solitude& world) { return static_cast<std::int32_t>(world.CellAt(0).group.kin); }, .node = left},
      {.sensor = "kin_generation", .update = 16, .expected = Is(17 / 4), .rules = ages_fast},
      {.sensor = "kin_generation", .action = bears_one, .update = 24, .expected = Is(1), .node = left},
      {.sensor = "kin_generation", .action = founds_one, .update = 24, .expected = Is(0), .node = left},
      {.sensor = "kin_size", .update = 200, .expected = Is(1)},
      // the offspring has no resource, so it bears none
      {.sensor = "kin_size", .action = bears_one, .update = 400, .expected = Is(2)},
      {.sensor = "genome_length", .action = "nop\nnop\n", .update = 8, .expected = Is(5)},
      {.sensor = "genome_hash", .update = 8,
       .expected = [](const Solitude& world) { return static_cast<std::int32_t>(ProgramOf(world).Hash()); }},
      {.sensor = "wave", .update = 0, .expected = Is(1), .rules = all_waves},
      {.sensor = "wave", .update = 8, .expected = Is(0), .rules = all_waves},
      // the wave came at age 1, and this is age 9
      {.sensor = "since_harvest", .update = 8, .expected = Is(8), .rules = all_waves},
      {.sensor = "harvested", .update = 8, .expected = Is(9 * 3), .rules = rains},
      {.sensor = "harvested", .update = 8, .expected = Is(Sensed(quiet.wave_harvest)), .rules = all_waves},
      {.sensor = "received", .action = Face(1) + "share_half\n", .update = 8,
       .expected = [](const Solitude& world) { return Sensed(world.CellAt(left).stockpile / 2); }, .num_founders = 0},
      {.sensor = "given", .action = "share_half\n", .update = 0,
       .expected = [](const Solitude& world) { return Sensed(world.CellAt(0).stockpile / 2); }},
      {.sensor = "births_kin", .action = bears_one, .update = 24, .expected = Is(2)},
      {.sensor = "births_kin", .action = founds_one, .update = 24, .expected = Is(0)},
      {.sensor = "births_new", .action = founds_one, .update = 24, .expected = Is(2)},
      {.sensor = "births_new", .action = bears_one, .update = 24, .expected = Is(0)},
      {.sensor = "has_displaced", .action = bears_one, .update = 24, .expected = Is(1), .num_founders = 0},
      {.sensor = "has_displaced", .action = bears_one, .update = 24, .expected = Is(0), .node = left},
      {.sensor = "is_expired", .update = 8, .expected = Is(0), .rules = ages_to_barren},
      {.sensor = "is_expired", .update = 16, .expected = Is(1), .rules = ages_to_barren},
      {.sensor = "can_afford", .update = 8, .expected = Is(1)},
      {.sensor = "can_afford", .update = 8, .expected = Is(0), .rules = dear},
      {.sensor = "num_kin", .action = bears_one, .update = 24, .expected = Is(1)},
      {.sensor = "num_kin", .update = 8, .expected = Is(0), .num_founders = 0},
      {.sensor = "num_alive", .update = 8, .expected = Is(0)},
      {.sensor = "num_alive", .update = 8, .expected = Is(4), .num_founders = 0},
      {.sensor = "num_cores", .update = 8, .expected = Is(1)},
      {.sensor = "num_cores", .update = 8, .expected = Is(5), .modules = "module @beside_empty\nnop\n"},
      {.sensor = "packets_received", .action = Face(1) + "send @hello\n", .update = 24, .expected = Is(1),
       .modules = "module @beside_stranger\nadmit\nmodule @hello\nnop\n", .num_founders = 0},
      {.sensor = "packets_received", .action = Face(1) + "send @hello\n", .update = 24, .expected = Is(0), .num_founders = 0},
      {.sensor = "packets_sent", .action = "broadcast @hello\n", .update = 8, .expected = Is(4)},
      {.sensor = "endowment", .update = 8, .expected = Is(0)},
      {.sensor = "endowment", .action = "set r0 65\nendow r0\n", .update = 0, .expected = Is(65)},
      {.sensor = "heir", .update = 8, .expected = Is(-1)},
      {.sensor = "heir", .action = Face(2) + "mark_heir\n", .update = 0, .expected = Is(2)},
      {.sensor = "chance", .update = 8, .expected = Is(ChanceOf(0))},
      {.sensor = "chance", .update = 8, .expected = Is(ChanceOf(7)), .node = 7, .num_founders = 0},
      {.sensor = "parent", .update = 8, .expected = Is(-1)},
      {.sensor = "parent", .action = bears_one, .update = 24, .expected = Is(1), .node = left},
      {.sensor = "clock", .update = 24, .expected = Is(24)},
  };
  static const std::array<std::string, 4 * num_facings + num_shown_words> names = [] {
    std::array<std::string, 4 * num_facings + num_shown_words> made;
    auto next = made.begin();
    for (const char* first : {"relation_", "paused_", "admits_", "kin_"})
      for (unsigned facing = 0; facing < num_facings; ++facing) *next++ = first + std::to_string(facing);
    for (unsigned word = 0; word < num_shown_words; ++word) *next++ = "shown_" + std::to_string(word);
    return made;
  }();
  for (unsigned facing = 0; facing < num_facings; ++facing) {
    const std::string_view relation = names.at(facing);
    const std::string_view paused = names.at(num_facings + facing);
    const std::string_view admits = names.at(2 * num_facings + facing);
    const std::string_view kin = names.at(3 * num_facings + facing);
    const std::string to = Face(facing);
    const std::string elsewhere = Face((facing + 1) % num_facings);
    const unsigned back = facing ^ 1U;
    cases.insert(
        cases.end(),
        {Case{.sensor = relation, .action = to + "spawn_kin\n", .update = 8, .expected = Is(2)},
         Case{.sensor = relation, .action = to + "spawn_new\n", .update = 8, .expected = Is(3)},
         Case{.sensor = relation, .action = Face(back) + "spawn_kin\n", .update = 24, .expected = Is(1),
              .node = neighbors.at(back)},
         Case{.sensor = relation, .action = elsewhere + "spawn_kin\n", .update = 8, .expected = Is(0)},
         // at age 9; the pauses were asked for at ages 1 to 101
         Case{.sensor = paused, .action = to + "set r1 100\npause_spawn r1\n", .update = 8, .expected = Is(92),
              .acts_first = false},
         Case{.sensor = paused, .action = elsewhere + "set r1 100\npause_spawn r1\n", .update = 8, .expected = Is(0)},
         Case{.sensor = admits, .action = to + "admit\n", .update = 0, .expected = Is(1)},
         Case{.sensor = admits, .action = to + "admit\nrefuse\n", .update = 0, .expected = Is(0)},
         Case{.sensor = admits, .action = elsewhere + "admit\n", .update = 0, .expected = Is(0)},
         Case{.sensor = kin, .action = to + "spawn_kin\n", .update = 24, .expected = Is(1)},
         Case{.sensor = kin, .action = to + "spawn_new\n", .update = 24, .expected = Is(0)},
         Case{.sensor = kin, .action = elsewhere + "spawn_kin\n", .update = 24, .expected = Is(0)}});
  }
  for (unsigned word = 0; word < num_shown_words; ++word) {
    const std::string_view shown = names.at(4 * num_facings + word);
    const std::string number = std::to_string(word);
    const std::string other = std::to_string((word + 1) % num_shown_words);
    cases.push_back({.sensor = shown, .action = "set r1 -9\nshow r1 " + number + "\n", .update = 0, .expected = Is(-9)});
    cases.push_back({.sensor = shown, .action = "set r1 -9\nshow r1 " + other + "\n", .update = 0, .expected = Is(0)});
  }
  return cases;
}

/// The body of every module: counts in word 0 how often the cell had the event, and admits strangers where it faced.
constexpr std::string_view notes = "sense_self r0 shown_0\ninc r0\nshow r0 0\nadmit\n";

/// An event, and how often a cell has it. The founder does `action` in its heartbeats; it alone has generation 0.
struct EventCase {
  std::string_view event;
  std::string action{};
  std::uint64_t update;  ///< the last update, from 0
  std::int32_t times;    ///< how often the cell had the event
  std::string facings;   ///< the facings at which it had the event, in ascending order
  std::size_t node = 0;
  netuit::NodeId num_founders = 1;
  Rules rules = quiet;
};

// A cell that is born at update 16 has the events of its peer_table at once and at update 24. Its neighbours see it at 24.
const std::vector<EventCase> event_cases{
    {.event = "born", .update = 32, .times = 0, .facings = ""},
    {.event = "born", .action = bears_one, .update = 24, .times = 1, .facings = "1", .node = left},
    {.event = "born", .action = Face(2) + "spawn_new\n", .update = 24, .times = 1, .facings = "3", .node = up},
    {.event = "heartbeat", .update = 7, .times = 1, .facings = "0"},
    {.event = "heartbeat", .update = 16, .times = 3, .facings = "012"},
    {.event = "heartbeat", .update = 33, .times = 5, .facings = "0123"},
    {.event = "heartbeat", .update = 8, .times = 2, .facings = "23", .node = 2, .num_founders = 0},
    {.event = "can_afford", .update = 16, .times = 3, .facings = "012"},
    {.event = "can_afford", .update = 16, .times = 0, .facings = "", .rules = dear},
    {.event = "beside_kin", .update = 16, .times = 0, .facings = "", .num_founders = 0},
    {.event = "beside_kin", .action = bears_one, .update = 24, .times = 1, .facings = "0"},
    {.event = "beside_kin", .action = bears_one, .update = 24, .times = 2, .facings = "1", .node = left},
    {.event = "beside_kin", .action = Face(3) + "spawn_kin\n", .update = 31, .times = 1, .facings = "3"},
    {.event = "beside_stranger", .update = 16, .times = 12, .facings = "0123", .num_founders = 0},
    {.event = "beside_stranger", .action = founds_one, .update = 24, .times = 1, .facings = "0"},
    {.event = "beside_stranger", .action = bears_one, .update = 24, .times = 0, .facings = ""},
    {.event = "beside_empty", .update = 8, .times = 8, .facings = "0123"},
    {.event = "beside_empty", .update = 8, .times = 0, .facings = "", .num_founders = 0},
    {.event = "beside_empty", .action = bears_one, .update = 24, .times = 6, .facings = "023", .node = left},
    {.event = "neighbor_changed", .update = 32, .times = 0, .facings = ""},
    {.event = "neighbor_changed", .update = 32, .times = 4, .facings = "0123", .num_founders = 0},
    {.event = "neighbor_changed", .action = Face(2) + "spawn_kin\n", .update = 31, .times = 1, .facings = "2"},
    {.event = "wave", .update = 8, .times = 1, .facings = "0", .rules = all_waves},
    {.event = "wave", .update = 16, .times = 2, .facings = "02", .rules = all_waves},
    {.event = "wave", .update = 16, .times = 0, .facings = ""},
};

std::string TextOf(const EventCase& one) {
  const std::string noted = "module @" + std::string{one.event} + "\n" + std::string{notes};
  if (one.event == "heartbeat") return noted;
  return noted + "module @heartbeat\nsense_self r1 generation\njump_if r1 @end\n" + one.action + "label @end\n";
}

std::string Admitted(const State& state) {
  std::string facings;
  for (unsigned facing = 0; facing < num_facings; ++facing)
    if (state.At(Sensor::admits_0, facing) != 0) facings += std::to_string(facing);
  return facings;
}

}  // namespace

TEST_CASE("each sensor says what its line says") {
  for (const Case& one : MakeCases()) {
    const std::string text = TextOf(one, one.sensor);
    CAPTURE(one.sensor, one.update, text);
    Solitude scene{text, one.rules, one.num_founders, seed};
    const std::int32_t expected = one.expected(scene);
    scene.RunInStep(one.update + 1);
    REQUIRE(scene.CellAt(one.node).IsAlive());
    CHECK(scene.CellAt(one.node).state[Sensor::shown_0] == expected);
  }
}

TEST_CASE("no sensor is without a case") {
  const std::vector<Case> cases = MakeCases();
  for (const SensorEntry& entry : sensor_table) {
    CAPTURE(entry.name);
    CHECK(std::ranges::find(cases, entry.name, &Case::sensor) != cases.end());
    CHECK(!entry.meaning.empty());
  }
}

TEST_CASE("each event is told when its line says, facing whom it says") {
  for (const EventCase& one : event_cases) {
    const std::string text = TextOf(one);
    CAPTURE(one.event, one.update, text);
    Solitude scene{text, one.rules, one.num_founders, seed};
    scene.RunInStep(one.update + 1);
    const Cell& cell = scene.CellAt(one.node);
    REQUIRE(cell.IsAlive());
    CHECK(cell.state[Sensor::shown_0] == one.times);
    CHECK(Admitted(cell.state) == one.facings);
  }
}

TEST_CASE("no event is without a case") {
  for (const EventEntry& entry : event_table) {
    CAPTURE(entry.name);
    CHECK(std::ranges::find(event_cases, entry.name, &EventCase::event) != event_cases.end());
    CHECK(!entry.meaning.empty());
  }
}

TEST_CASE("a cell is told when a neighbour is gone") {
  // its left offspring is born at 16 and seen at 24, where it dies; it is missed at 32, when the next is born
  const std::string text = "module @heartbeat\n sense_self r1 generation\n jump_if r1 @offspring\n" + bears_one +
                           " stop\n label @offspring\n sense_self r1 age\n set r2 9\n less r1 r1 r2\n jump_if r1 @end\n die\n"
                           " label @end\n"
                           "module @neighbor_changed\n" + std::string{notes};
  Solitude before{text, quiet, 1, seed};
  before.RunInStep(25);
  CHECK(before.CellAt(0).state[Sensor::shown_0] == 1);
  CHECK_FALSE(before.CellAt(left).IsAlive());
  Solitude after{text, quiet, 1, seed};
  after.RunInStep(33);
  CHECK(after.CellAt(0).state[Sensor::shown_0] == 2);
  CHECK(Admitted(after.CellAt(0).state) == "0");
}

TEST_CASE("a cell senses each of its four neighbours, as they were eight updates ago") {
  for (const std::string sensor : {"kin_low", "stockpile", "age", "alive"}) {
    CAPTURE(sensor);
    std::string text = "module @heartbeat\n" + Face(0);
    for (unsigned facing = 0; facing < num_facings; ++facing)
      text += "sense_neighbor r1 " + sensor + "\nshow r1 " + std::to_string(facing) + "\nturn\n";
    Rules rules = quiet;
    rules.inflow = 1 << Cell::sensed_shift;
    Solitude scene{text, rules, 0, seed};
    std::array<std::int32_t, num_facings> expected{};
    for (unsigned facing = 0; facing < num_facings; ++facing) {
      const Cell& neighbor = scene.CellAt(neighbors.at(facing));
      expected.at(facing) = sensor == "kin_low"     ? static_cast<std::int32_t>(neighbor.group.kin)
                            : sensor == "stockpile" ? Sensed(neighbor.stockpile) + 9  // of updates 0 to 8
                            : sensor == "age"       ? 9
                                                    : 1;
    }
    scene.RunInStep(17);
    for (unsigned facing = 0; facing < num_facings; ++facing) {
      CAPTURE(facing);
      CHECK(scene.CellAt(0).state.At(Sensor::shown_0, facing) == expected.at(facing));
    }
  }
}

TEST_CASE("a cell tells kin from strangers and empty places on each of its sides") {
  for (unsigned side = 0; side < num_facings; ++side) {
    CAPTURE(side);
    // by update 24 one side has kin, the next a stranger, and the others are empty
    std::string text = "module @heartbeat\n sense_self r1 generation\n jump_if r1 @end\n" + Face(side) +
                       " spawn_kin\n turn\n spawn_new\n set r1 64\n endow r1\n label @end\nmodule @can_afford\n" + Face(0);
    for (const std::string sense : {"is_kin r1\n show r1 ", "sense_neighbor r1 alive\n show r1 "}) {
      for (unsigned facing = 0; facing < num_facings; ++facing)
        text += sense + std::to_string(facing + (sense.starts_with("is_kin") ? 0 : num_facings)) + "\n turn\n";
    }
    Solitude scene{text, quiet, 1, seed};
    scene.RunInStep(25);  // a value shown at update 16 is sensed at 24
    const State& state = scene.CellAt(0).state;
    const unsigned next = (side + 1) % num_facings;
    for (unsigned facing = 0; facing < num_facings; ++facing) {
      CAPTURE(facing);
      CHECK(state.At(Sensor::shown_0, facing) == (facing == side ? 1 : 0));
      CHECK(state.At(Sensor::shown_4, facing) == (facing == side || facing == next ? 1 : 0));
    }
    const State& offspring = scene.CellAt(neighbors.at(side)).state;
    CHECK(offspring.At(Sensor::shown_0, side ^ 1U) == 1);
    CHECK(offspring.At(Sensor::shown_0, side) == 0);
    const State& stranger = scene.CellAt(neighbors.at(next)).state;
    for (unsigned facing = 0; facing < num_facings; ++facing) CHECK(stranger.At(Sensor::shown_0, facing) == 0);
    CHECK(stranger.At(Sensor::shown_4, next ^ 1U) == 1);
  }
}
