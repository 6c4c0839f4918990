#include "demos/digital_evolution/machine/machine.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <string_view>

#include "tests/demos/digital_evolution/machine/machine_test_support.hpp"
#include "tests/support/catch.hpp"

using namespace digital_evolution;

namespace {

const std::string endless = "module @main\nlabel @again\ninc r0\njump @again\n";

}  // namespace

TEST_CASE("a signal starts a core at the matching module with its data and facing", "[digital_evolution]") {
  const Program program{Parse("module @a\nnop\nmodule @b\nshow r5 0\nshow r6 1\nshow r7 2\nmy_facing r0\nshow r0 3")};
  Machine machine;
  RecordingCell cell;
  REQUIRE(!machine.Signal(program, TagOf("c"), 1));
  REQUIRE(machine.NumCores() == 0);
  REQUIRE(machine.Run(program, 16, cell) == 0);
  REQUIRE(machine.Signal(program, TagOf("b") ^ 0xFFFU, 1, {7, -8, 9}));
  REQUIRE(machine.NumCores() == 1);
  REQUIRE(machine.Run(program, 16, cell) == 5);
  REQUIRE(machine.NumCores() == 0);
  REQUIRE(cell.trace == "show 0 7; show 1 -8; show 2 9; show 3 1");
}

TEST_CASE("a tag at the threshold matches, one bit less does not", "[digital_evolution]") {
  for (const unsigned threshold : {1U, 42U, 64U}) {
    const Program program{Parse("module 0000000000000000\nnop"), {.match_threshold = threshold}};
    const auto with_unequal = [](unsigned n) { return n == 64 ? ~Tag{0} : (Tag{1} << n) - 1; };
    REQUIRE(Machine{}.Signal(program, with_unequal(64 - threshold), 0));
    REQUIRE(!Machine{}.Signal(program, with_unequal(64 - threshold + 1), 0));
  }
}

TEST_CASE("the best module with regulation is what a search of everything finds", "[digital_evolution]") {
  const std::array<Tag, 4> events{netuit::MixBits(0), netuit::MixBits(1), netuit::MixBits(2), netuit::MixBits(3)};
  TestRandom random{1};
  int num_changed = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Program program{RandomGenome(seed, 400), {.event_tags = events}};
    Machine machine;
    RecordingCell cell;
    for (int round = 0; round < 40; ++round) {
      for (std::size_t event = 0; event < events.size(); ++event) machine.SignalEvent(program, event, 0);
      machine.Run(program, 200, cell);
      Tag tag = events.at(random.Below(4));
      for (int flip = 0; flip < 12; ++flip) tag ^= Tag{1} << random.Below(64);
      std::uint16_t best = no_target;
      int best_score = static_cast<int>(default_match_threshold) - 1;
      for (std::size_t m = 0; m < program.Modules().size(); ++m) {
        const int score = static_cast<int>(HammingSimilarity(tag, program.Modules()[m].tag)) + machine.Regulator(m);
        REQUIRE(std::abs(machine.Regulator(m)) <= Machine::max_regulation);
        if (score <= best_score) continue;
        best_score = score;
        best = static_cast<std::uint16_t>(m);
      }
      REQUIRE(machine.BestModule(program, tag) == best);
      num_changed += best != program.BestModule(tag) ? 1 : 0;
      if (round % 8 == 7) machine.Decay();
    }
    for (int step = 0; step < Machine::max_regulation; ++step) machine.Decay();
    for (std::size_t m = 0; m < program.Modules().size(); ++m) REQUIRE(machine.Regulator(m) == 0);
    REQUIRE(machine.BestModule(program, events[0]) == program.GetEvent(0).module);
  }
  REQUIRE(num_changed > 100);
}

TEST_CASE("regulation moves by 1 to 8, stays within 24 and decays by one", "[digital_evolution]") {
  const Program program{Parse("module @up\npromote r5 @it\nmodule @down\nrepress r5 @it\nmodule @it\n"
                              "module @clear\nunregulate @it")};
  Machine machine;
  RecordingCell cell;
  const auto regulate = [&](std::string_view name, std::int32_t amount) {
    REQUIRE(machine.Signal(program, TagOf(name), 0, {amount, 0, 0}));
    machine.Run(program, 16, cell);
    return machine.Regulator(2);
  };
  REQUIRE(regulate("up", 0) == 1);
  REQUIRE(regulate("up", 7) == 9);
  REQUIRE(regulate("up", -1) == 17);
  REQUIRE(regulate("up", 7) == 24);
  machine.Decay();
  REQUIRE(machine.Regulator(2) == 23);
  REQUIRE(regulate("down", 15) == 15);
  REQUIRE(regulate("clear", 0) == 0);
  for (int step = 0; step < 4; ++step) regulate("down", 7);
  REQUIRE(machine.Regulator(2) == -24);
  REQUIRE(!machine.Signal(program, TagOf("it") ^ 1U, 0));
  machine.Decay();
  REQUIRE(machine.Regulator(2) == -23);
  REQUIRE(!machine.Signal(program, TagOf("it"), 0));
  machine.Decay();
  REQUIRE(machine.Signal(program, TagOf("it"), 0));
  REQUIRE(machine.Regulator(0) == 0);
}

TEST_CASE("an event follows regulation", "[digital_evolution]") {
  const std::array<Tag, 1> events{0};
  const Program program{Parse("module 0000000000000000\nshow r0 0\nmodule 0000000000000001\nshow r0 1\n"
                              "module ffffffffffffffff\nrepress r0 0000000000000000\nrepress r0 0000000000000000\n"),
                        {.event_tags = events}};
  Machine machine;
  RecordingCell cell;
  REQUIRE(machine.SignalEvent(program, 0, 0));
  machine.Run(program, 16, cell);
  REQUIRE(machine.Signal(program, ~Tag{0}, 0));
  machine.Run(program, 16, cell);
  REQUIRE(machine.SignalEvent(program, 0, 0));
  machine.Run(program, 16, cell);
  REQUIRE(cell.trace == "show 0 0; show 1 0");
}

TEST_CASE("the oldest core gives way to a ninth", "[digital_evolution]") {
  const Program program{Parse(endless)};
  Machine machine;
  for (std::int32_t number = 0; number < 20; ++number) {
    REQUIRE(machine.Signal(program, TagOf("main"), 0, {number, 0, 0}));
    REQUIRE(machine.NumCores() == std::min(static_cast<unsigned>(number) + 1, Machine::max_cores));
    for (std::int32_t old = std::max(0, number - 7); old <= number; ++old) {
      int num_found = 0;
      for (unsigned slot = 0; slot < Machine::max_cores; ++slot) {
        num_found += machine.IsAlive(slot) && machine.GetCore(slot).registers[5] == old ? 1 : 0;
      }
      REQUIRE(num_found == 1);
    }
  }
}

TEST_CASE("a fork may take the place of its own core", "[digital_evolution]") {
  const Program program{Parse(endless + "module @fork\nset r0 -9\nfork @main\nshow r0 0\n")};
  Machine machine;
  RecordingCell cell;
  REQUIRE(machine.Signal(program, TagOf("fork"), 3));
  for (int others = 0; others < 7; ++others) REQUIRE(machine.Signal(program, TagOf("main"), 0));
  REQUIRE(machine.Run(program, 2, cell) == 2);
  REQUIRE(machine.NumCores() == 8);
  REQUIRE(machine.GetCore(0).registers[0] == -9);
  REQUIRE(machine.GetCore(0).facing == 3);
  REQUIRE(machine.Run(program, 1000, cell) == 1000);
  REQUIRE(machine.NumCores() == 8);
  REQUIRE(cell.trace.empty());
}

TEST_CASE("cores take turns of four instructions, from run to run", "[digital_evolution]") {
  const Program program{Parse(endless)};
  Machine machine;
  RecordingCell cell;
  for (int core = 0; core < 3; ++core) machine.Signal(program, TagOf("main"), 0);
  const auto increments = [&] {
    return std::array{machine.GetCore(0).registers[0], machine.GetCore(1).registers[0], machine.GetCore(2).registers[0]};
  };
  REQUIRE(machine.Run(program, 6, cell) == 6);  // label inc jump inc | label inc
  REQUIRE(increments() == std::array{2, 1, 0});
  REQUIRE(machine.Run(program, 4, cell) == 4);
  REQUIRE(increments() == std::array{2, 1, 2});
  REQUIRE(machine.Run(program, 1200, cell) == 1200);
  for (const std::int32_t number : increments()) REQUIRE(number == Approx(201).margin(2));
}

TEST_CASE("a run executes its budget at most and counts it by operation", "[digital_evolution]") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const Program program{RandomGenome(seed, 300)};
    Machine machine;
    RecordingCell cell;
    std::uint64_t num_executed = 0;
    for (unsigned budget = 0; budget < 64; ++budget) {
      machine.Signal(program, program.Modules()[budget % program.Modules().size()].tag, budget % 4);
      const unsigned used = machine.Run(program, budget, cell);
      REQUIRE(used <= budget);
      REQUIRE((used == budget || machine.NumCores() == 0));
      num_executed += used;
    }
    REQUIRE(num_executed == std::accumulate(cell.use.begin(), cell.use.end(), std::uint64_t{0}));
  }
}

TEST_CASE("modules without instructions end at once", "[digital_evolution]") {
  const Program program{Parse("module @a\nmodule @b\ncall @a\ncall @a\nmodule @c")};
  Machine machine;
  RecordingCell cell;
  REQUIRE(machine.Signal(program, TagOf("a"), 0));
  REQUIRE(machine.Run(program, 10, cell) == 0);
  REQUIRE(machine.NumCores() == 0);
  REQUIRE(machine.Signal(program, TagOf("b"), 0));
  REQUIRE(machine.Run(program, 10, cell) == 2);
  REQUIRE(machine.NumCores() == 0);
}

TEST_CASE("death ends all cores at once", "[digital_evolution]") {
  const Program program{Parse(endless + "module @end\nnop\ndie\nshow r0 0")};
  Machine machine;
  RecordingCell cell;
  machine.Signal(program, TagOf("main"), 0);
  machine.Signal(program, TagOf("end"), 1);
  REQUIRE(machine.Run(program, 100, cell) == 6);
  REQUIRE(machine.NumCores() == 0);
  REQUIRE(cell.trace == "die 1 0");
}

TEST_CASE("whether a program can run a machine's bytes is known", "[digital_evolution]") {
  const Program program{Parse("module @main\nlabel @again\npromote r0 @main\ncall @main\njump @again")};
  Machine machine;
  RecordingCell cell;
  for (unsigned round = 0; round < 50; ++round) {
    machine.Signal(program, TagOf("main"), round % 4);
    machine.Run(program, 37, cell);
    REQUIRE(machine.Fits(program));
  }
  REQUIRE(machine.NumCores() == Machine::max_cores);
  REQUIRE(!machine.Fits(Program{Genome(1)}));
  std::array<unsigned char, sizeof(Machine)> bytes{};
  std::memcpy(bytes.data(), &machine, sizeof machine);
  int num_refused = 0;
  for (std::size_t bit = 0; bit < 8 * sizeof(Machine); ++bit) {
    auto broken = bytes;
    broken.at(bit / 8) ^= static_cast<unsigned char>(1U << bit % 8);
    Machine copy;
    std::memcpy(&copy, broken.data(), sizeof copy);
    if (!copy.Fits(program)) {
      ++num_refused;
      continue;
    }
    for (unsigned slot = 0; slot < Machine::max_cores; ++slot) {
      const Machine::Core& core = copy.GetCore(slot);
      REQUIRE((!copy.IsAlive(slot) || (core.call_depth <= Machine::max_call_depth && core.facing < num_facings)));
    }
    copy.Run(program, 200, cell);  // stays within bounds; the sanitizers check it
  }
  REQUIRE(num_refused > 200);
}

TEST_CASE("a copy of a machine goes on as the machine does, and all platforms agree", "[digital_evolution]") {
  std::uint64_t hash = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Program program{RandomGenome(seed, 500)};
    Machine machine;
    RecordingCell cell;
    const auto run = [&program](Machine& mine, RecordingCell& its_cell, unsigned rounds) {
      for (unsigned round = 0; round < rounds; ++round) {
        mine.Signal(program, netuit::MixBits(round % 6), round % 4, {static_cast<std::int32_t>(round), 2, 3});
        mine.Run(program, 37, its_cell);
        if (round % 16 == 0) mine.Decay();
      }
    };
    run(machine, cell, 100);
    Machine copy = machine;
    RecordingCell copied_cell = cell;
    run(machine, cell, 100);
    run(copy, copied_cell, 100);
    REQUIRE(copy == machine);
    REQUIRE(copied_cell.trace == cell.trace);
    hash = netuit::MixBits(hash + TagOf(cell.trace));
  }
  REQUIRE(hash == 0xd97c79beefeeda16U);
}
