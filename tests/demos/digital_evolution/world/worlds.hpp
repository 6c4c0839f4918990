#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <netuit/graph/topologies.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/schedules.hpp>
#include <sstream>
#include <string>
#include <uit/team/team.hpp>
#include <uit/link/world.hpp>
#include <utility>

#include "demos/digital_evolution/world/ancestor.hpp"
#include "demos/digital_evolution/world/world.hpp"

namespace digital_evolution::testing {

/// Parses a genome from text.
inline Genome GenomeOf(const std::string& text) {
  std::istringstream stream{text};
  return ParseGenome(stream, "test", world_names);
}

/// A genome that uses most operations, some of them at random.
inline Genome BusyGenome() {
  return GenomeOf(R"(
module @heartbeat
  share_some
  random r0
  send @hello
  broadcast @hello
  set r1 64
  mod r0 r0 r1
  jump_if r0 @live
  mark_heir
  share_half
  die
  label @live
module @can_afford
  set r1 100
  endow r1
  sense_self r3 is_expired
  jump_if r3 @found
  spawn_kin
  turn
  spawn_new
  stop
  label @found
  spawn_new
module @beside_stranger
  admit
  set r1 20
  pause_spawn r1
module @beside_kin
  share_some
  refuse
module @hello
  show r5 0
  sense_neighbor r0 stockpile
  promote r0 @wave
  show r0 1
module @wave
  inc r0
  show r0 2
)");
}

/// The same genome, extended to the greatest length. The added instructions are never executed.
inline Genome LongGenome() {
  Genome genome = BusyGenome();
  genome.push_back({.operation = Operation::stop});
  genome.resize(max_genome_length);
  return genome;
}

/// A single instruction, which bears offspring whenever it can.
inline Genome ShortGenome() {
  Genome genome(min_genome_length, {.operation = Operation::spawn_new});
  genome.front().SetTag(TagOf("heartbeat"));
  return genome;
}

/// Rules under which much happens in few updates.
inline Rules BusyRules() {
  Rules rules;
  rules.inflow = ToResource(0.05);
  rules.wave.start = 1U << 26U;
  rules.max_age = 150;
  rules.kin_span = 60;
  rules.mutation.per_birth = 0.3;
  return rules;
}

/// Returns one thread for each thread of a process in the placement.
inline uit::Team TeamFor(const netuit::Placement& placement, const uit::World& processes) {
  return uit::Team{processes, {.threads = static_cast<std::uint32_t>(placement.Shape().threads)}};
}

/// A world for a test.
struct Scene {
  Scene(const netuit::Topology& topology, const netuit::Placement& placement, const uit::World& processes,
        const Rules& rules, std::uint64_t seed, Hooks hooks = {}, std::size_t depth = world_depth)
      : world(TeamFor(placement, processes), topology, {.placement = placement, .depth = depth}, rules, seed, std::move(hooks)) {}

  /// Makes that many updates in mode 0.
  netuit::RunReport RunInStep(std::uint64_t num_updates) {
    return world.Run(netuit::EveryUpdate{.updates = num_updates});
  }

  World world;
};

/// Rules without inflow, decay or mutation.
inline Rules QuietRules() {
  Rules rules;
  rules.inflow = 0;
  rules.decay_shift = 31;
  rules.harvest = Harvest::even;
  rules.even_harvest = 0;
  rules.mutation.per_birth = 0;
  return rules;
}

inline constexpr Resource plenty = 100 * one_resource;

/// A torus with `num_founders` cells; 0: one at every node.
class Solitude : public Scene {
 public:
  Solitude(const std::string& genome, const Rules& rules, netuit::NodeId num_founders = 1, std::uint64_t seed = 1)
      : Scene(netuit::MakeTorus(5, 5), netuit::PlaceContiguous(netuit::MakeTorus(5, 5), {.processes = 1, .threads = 1}), {},
              rules, seed) {
    world.Found({.ancestor = GenomeOf(genome), .num_founders = num_founders, .stockpile = plenty});
  }
  const Cell& CellAt(std::size_t node) const { return world.At(node).cell; }
  std::size_t NumAlive() const {
    const auto is_alive = [](const Place& place) { return place.cell.IsAlive(); };
    return static_cast<std::size_t>(std::ranges::count_if(world.Places(), is_alive));
  }
};

// The neighbours of node 0 in a torus of 5 x 5, by facing.
inline constexpr std::size_t left = 4;
inline constexpr std::size_t right = 1;

/// A program that bears kin to its left whenever it can.
inline const std::string bears_left = R"(
module @heartbeat
  set r0 0
  face r0
  set r1 64
  endow r1
  spawn_kin
)";

}  // namespace digital_evolution::testing
