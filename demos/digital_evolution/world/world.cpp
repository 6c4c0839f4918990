#include "demos/digital_evolution/world/world.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <netuit/graph/graph.hpp>
#include <netuit/graph/random_stream.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node.hpp>
#include <netuit/mesh/node_random.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/run/run.hpp>
#include <netuit/run/schedules.hpp>
#include <utility>
#include <vector>

#include <uit/support/error.hpp>
#include <uit/team/team.hpp>

#include "demos/digital_evolution/world/arrivals.hpp"
#include "demos/digital_evolution/world/birth.hpp"
#include "demos/digital_evolution/world/cell.hpp"
#include "demos/digital_evolution/world/founding.hpp"
#include "demos/digital_evolution/world/layers.hpp"
#include "demos/digital_evolution/world/rules.hpp"
#include "demos/digital_evolution/world/site.hpp"
#include "demos/digital_evolution/world/step.hpp"

namespace digital_evolution {

namespace {

void PrefetchPlace(const Place& place) {
  const char* bytes = reinterpret_cast<const char*>(&place);
  for (std::size_t at = 0; at < sizeof(Place); at += 64) __builtin_prefetch(bytes + at, 1);
}

}  // namespace

Layers::Layers(netuit::Mesh& mesh)
    : view(mesh.GetNetwork("view")),
      mail(mesh.GetNetwork("mail")),
      spawn(mesh.AddChannels<std::vector<std::uint32_t>, detail::every_aggregated>(mail)),
      transfer(mesh.AddChannels<Resource, detail::sum_pooled>()),
      talk(mesh.AddChannels<Packet, detail::every_aggregated>(mail)),
      environment(mesh.AddPublishedField<State>({}, {view})),
      kinship(mesh.AddPublishedField<KinSignal>({}, {netuit::Network{}})) {}

World::World(const uit::Team& team, const netuit::Graph& torus, const netuit::MeshOptions& options, Rules rules,
             std::uint64_t seed, Hooks hooks)
    : mesh_(team, WorldNetworks(torus), options),
      layers_(mesh_),
      rules_(std::move(rules)),
      seed_(seed),
      hooks_(std::move(hooks)),
      places_(mesh_.NumLocalNodes()) {
  if (mesh_.NumEdges() != netuit::EdgeId{mesh_.NumNodes()} * num_facings * mesh_.NumNetworks())
    throw uit::InputError("a world is a torus of at least 3 x 3 nodes, each with 4 neighbours");
  for (std::uint32_t worker = 0; worker < mesh_.NumThreads(); ++worker) {
    workers_.push_back(std::make_unique<WorkerRecord>(rules_.machine));
    const netuit::Partition& partition = *mesh_.Partitions()[worker];
    for (std::size_t node = 0; node < partition.graph.nodes.size(); ++node) {
      places_[partition.first_local + node].id = partition.graph.nodes[node];
      places_[partition.first_local + node].worker = worker;
    }
  }
}

void World::Found(const Founding& founding) {
  for (Place& place : places_) {
    const auto founder = FounderOf(founding, seed_, place.id, mesh_.NumNodes());
    if (!founder) continue;
    netuit::RandomStream random{seed_, place.id};
    const std::uint32_t twice_stockpile = 2 * static_cast<std::uint32_t>(founding.stockpile);
    const Birth birth{.kin = random.Next(),
                      .taxon = *founder,
                      .endowment = static_cast<Resource>(random.Below(twice_stockpile + 1)),
                      .founder = *founder};
    WorkerRecord& worker = *workers_[place.worker];
    place.program = worker.shelf.Find(*founder == 0 ? founding.ancestor : *founding.rival);
    const auto chance = static_cast<std::uint32_t>(random.Next());
    place.cell = MakeCell(birth, place.program->Hash(), place.program->GetGenome().size(), -1, chance);
    worker.ledger.initial += birth.endowment;
    place.shown = place.cell.state;
    place.told = place.cell.Signal();
  }
  Announce();
}

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
