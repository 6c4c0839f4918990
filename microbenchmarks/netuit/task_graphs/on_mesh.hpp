#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <netuit/graph/edge_delays.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/run.hpp>
#include <uit/team/team.hpp>

#include "microbenchmarks/support/machine.hpp"
#include "pattern.hpp"

namespace bench::task_graphs {

/// A mesh in mode 5 whose nodes are the tasks.
class OnMesh final : public System {
 public:
  OnMesh(const uit::Team& team, const Pattern& pattern, netuit::MeshOptions options = {})
      : mesh_{team, {{"tasks", GraphOf(pattern), {.delays = DelaysOf(pattern)}}}, Placed(team, std::move(options))},
        value_{mesh_.AddPublishedField<std::uint64_t>([](netuit::NodeId id) { return FirstValue(id); })} {}

  double Time(std::uint64_t num_updates, std::uint64_t num_steps) override {
    const auto cpu_before = CpuTime();
    const netuit::RunReport report =
        mesh_.Run(netuit::Dataflow{.updates = num_updates}, [value = value_, num_steps](netuit::Node& node) {
          std::uint64_t sum = value[node];
          for (const netuit::InEdge edge : node.In()) sum += value[edge];
          value[node] = Work(sum, num_steps);
        }, {.stops_on_signal = false});
    const auto cpu = CpuTime() - cpu_before;
    std::chrono::duration<double, std::nano> own{0};
    for (const netuit::WorkerReport& worker : report.workers) {
      if (worker.id.process == mesh_.GetWorld().Rank()) own += worker.elapsed;
    }
    idle_ += std::max((own - cpu).count(), 0.0);
    return std::chrono::duration<double, std::nano>(report.Elapsed()).count() / static_cast<double>(num_updates);
  }
  std::uint64_t Digest() override {
    std::uint64_t sum = 0;
    mesh_.Visit([&](netuit::Node& node) { sum += value_[node]; });
    std::uint64_t total = 0;
    for (const std::uint64_t of_process : mesh_.GetWorld().AllGatherValue(sum)) total += of_process;
    return total;
  }
  [[nodiscard]] bool HasOwnThreads() const override { return mesh_.Partitions().size() > 1; }
  /// How much the running time of this process's workers exceeded its CPU time.
  double TakeRunQueueDelay() override { return std::exchange(idle_, 0.0); }

 private:
  static netuit::Topology GraphOf(const Pattern& pattern) {
    std::vector<netuit::Edge> edges;
    for (netuit::NodeId source = 0; source < num_tasks; ++source)
      for (netuit::NodeId target = 0; target < num_tasks; ++target)
        if (pattern.AreJoined(source, target)) edges.push_back({source, target});
    return {num_tasks, std::move(edges)};
  }
  static netuit::EdgeDelays DelaysOf(const Pattern& pattern) {
    if (!pattern.is_wavefront) return {};
    return [pattern](netuit::NodeId source, netuit::NodeId target) { return pattern.Delay(source, target); };
  }
  static netuit::MeshOptions Placed(const uit::Team& team, netuit::MeshOptions options) {
    std::vector<std::uint32_t> workers;
    for (std::size_t task = 0; task < num_tasks; ++task) workers.push_back(static_cast<std::uint32_t>(WorkerOf(task)));
    options.placement = {{.processes = team.NumProcesses(), .threads = team.NumThreads()}, std::move(workers)};
    return options;
  }

  netuit::Mesh mesh_;
  netuit::PublishedField<std::uint64_t> value_;
  double idle_ = 0;
};

}  // namespace bench::task_graphs
