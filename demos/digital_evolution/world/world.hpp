#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <netuit/graph/graph.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/schedule.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <uit/support/bytes.hpp>
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
/// In mode 0 the state depends only on rules, founding, seed and number of updates, and not on processes, threads and
/// placement. Two runs then equal one run if the first has a multiple of 16 updates. In every mode, a run in parts loses
/// nothing, with or without saving and loading in between.
class World {
 public:
  /// Collective. An empty world, to be founded or loaded. Throws uit::InputError if some node does not have four neighbours.
  World(const uit::Team& team, const netuit::Graph& torus, const netuit::MeshOptions& options, Rules rules, std::uint64_t seed,
        Hooks hooks = {});

  /// Collective. Adds the founders.
  void Found(const Founding& founding);

  /// Collective. Runs all cells; the age of the world grows by the updates made. Messages in flight at the end go into the mail
  /// of their places.
  netuit::RunReport Run(const netuit::RunPlan& plan, const netuit::RunOptions& options = {});
  /// The same, by any schedule.
  template <netuit::ScheduleValue S>
  netuit::RunReport Run(const S& schedule, const netuit::RunOptions& options = {}) {
    return Run(schedule.MakePlan(), options);
  }

  /// The mesh of the world.
  const netuit::Mesh& GetMesh() const { return mesh_; }
  /// The age of the world in updates: the largest number of updates of any worker.
  std::uint64_t Age() const { return age_; }
  /// Sets the age, for a world that continues from a checkpoint.
  void SetAge(std::uint64_t age) { age_ = age; }
  /// Of the whole world.
  const Rules& GetRules() const { return rules_; }
  /// Nodes of this process, numbered as those of the mesh.
  std::size_t NumPlaces() const { return places_.size(); }
  /// A node of this process. During a run only its worker may call this.
  const Place& At(std::size_t local) const { return places_[local]; }
  /// All nodes of this process. During a run a worker may access only its own.
  std::span<const Place> Places() const { return places_; }

  /// The counters of a thread of this process. During a run only that thread may call this.
  const Counters& GetCounters(std::uint32_t worker) const { return workers_[worker]->counters; }
  /// The ledger of a thread of this process. During a run only that thread may call this.
  const Ledger& GetLedger(std::uint32_t worker) const { return workers_[worker]->ledger; }
  /// For a world that continues from a checkpoint: adds earlier counts, on one worker of the whole world.
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
  /// The resource that cells of this process hold.
  std::int64_t Held() const {
    std::int64_t sum = 0;
    for (const Place& place : places_) sum += place.cell.stockpile;
    return sum;
  }
  /// The resource in flight to nodes of this process, between runs.
  std::int64_t UnderWay() const {
    std::int64_t sum = 0;
    for (const Place& place : places_) {
      sum += place.mail.transferred;
      for (const Mail::Offspring& offspring : place.mail.offspring) sum += EndowmentOf(offspring.words);
    }
    return sum;
  }

  /// Appends the whole state of a node. Between runs.
  void Save(std::size_t local, uit::Bytes& bytes) const { SavePlace(places_[local], bytes); }
  /// Reads the state that Save appended for the node with the same id. Throws uit::InputError if it is invalid. If the rules
  /// differ from those of Save, a cell whose program changes starts it from the beginning. Call Announce after all are loaded.
  void Load(std::size_t local, uit::ByteReader& reader) {
    Place& place = places_[local];
    LoadPlace(reader, workers_[place.worker]->shelf, place);
    if (!place.cell.IsAlive()) return;
    const Program& program = rules_.common_program ? *rules_.common_program : *place.program;
    if (!place.cell.machine.Fits(program)) place.cell.machine = Machine{};
  }
  /// Collective, between runs. Publishes the last shown state of each node to its neighbours, by one synchronous update that does
  /// nothing else.
  void Announce();

  /// This process's part of a hash of the whole state, between runs. The sum over processes, modulo 2^64, is the hash of the
  /// world, for any placement.
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
  /// Collective. Over all workers of the world.
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
