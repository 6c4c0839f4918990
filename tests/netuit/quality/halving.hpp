#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include <netuit/graph/small_world.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node_random.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run.hpp>
#include <uit/team/team.hpp>

#include "tests/netuit/run/odd_graph.hpp"
#include "tests/netuit/run/random_delays.hpp"

namespace netuit::testing {

/// A run drawn at random: its mode, its length, and how often its nodes pause.
struct RandomRun {
  AsyncMode mode = AsyncMode::no_barrier;
  ModeSettings settings{};
  std::uint64_t seed = 1;               // for the nodes that pause
  std::uint32_t straggler = 0;          // a worker whose nodes pause four times as often
  std::uint32_t one_in = 8;             // a node pauses in one of so many updates
  std::chrono::microseconds pause{0};

  /// Returns the plan for Mesh::Run.
  RunPlan MakePlan() const { return ScheduleOf(mode, settings); }
};

/// What the workers' counts of effective updates have promised in some runs.
struct Promises {
  std::uint64_t num_made = 0;       // one for each worker and run
  std::uint64_t num_broken = 0;
  std::uint64_t num_exact = 0;      // the worker has a node whose error is no less than promised
  std::uint64_t num_updates = 0;
  std::uint64_t num_effective = 0;  // updates

  Promises& operator+=(const Promises& other) {
    num_made += other.num_made;
    num_broken += other.num_broken;
    num_exact += other.num_exact;
    num_updates += other.num_updates;
    num_effective += other.num_effective;
    return *this;
  }
};

/// A contraction with factor 1/2 on a graph drawn at random. A node's update makes its error half of the largest that it sees, its
/// own or a neighbour's. All errors start at 1, so an error is 2^-n exactly if n is the least number of updates on any path that led
/// to it.
class Halving {
 public:
  /// Draws the graph, its period and delays, the placement, and the number of frames that may wait. At least one node per worker.
  Halving(const uit::Team& team, NodeRandom& random, bool shares_memory)
      : graph_(DrawGraph(random)),
        options_(DrawOptions(random)),
        placement_(PlaceRandom(graph_, {.processes = team.NumProcesses(), .threads = team.NumThreads()}, random())),
        mesh_(team, {{"all", graph_, options_}},
              {.placement = placement_, .num_slots = 1 + random.Below(3), .max_pace = random.Below(3), .shares_memory = shares_memory}) {}

  Mesh& GetMesh() { return mesh_; }

  /// Draws a run of one of some modes.
  RandomRun DrawRun(NodeRandom& random, std::span<const AsyncMode> modes) const {
    const std::uint32_t num_workers = placement_.Shape().Count();
    RandomRun run{.mode = modes[random.Below(static_cast<std::uint32_t>(modes.size()))], .seed = random()};
    run.straggler = random.Below(num_workers);
    run.one_in = graph_.NumNodes() / num_workers * (8U << (2 * random.Below(3)));  // so a worker, in one of 8, 32 or 128
    run.pause = std::chrono::microseconds(1 + random.Below(50));
    run.settings = {.updates = 20 + random.Below(21),
                    .span = std::chrono::microseconds(20 + random.Below(300)),
                    .period = std::chrono::microseconds(20 + random.Below(300))};
    if (run.mode == AsyncMode::no_barrier && random.Below(2) == 0)
      run.settings.slack = random.Below(4) == 0 ? automatic : random.Below(6);
    return run;
  }

  /// Collective. Sets all errors to 1, as all nodes see them.
  void Reset() {
    mesh_.Run(EveryUpdate{.updates = options_.period}, [this](Node& node) { error_[node] = 1; });
  }
  /// Updates a node in a run.
  void Update(Node& node, const RandomRun& run) {
    double largest = error_[node];
    if (node.IsDue()) {
      for (const auto edge : node.In()) largest = std::max(largest, error_[edge]);
    }
    error_[node] = largest / 2;
    const std::uint32_t one_in = placement_.WorkerOf(node.Id()) == run.straggler ? run.one_in / 4 : run.one_in;
    if (node.Random().Below(one_in) == 0) std::this_thread::sleep_for(run.pause);  // others may have the core meanwhile
  }
  /// Returns what the report of a run since Reset promises of this process's nodes.
  Promises Look(const RunReport& report) {
    std::vector<double> largest(placement_.Shape().threads);
    mesh_.Visit([&](Node& node) {
      double& of_worker = largest[placement_.Of(node.Id()).thread];
      of_worker = std::max(of_worker, error_[node]);
    });
    Promises promises;
    for (std::size_t thread = 0; thread < largest.size(); ++thread) {
      const WorkerReport& worker = report.workers[thread];  // on rank 0, too, its own come first
      const std::uint64_t num_effective = worker.effective_updates.value();
      const double promised = std::ldexp(1.0, -static_cast<int>(num_effective));
      promises += {.num_made = 1,
                   .num_broken = largest[thread] > promised ? 1U : 0U,
                   .num_exact = largest[thread] == promised ? 1U : 0U,
                   .num_updates = worker.num_updates,
                   .num_effective = num_effective};
    }
    return promises;
  }

 private:
  static Topology DrawGraph(NodeRandom& random) {
    const NodeId num_nodes = 16 + random.Below(49);
    return random.Below(2) == 0 ? MakeOddGraph(num_nodes, random()) : MakeSmallWorld(num_nodes, 4, 0.2, random());
  }
  static NetworkOptions DrawOptions(NodeRandom& random) {
    const std::uint32_t kind = random.Below(4);
    if (kind == 0) return {.period = 3};
    return kind == 1 ? NetworkOptions{.delays = RandomDelays(random(), 3)} : NetworkOptions{};
  }

  Topology graph_;
  NetworkOptions options_;
  Placement placement_;
  Mesh mesh_;
  PublishedField<double> error_ = mesh_.AddPublishedField<double>(1.0);
};

}  // namespace netuit::testing
