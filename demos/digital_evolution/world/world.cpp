#include "demos/digital_evolution/world/world.hpp"

#include <cstddef>
#include <cstdint>
#include <netuit/netuit.hpp>

#include "demos/digital_evolution/world/arrivals.hpp"
#include "demos/digital_evolution/world/site.hpp"
#include "demos/digital_evolution/world/step.hpp"

template class netuit::TaggedMesh<digital_evolution::Spawn, digital_evolution::Transfer, digital_evolution::Talk,
                            digital_evolution::Environment, digital_evolution::Kinship>;

namespace digital_evolution {

namespace {

void PrefetchPlace(const Place& place) {
  const char* bytes = reinterpret_cast<const char*>(&place);
  for (std::size_t at = 0; at < sizeof(Place); at += 64) __builtin_prefetch(bytes + at, 1);
}

}  // namespace

netuit::RunReport World::Run(const netuit::RunOptions& options) {
  const std::uint64_t first = age_;
  const auto update = [this, first]<typename N>(N& node) {
    const std::size_t index = node.Index();
    Place& place = places_[index];
    if (index + 1 < places_.size()) PrefetchPlace(places_[index + 1]);
    WorkerRecord& worker = *workers_[place.worker];
    const std::uint64_t age = first + node.Update();
    worker.age = age + 1;
    Site<N> site{.node = node,
                 .place = place,
                 .worker = worker,
                 .rules = rules_,
                 .hooks = hooks_,
                 .age = age,
                 .num_nodes = mesh_.NumNodes(),
                 .random = netuit::NodeRandom{seed_, place.id, age}};
    Step(site);
  };
  const auto collect = [this](auto& node) { CollectMail(node, places_[node.Index()].mail); };
  netuit::RunReport report = netuit::Run(mesh_, options, update, collect);
  if (report.stopped_by != netuit::StopReason::peer_lost) age_ = OldestAge();
  return report;
}

void World::Announce() {
  const netuit::RunOptions once{.mode = netuit::AsyncMode::every_update, .num_updates = 1, .stops_on_signal = false};
  netuit::Run(mesh_, once, [this](auto& node) {
    const Place& place = places_[node.Index()];
    node.template Out<Environment>().TryPut(place.shown);
    node.template Out<Kinship>().TryPut(place.told);
  });
}

}  // namespace digital_evolution
