// Evolution occurs, and natural selection causes it.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <netuit/graph/topologies.hpp>
#include <netuit/placement/placement.hpp>

#include "tests/demos/digital_evolution/world/worlds.hpp"
#include "tests/support/catch.hpp"

using namespace digital_evolution;
using namespace digital_evolution::testing;

namespace {

constexpr std::uint64_t num_updates = 10'000;

Scene MakeScene(const Rules& rules, std::uint64_t seed) {
  const auto topology = netuit::MakeTorus(30, 30);
  return Scene{topology, netuit::PlaceContiguous(topology, {.processes = 1, .threads = 1}), {}, rules, seed};
}

/// Returns the most common genome at the end of a run.
Genome Evolve(const Rules& rules, std::uint64_t seed) {
  Scene scene = MakeScene(rules, seed);
  scene.world.Found({.ancestor = AncestorGenome()});
  scene.RunInStep(num_updates);
  std::map<std::uint64_t, std::pair<int, const Program*>> by_hash;
  for (const Place& place : scene.world.Places()) {
    if (!place.cell.IsAlive()) continue;
    auto& [count, program] = by_hash[place.program->Hash()];
    ++count;
    program = place.program.get();
  }
  const auto most = std::ranges::max_element(by_hash, {}, [](const auto& entry) { return entry.second.first; });
  return most->second.second->GetGenome();
}

/// Returns the share of cells that descend from a genome after some time, without mutation. Its share was one half at first.
double PartAgainstAncestor(const Genome& genome, std::uint64_t seed) {
  Rules rules;
  rules.mutation.per_birth = 0;
  Scene scene = MakeScene(rules, seed);
  scene.world.Found({.ancestor = AncestorGenome(), .rival = genome});
  scene.RunInStep(800);
  double num_rivals = 0;
  double num_alive = 0;
  for (const Place& place : scene.world.Places()) {
    num_alive += place.cell.IsAlive() ? 1 : 0;
    num_rivals += place.cell.IsAlive() && place.cell.founder == 1 ? 1 : 0;
  }
  CHECK(num_alive > 870);
  return num_rivals / num_alive;
}

}  // namespace

TEST_CASE("genomes evolve that drive the ancestor out") {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    CAPTURE(seed);
    const Genome evolved = Evolve(Rules{}, seed);
    CHECK(PartAgainstAncestor(evolved, 100 + seed) > 0.9);
  }
}

TEST_CASE("they do not where genomes mutate but do not matter") {
  Rules rules;
  rules.common_program = std::make_shared<const Program>(AncestorGenome(), rules.machine);
  double sum = 0;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Genome drifted = Evolve(rules, seed);
    CHECK(drifted != AncestorGenome());
    sum += PartAgainstAncestor(drifted, 100 + seed);
  }
  CHECK(sum / 3 < 0.7);
}

TEST_CASE("the ancestor fills the world, and bears about one offspring in 100 updates") {
  Rules rules;
  rules.mutation.per_birth = 0;
  Scene scene = MakeScene(rules, 1);
  scene.world.Found({.ancestor = AncestorGenome(), .num_founders = 9});
  scene.RunInStep(2'400);
  const auto is_alive = [](const Place& place) { return place.cell.IsAlive(); };
  const auto num_alive = std::ranges::count_if(scene.world.Places(), is_alive);
  CHECK(num_alive > 870);
  const std::uint64_t num_before = scene.world.SumCounters().Births();
  scene.RunInStep(800);
  const auto num_births = static_cast<double>(scene.world.SumCounters().Births() - num_before);
  CHECK(num_births / static_cast<double>(num_alive) / 8 == Approx(0.9).epsilon(0.25));
}
