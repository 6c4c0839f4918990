#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <netuit/balance/balancer.hpp>
#include <netuit/balance/load_meter.hpp>
#include <netuit/checkpoint/mesh_state.hpp>
#include <netuit/checkpoint/move_state.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/gather.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/network_part.hpp>
#include <netuit/mesh/on_root.hpp>
#include <netuit/placement/diffusion.hpp>
#include <netuit/placement/place_near.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/run_in_parts.hpp>
#include <netuit/run/run_options.hpp>
#include <uit/config.hpp>
#include <uit/link/world.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>

namespace netuit::detail {

/// Collects the edges of all networks on rank 0, each with its weight per update. Collective.
UIT_DEFINE std::vector<Edge> GatherEdges(const Mesh& mesh) {
  std::vector<Edge> mine;
  for (std::uint32_t network = 0; network < mesh.NumNetworks(); ++network) {
    mesh.ForEachPart({network}, [&](const NetworkPart& part) {
      const WorkerGraph& graph = part.graph;
      for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
        for (std::size_t output = graph.first_out[node]; output < graph.first_out[node + 1]; ++output) {
          const double weight = graph.out_weights.empty() ? 1.0 : graph.out_weights[output];
          mine.push_back({graph.nodes[node], graph.targets[output], weight / static_cast<double>(part.period)});
        }
      }
    });
  }
  return mesh.GetWorld().GatherValues<Edge>(mine);
}

UIT_DEFINE RunReport Balancer::RunAll(const RunPlan& plan, const RunOptions& options) {
  CheckReplaceable(keeper_.GetMesh(), options, "balanced");
  return RunInParts(*this, plan, options, {.every = options_.window, .every_updates = options_.window_updates});
}

UIT_DEFINE RunReport Balancer::Run(const RunPlan& plan, const RunOptions& options) {
  if (!meter_) meter_ = std::make_unique<LoadMeter>(keeper_.GetMesh(), options_.measured_every);
  RunReport report = keeper_.RunPart(plan, options, *meter_);
  const double slowest = std::ranges::min(report.workers, {}, &WorkerReport::Rate).Rate();
  update_ = std::chrono::duration<double>(slowest > 0 ? 1 / slowest : 0);
  earlier_.AddTo(report);
  accounts_ = EarlierAccounts(report.workers);
  return report;
}

UIT_DEFINE Balancer::Decision Balancer::NoteWindow() {
  struct Entry {
    double load = 0;
    std::uint32_t worker = 0;
  };
  Mesh& mesh = keeper_.GetMesh();
  const std::optional<std::vector<double>> told = keeper_.Loads();
  const std::vector<double> loads = told ? *told : meter_->Take();
  std::vector<Entry> entries(mesh.NumLocalNodes());
  for (const auto& partition : mesh.Partitions()) {
    for (std::size_t node = 0; node < partition->NumNodes(); ++node) {
      const std::size_t local = partition->first_local + node;
      entries[local] = {loads[local], partition->graph.worker};
    }
  }
  const std::vector<Entry> all = GatherByNode<Entry>(mesh, entries);
  const Decision mine = OnRoot(mesh.GetWorld(), [&] {
    std::vector<double> by_node;
    std::vector<std::uint32_t> workers;
    for (const Entry& entry : all) by_node.push_back(entry.load), workers.push_back(entry.worker);
    for (const double load : by_node)
      if (!(load >= 0)) throw uit::InputError("the load of a node must be a number that is not negative");
    present_ = Placement({.processes = mesh.GetWorld().Size(), .threads = mesh.NumThreads()}, std::move(workers));
    const double imbalance = Imbalance(by_node, present_);
    const bool moves = rule_.Note(std::move(by_node), present_);
    return Decision{moves, imbalance, update_};
  });
  return mesh.GetWorld().BroadcastValue(mine);
}

UIT_DEFINE void Balancer::Propose() {
  Mesh& mesh = keeper_.GetMesh();
  std::vector<Edge> edges = GatherEdges(mesh);
  next_.reset();
  OnRoot(mesh.GetWorld(), [&] {
    const std::vector<double> loads = rule_.Loads();
    const Topology topology(mesh.NumNodes(), std::move(edges), {}, loads);
    Placement next = PlaceNear(topology, present_, options_.threshold);
    if (!rule_.Accepts(present_, next)) {
      rule_.Decline();
      return false;
    }
    move_ = {.num_updates = mesh.NumUpdates(),
             .imbalance_before = Imbalance(loads, present_),
             .imbalance_after = Imbalance(loads, next),
             .update_before = update_};
    for (NodeId node = 0; node < mesh.NumNodes(); ++node)
      move_.num_nodes += present_.WorkerOf(node) != next.WorkerOf(node) ? 1U : 0U;
    next_ = std::move(next);
    return true;
  });
}

UIT_DEFINE void Balancer::Move() {
  std::uint64_t num_bytes = 0;
  keeper_.Replace(next_, [&](Mesh& from, Mesh& to) {
    num_bytes = MoveState(from, to);
    for (std::size_t thread = 0; thread < to.NumThreads(); ++thread)  // no worker need learn anew how long to spin
      to.Partitions()[thread]->spin_habit = from.Partitions()[thread]->spin_habit;
  });
  meter_.reset();
  earlier_ = accounts_;
  if (next_) rule_.Move(present_, *next_);
  const std::vector<std::uint64_t> all_bytes = keeper_.GetMesh().GetWorld().AllGatherValue(num_bytes);
  move_.num_bytes = std::accumulate(all_bytes.begin(), all_bytes.end(), std::uint64_t{0});
}

UIT_DEFINE void Balancer::EndPart(bool is_last) {
  const uit::World world = keeper_.GetMesh().GetWorld();
  const Decision window = NoteWindow();
  last_imbalance_ = window.imbalance;
  if (!moves_.empty() && moves_.back().update_after.count() == 0) moves_.back().update_after = window.update;
  if (is_last || !window.moves) return;
  const uit::TimePoint begin = uit::Now();
  Propose();
  if (!world.BroadcastValue(next_.has_value())) return;
  Move();
  move_.took = uit::Now() - begin;
  moves_.push_back(world.BroadcastValue(move_));
}

}  // namespace netuit::detail
