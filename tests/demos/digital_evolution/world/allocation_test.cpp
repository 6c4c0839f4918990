#include <chrono>
#include <cstddef>
#include <cstdint>
#include <netuit/graph/topologies.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/schedules.hpp>

#include "tests/demos/digital_evolution/world/worlds.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/counted_memory.hpp"

using namespace digital_evolution;
using namespace digital_evolution::testing;

TEST_CASE("cells that share, talk and harvest, but do not bear, allocate nothing") {
  const auto topology = netuit::MakeTorus(8, 8);
  Rules rules = BusyRules();
  rules.max_age = 100'000;
  rules.machine.knocked_out = {InstructionClass::reproduction, InstructionClass::apoptosis};
  for (const auto& plan : {netuit::EveryUpdate{.updates = 400}.MakePlan(), netuit::Free{.updates = 400}.MakePlan()}) {
    Scene scene{topology, netuit::PlaceContiguous(topology, {.processes = 1, .threads = 1}), {}, rules, 1};
    scene.world.Found({.ancestor = BusyGenome()});
    constexpr std::uint64_t warm = 64;
    std::size_t num_before = 0;
    std::size_t num_after = 0;
    std::uint64_t num_seen = 0;
    netuit::RunOptions options;
    options.sample_interval = std::chrono::nanoseconds(1);
    options.on_sample = [&](const netuit::Sample& sample) {
      num_after = uit::testing::num_allocations;
      if (sample.num_updates < warm) num_before = num_after;
      else ++num_seen;
    };
    scene.world.Run(plan, options);
    CHECK(num_after == num_before);
    CHECK(num_seen >= 400 - warm);
    const Counters counters = scene.world.SumCounters();
    CHECK(counters.packets_heeded + counters.packets_received > 1000);
    CHECK(counters.transfers_strangers > 1000);
    CHECK(counters.waves_harvested > 100);
  }
}
