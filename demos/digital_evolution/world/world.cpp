#include "demos/digital_evolution/world/world.hpp"

#include <cstddef>
#include <cstdint>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node.hpp>
#include <netuit/mesh/node_random.hpp>
#include <netuit/run/run.hpp>
#include <netuit/run/schedules.hpp>

#include "demos/digital_evolution/world/arrivals.hpp"
#include "demos/digital_evolution/world/site.hpp"
#include "demos/digital_evolution/world/step.hpp"

namespace digital_evolution {

namespace {

void PrefetchPlace(const Place& place) {
  const char* bytes = reinterpret_cast<const char*>(&place);
  for (std::size_t at = 0; at < sizeof(Place); at += 64) __builtin_prefetch(bytes + at, 1);
}

}  // namespace

netuit::RunReport World::Run(const netuit::RunPlan& plan, const netuit::RunOptions& options) {
  const std::uint64_t first = age_;
  const auto update = [this, first](netuit::Node& node) {
    const std::size_t index = node.Index();
    Place& place = places_[index];
    if (index + 1 < places_.size()) PrefetchPlace(places_[index + 1]);
    WorkerRecord& worker = *workers_[place.worker];
    const std::uint64_t age = first + node.Update();
    worker.age = age + 1;
    Site site{.node = node,
              .layers = layers_,
              .place = place,
              .worker = worker,
              .rules = rules_,
              .hooks = hooks_,
              .age = age,
              .num_nodes = mesh_.NumNodes(),
              .random = netuit::NodeRandom{seed_, place.id, age}};
    Step(site);
  };
  netuit::RunReport report = mesh_.Run(plan, update, options);
  if (report.stopped_by == netuit::StopReason::peer_lost) return report;
  mesh_.Visit([this](netuit::Node& node) { CollectMail(node, layers_, places_[node.Index()].mail); });
  age_ = OldestAge();
  return report;
}

void World::Announce() {
  const auto show = [this](netuit::Node& node) {
    const Place& place = places_[node.Index()];
    layers_.environment[node] = place.shown;
    layers_.kinship[node] = place.told;
  };
  mesh_.Run(netuit::EveryUpdate{.updates = 1}, show, {.stops_on_signal = false});
}

}  // namespace digital_evolution
