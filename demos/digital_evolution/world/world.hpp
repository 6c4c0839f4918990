#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <netuit/graph/graph.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/field.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/schedule.hpp>
#include <ranges>
#include <string>
#include <vector>

#include <uit/team/team.hpp>

#include "demos/digital_evolution/world/birth.hpp"
#include "demos/digital_evolution/world/founding.hpp"
#include "demos/digital_evolution/world/place_codec.hpp"
#include "demos/digital_evolution/world/rules.hpp"
#include "demos/digital_evolution/world/layers.hpp"

namespace digital_evolution {

/// The cells of this process, on a torus: each node of the mesh is a place for one.
///
///     World world{team, netuit::Torus(60, 60), {.depth = world_depth}, rules, seed};
///     world.Found({.ancestor = AncestorGenome()});
///     netuit::RunReport report = world.Run(netuit::Free{.duration = 60s});
///     netuit::SaveCheckpoint(world.GetMesh(), "world.ckpt");
///
/// In mode 0 the state depends only on rules, founding, seed and number of updates, and not on processes, threads and
/// placement. Two runs then equal one run if the first has a multiple of 16 updates. In every mode, a run in parts loses
/// nothing, with or without saving and loading in between.
class World {
 public:
  /// Collective. An empty world, to be founded or loaded. Throws uit::InputError if some node does not have four neighbours.
  World(const uit::Team& team, const netuit::Graph& torus, const netuit::MeshOptions& options, Rules rules, std::uint64_t seed,
        Hooks hooks = {});

  /// Collective. Adds the founders, and shows them to their neighbours by one synchronous update that does nothing else.
  void Found(const Founding& founding);
  /// Collective. Takes cells, messages and age from a checkpoint of the mesh. Throws uit::InputError on every process if it is of
  /// another mesh, or invalid. If the rules differ from those before, a cell whose program changes starts it from the beginning.
  void Load(const std::string& folder);

  /// Collective. Runs all cells; the age of the world grows by the updates made. Messages in flight at the end wait for the next
  /// run.
  netuit::RunReport Run(const netuit::RunPlan& plan, const netuit::RunOptions& options = {});
  /// The same, by any schedule.
  template <netuit::ScheduleValue S>
  netuit::RunReport Run(const S& schedule, const netuit::RunOptions& options = {}) {
    return Run(schedule.MakePlan(), options);
  }

  /// The mesh of the world.
  netuit::Mesh& GetMesh() { return mesh_; }
  /// The mesh of the world.
  const netuit::Mesh& GetMesh() const { return mesh_; }
  /// The age of the world in updates: the largest number of updates of any worker.
  std::uint64_t Age() const { return mesh_.NumUpdates(); }
  /// Of the whole world.
  const Rules& GetRules() const { return rules_; }
  /// Nodes of this process, numbered as those of the mesh.
  std::size_t NumPlaces() const { return slots_.size(); }
  /// A node of this process. During a run only its worker may call this.
  const Place& At(std::size_t local) const { return places_.AtSlot(slots_[local]); }
  /// Some nodes of this process. During a run a worker may access only its own.
  auto Places(std::size_t first, std::size_t count) const {
    return std::views::iota(first, first + count) |
           std::views::transform([this](std::size_t local) -> const Place& { return At(local); });
  }
  /// All of them.
  auto Places() const { return Places(0, NumPlaces()); }

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
    for (const Place& place : Places()) sum += place.cell.stockpile;
    return sum;
  }
  /// Calls `visit(place, message)` for each birth in flight to a node of this process, between runs.
  template <std::invocable<const Place&, const std::vector<std::uint32_t>&> F>
  void ForEachUnborn(F&& visit) const {
    mesh_.Visit([&](const netuit::Node& node) {
      const auto visit_birth = [&](const std::vector<std::uint32_t>& words) { visit(places_[node], words); };
      for (const netuit::InEdge edge : node.In(layers_.mail)) layers_.spawn.ForEachUnread(edge, visit_birth);
    });
  }
  /// The resource in transfers to nodes of this process, between runs.
  std::int64_t Transferred() const {
    std::int64_t sum = 0;
    mesh_.Visit([&](const netuit::Node& node) { sum += TransferredTo(node); });
    return sum;
  }
  /// The resource in flight to nodes of this process, between runs: in transfers, and in births.
  std::int64_t UnderWay() const {
    std::int64_t sum = Transferred();
    ForEachUnborn([&](const Place&, const std::vector<std::uint32_t>& words) { sum += EndowmentOf(words); });
    return sum;
  }
  /// This process's part of a hash of the whole state, between runs. The sum over processes, modulo 2^64, is the hash of the
  /// world, for any placement.
  std::uint64_t StateHash() const;

 private:
  std::int64_t TransferredTo(const netuit::Node& node) const {
    std::int64_t sum = 0;
    for (const netuit::InEdge edge : node.In())  // several sums, if one would overflow
      layers_.transfer.ForEachUnread(edge, [&](Resource amount) { sum += amount; });
    return sum;
  }
  /// Whether the messages to nodes of this process can have been sent by cells. Those of a checkpoint may not.
  bool AreMessagesSound() const;

  netuit::Mesh mesh_;
  Layers layers_;
  netuit::Field<Place> places_;
  Rules rules_;
  std::uint64_t seed_;
  Hooks hooks_;
  std::vector<std::size_t> slots_;                      // of the nodes
  std::vector<std::unique_ptr<WorkerRecord>> workers_;  // by thread
};

}  // namespace digital_evolution
