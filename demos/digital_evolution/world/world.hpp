#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <netuit/graph/graph.hpp>
#include <netuit/graph/random_stream.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/schedule.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>
#include <uit/team/team.hpp>

#include "demos/digital_evolution/world/founding.hpp"
#include "demos/digital_evolution/world/place_bytes.hpp"
#include "demos/digital_evolution/world/rules.hpp"
#include "demos/digital_evolution/world/layers.hpp"

namespace digital_evolution {

/// The cells of this process, on a torus: each node of the mesh is a place for one.
///
///     World world{team, netuit::Torus(60, 60), {.depth = world_depth}, rules, seed};
///     world.Found({.ancestor = AncestorGenome()});
///     netuit::RunReport report = world.Run(netuit::Free{.duration = 60s});
///
/// In mode 0 all that happens is a function of rules, founding, seed and number of updates, whatever processes, threads and
/// placement; to run in two parts is as good as in one if the first has a multiple of 16 updates. A run in parts, saved and
/// loaded in between or not, loses nothing in any mode.
class World {
 public:
  /// Empty, to be founded or loaded. Collective. Throws uit::InputError unless each node has four neighbours.
  World(const uit::Team& team, const netuit::Graph& torus, const netuit::MeshOptions& options, Rules rules, std::uint64_t seed,
        Hooks hooks = {})
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

  /// Lets founders live. Collective.
  void Found(const Founding& founding) {
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

  /// Runs all cells; the world grows older by the updates made. What is under way at the end is put into places' mail.
  /// Collective.
  netuit::RunReport Run(const netuit::RunPlan& plan, const netuit::RunOptions& options = {});
  /// The same, by any schedule.
  template <netuit::ScheduleValue S>
  netuit::RunReport Run(const S& schedule, const netuit::RunOptions& options = {}) {
    return Run(schedule.MakePlan(), options);
  }

  /// What the world lives on.
  const netuit::Mesh& GetMesh() const { return mesh_; }
  /// Updates that the world is old: the most that any worker has made.
  std::uint64_t Age() const { return age_; }
  /// For a world that goes on from a checkpoint.
  void SetAge(std::uint64_t age) { age_ = age; }
  /// Of the whole world.
  const Rules& GetRules() const { return rules_; }
  /// Nodes of this process, numbered as those of the mesh.
  std::size_t NumPlaces() const { return places_.size(); }
  /// A node of this process. During a run only by its worker.
  const Place& At(std::size_t local) const { return places_[local]; }
  /// All nodes of this process. During a run a worker looks only at its own.
  std::span<const Place> Places() const { return places_; }

  /// What has happened on a thread of this process. During a run only by that thread.
  const Counters& GetCounters(std::uint32_t worker) const { return workers_[worker]->counters; }
  /// Where resource went on a thread of this process. During a run only by that thread.
  const Ledger& GetLedger(std::uint32_t worker) const { return workers_[worker]->ledger; }
  /// For a world that goes on from a checkpoint: adds what happened before, on one worker of the whole world.
  void AddToRecords(const Ledger& ledger, const Counters& counters) {
    workers_.front()->ledger += ledger;
    workers_.front()->counters += counters;
  }
  /// Of all threads of this process, between runs.
  Ledger SumLedger() const {
    Ledger sum;
    for (const auto& worker : workers_) sum += worker->ledger;
    return sum;
  }
  /// Of all threads of this process, between runs.
  Counters SumCounters() const {
    Counters sum;
    for (const auto& worker : workers_) sum += worker->counters;
    return sum;
  }
  /// What cells of this process hold.
  std::int64_t Held() const {
    std::int64_t sum = 0;
    for (const Place& place : places_) sum += place.cell.stockpile;
    return sum;
  }
  /// What is under way to nodes of this process, between runs.
  std::int64_t UnderWay() const {
    std::int64_t sum = 0;
    for (const Place& place : places_) {
      sum += place.mail.transferred;
      for (const Mail::Offspring& offspring : place.mail.offspring) sum += EndowmentOf(offspring.words);
    }
    return sum;
  }

  /// Appends all there is to know of a node, between runs.
  void Save(std::size_t local, uit::Bytes& bytes) const { SavePlace(places_[local], bytes); }
  /// Reads what Save has appended for the node of the same number in the graph. Throws uit::InputError if that cannot be.
  /// Under other rules than those that it was saved under, a cell whose program is another begins it anew. When all are
  /// loaded, Announce.
  void Load(std::size_t local, uit::ByteReader& reader) {
    Place& place = places_[local];
    LoadPlace(reader, workers_[place.worker]->shelf, place);
    if (!place.cell.IsAlive()) return;
    const Program& program = rules_.common_program ? *rules_.common_program : *place.program;
    if (!place.cell.machine.Fits(program)) place.cell.machine = Machine{};
  }
  /// Lets nodes see of their neighbours what those have shown last, by an update in step that does nothing else. Collective,
  /// not during a run.
  void Announce();

  /// This process's part of a hash of everything between runs: summed over processes, modulo 2^64, it is that of the world,
  /// whatever nodes they have.
  std::uint64_t StateHash() const {
    std::uint64_t sum = 0;
    uit::Bytes bytes;
    for (const Place& place : places_) {
      bytes.clear();
      SavePlace(place, bytes);
      sum += HashOfPlace(place.id, bytes);
    }
    return sum;
  }

 private:
  /// Over all workers of the world. Collective.
  std::uint64_t OldestAge() const {
    std::uint64_t oldest = age_;
    for (const auto& worker : workers_) oldest = std::max(oldest, worker->age);
    return std::ranges::max(mesh_.GetWorld().AllGatherValue(oldest));
  }

  netuit::Mesh mesh_;
  Layers layers_;
  Rules rules_;
  std::uint64_t seed_;
  Hooks hooks_;
  std::vector<Place> places_;
  std::vector<std::unique_ptr<WorkerRecord>> workers_;  // by thread
  std::uint64_t age_ = 0;
};

}  // namespace digital_evolution
