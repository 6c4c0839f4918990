#include "demos/digital_evolution/world/world.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <netuit/checkpoint/checkpoint.hpp>
#include <netuit/checkpoint/digest.hpp>
#include <netuit/graph/graph.hpp>
#include <netuit/graph/random_stream.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node.hpp>
#include <netuit/mesh/node_random.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/run/run.hpp>
#include <netuit/run/schedules.hpp>
#include <string>
#include <utility>
#include <vector>

#include <uit/codec/codec.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>
#include <uit/team/team.hpp>

#include "demos/digital_evolution/world/birth.hpp"
#include "demos/digital_evolution/world/cell.hpp"
#include "demos/digital_evolution/world/founding.hpp"
#include "demos/digital_evolution/world/layers.hpp"
#include "demos/digital_evolution/world/place_codec.hpp"
#include "demos/digital_evolution/world/rules.hpp"
#include "demos/digital_evolution/world/site.hpp"
#include "demos/digital_evolution/world/step.hpp"

namespace digital_evolution {

namespace {

void PrefetchPlace(const Place* place) {
  const char* bytes = reinterpret_cast<const char*>(place);
  for (std::size_t at = 0; at < sizeof(Place); at += 64) __builtin_prefetch(bytes + at, 1);
}

template <uit::TriviallyCopyable V>
void Append(uit::Bytes& bytes, const V& value) {
  const uit::ByteView more = uit::BytesOf(value);
  bytes.insert(bytes.end(), more.begin(), more.end());
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
      places_(mesh_.AddField<Place>()),
      rules_(std::move(rules)),
      seed_(seed),
      hooks_(std::move(hooks)) {
  if (mesh_.NumEdges() != netuit::EdgeId{mesh_.NumNodes()} * num_facings * mesh_.NumNetworks())
    throw uit::InputError("a world is a torus of at least 3 x 3 nodes, each with 4 neighbours");
  mesh_.SetName(layers_.environment, "environment");
  mesh_.SetName(layers_.kinship, "kinship");
  mesh_.SetName(places_, "places");
  mesh_.ForEachNode([&](std::size_t, std::size_t slot, netuit::NodeId id) {
    slots_.push_back(slot);
    places_.AtSlot(slot).id = id;
  });
  for (std::uint32_t worker = 0; worker < mesh_.NumThreads(); ++worker) {
    workers_.push_back(std::make_unique<WorkerRecord>(rules_.machine));
    const netuit::Partition& partition = *mesh_.Partitions()[worker];
    for (std::size_t node = 0; node < partition.NumNodes(); ++node)
      places_.AtSlot(slots_[partition.first_local + node]).worker = worker;
  }
}

void World::Found(const Founding& founding) {
  mesh_.Run(netuit::EveryUpdate{.updates = 1}, [&](netuit::Node& node) {
    Place& place = places_[node];
    const auto founder = FounderOf(founding, seed_, place.id, mesh_.NumNodes());
    if (!founder) return;
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
    layers_.environment[node] = place.cell.state;
    layers_.kinship[node] = place.cell.Signal();
  }, {.stops_on_signal = false});
  mesh_.SetNumUpdates(0);
}

void World::Load(const std::string& folder) {
  netuit::LoadCheckpoint(mesh_, folder);
  for (const std::size_t slot : slots_) {
    Place& place = places_.AtSlot(slot);
    if (!place.cell.IsAlive()) continue;
    place.program = workers_[place.worker]->shelf.Find(place.program->GetGenome());
    if (!place.cell.machine.Fits(rules_.common_program ? *rules_.common_program : *place.program)) place.cell.machine = Machine{};
  }
  mesh_.GetWorld().Agree<uit::InputError>(AreMessagesSound() ? "" : folder + ": has a message that no cell sends");
}

netuit::RunReport World::Run(const netuit::RunPlan& plan, const netuit::RunOptions& options) {
  const std::uint64_t first = Age();
  const auto update = [this, first](netuit::Node& node) {
    Place& place = places_[node];
    PrefetchPlace(&place + 1);
    const std::uint64_t age = first + node.Update();
    Site site{.node = node,
              .layers = layers_,
              .place = place,
              .worker = *workers_[place.worker],
              .rules = rules_,
              .hooks = hooks_,
              .age = age,
              .num_nodes = mesh_.NumNodes(),
              .random = netuit::NodeRandom{seed_, place.id, age}};
    Step(site);
  };
  return mesh_.Run(plan, update, options);
}

std::uint64_t World::StateHash() const {
  std::uint64_t sum = 0;
  uit::Bytes bytes;
  mesh_.Visit([&](const netuit::Node& node) {
    const Place& place = places_[node];
    const PlaceCodec& codec = uit::codec_for<Place>;
    bytes.resize(codec.Size(place));
    codec.Encode(place, bytes);
    Append(bytes, layers_.environment[node]);
    Append(bytes, layers_.kinship[node]);
    Append(bytes, TransferredTo(node));
    const netuit::InEdges<> edges = node.In(layers_.mail);
    for (std::uint32_t facing = 0; facing < edges.size(); ++facing) {
      layers_.spawn.ForEachUnread(edges[facing], [&](const std::vector<std::uint32_t>& words) {
        Append(bytes, facing);
        for (const std::uint32_t word : words) Append(bytes, word);
      });
      layers_.talk.ForEachUnread(edges[facing], [&](const Packet& packet) {
        Append(bytes, facing);
        Append(bytes, packet);
      });
    }
    sum += netuit::DigestOfValue(node.Id(), bytes);
  });
  return sum;
}

bool World::AreMessagesSound() const {
  bool are_sound = true;
  mesh_.Visit([&](const netuit::Node& node) {
    for (const netuit::InEdge edge : node.In())
      layers_.transfer.ForEachUnread(edge, [&](Resource amount) { are_sound &= amount >= 0; });
  });
  ForEachUnborn([&](const Place&, const std::vector<std::uint32_t>& words) { are_sound &= IsSound(words); });
  return are_sound;
}

}  // namespace digital_evolution
