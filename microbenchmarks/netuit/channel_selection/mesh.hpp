#pragma once

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

#include <netuit/graph/graph.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/initial.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run.hpp>
#include <uit/config.hpp>
#include <uit/policy.hpp>
#include <uit/team/team.hpp>

#include "baselines.hpp"
#include "demos/channel_selection/cell.hpp"
#include "microbenchmarks/support/machine.hpp"

/// The same colouring by the library.
namespace bench::coloring {

using First = netuit::Initial<unsigned>;

/// Nodes see each other's published colours.
class ByField {
 public:
  using Joint = netuit::PublishedField<unsigned>;  ///< what joins neighbours
  static Joint Join(netuit::Mesh& mesh, const First& first) { return mesh.AddPublishedField<unsigned>(first); }

  explicit ByField(netuit::Mesh& mesh) : color_{Join(mesh, FirstColor)} {}
  [[nodiscard]] unsigned& Own(const netuit::Node& node) const { return color_[node]; }
  [[nodiscard]] unsigned Heard(const netuit::InEdge& edge) const { return color_[edge]; }
  void Tell(const netuit::Node&) const {}
  [[nodiscard]] Joint Field() const { return color_; }

 private:
  Joint color_;
};

/// Nodes send each other their colours edge by edge.
template <uit::Policy policy>
class ByEdge {
 public:
  using Joint = netuit::Channels<unsigned, policy>;  ///< what joins neighbours
  static Joint Join(netuit::Mesh& mesh, const First& first) { return mesh.AddChannels<unsigned, policy>({}, first); }

  explicit ByEdge(netuit::Mesh& mesh) : color_{mesh.AddField<unsigned>(FirstColor)}, told_{Join(mesh, FirstColor)} {}
  [[nodiscard]] unsigned& Own(const netuit::Node& node) const { return color_[node]; }
  [[nodiscard]] unsigned Heard(const netuit::InEdge& edge) const { return told_[edge].JumpGet(); }
  void Tell(const netuit::Node& node) const {
    const unsigned color = color_[node];
    for (const netuit::OutEdge edge : node.Out()) told_[edge].TryPut(color);
  }
  [[nodiscard]] netuit::Field<unsigned> Field() const { return color_; }

 private:
  netuit::Field<unsigned> color_;
  Joint told_;
};
using ByNewestOfEdge = ByEdge<uit::Policy{.retain = uit::Retain::latest, .consolidate = uit::Consolidate::pooled}>;

/// Temporary folders for the records of a mesh's runs, one per run, removed at the end. Every process of the world makes one, and
/// calls Next equally often.
class Records {
 public:
  explicit Records(const uit::World& world)
      : is_root_{world.IsRoot()},
        folder_{std::filesystem::temp_directory_path() /
                ("conduit-bench-records." + std::to_string(world.AllGatherValue(static_cast<int>(getpid())).front()))} {}
  Records(const Records&) = delete;
  Records& operator=(const Records&) = delete;
  ~Records() {
    std::error_code ignored;
    if (is_root_) std::filesystem::remove_all(folder_, ignored);
  }
  std::string Next() { return folder_ / std::to_string(num_runs_++); }

 private:
  bool is_root_;
  std::filesystem::path folder_;
  std::size_t num_runs_ = 0;
};

/// The torus of 2048 nodes per worker.
[[nodiscard]] inline netuit::Graph TorusFor(const uit::Team& team) {
  return netuit::MakeTorus(rows_per_worker * team.NumProcesses() * team.NumThreads(), width);
}

/// A mesh that colours its nodes, with one of the layers above. `degree`: of every node, if the update is to know it.
template <typename Way, std::size_t degree = std::dynamic_extent>
class OnMesh {
 public:
  OnMesh(const uit::Team& team, const netuit::Graph& graph, netuit::MeshOptions options = {})
      : mesh_{team, graph, InBlocks(team, graph, std::move(options))},
        way_{mesh_},
        is_settled_{mesh_.AddField<bool>(true)},
        chances_{mesh_.AddField<Chances>()} {}

  netuit::RunReport Run(const netuit::RunPlan& plan, const netuit::RunOptions& options) {
    return mesh_.Run(plan, [way = way_, is_settled = is_settled_, chances = chances_](netuit::Node& node) {
      const unsigned mine = way.Own(node);
      bool conflict = false;
      for (const netuit::InEdge edge : node.In<degree>()) conflict |= way.Heard(edge) == mine;
      if (conflict) [[unlikely]]
        Redraw(chances[node], way.Own(node), is_settled[node], node.Random());
      else
        is_settled[node] = true;
      way.Tell(node);
    }, options);
  }

  /// Records every later run in these folders.
  void Record(std::shared_ptr<Records> records) { records_ = std::move(records); }

  /// In every later run, workers that wait update nodes of others.
  void Steal() { steals_.emplace(); }

  /// Copies the colours in every later run, so often.
  void Capture(std::uint64_t every) { film_.emplace(mesh_.Capture(way_.Field(), {.every = every, .most = 4096})); }

  /// Looks for conflicts at consistent cuts in every later run, so often.
  void LookForConflicts(std::uint64_t every)
    requires std::is_same_v<Way, ByField>
  {
    const netuit::CutField<unsigned> at_cut = mesh_.AddCut(way_.Field());
    conflict_.emplace(mesh_.AddCutReduction(
        netuit::maximum,
        [at_cut](netuit::Node& node) {
          const unsigned mine = at_cut[node];
          bool conflict = false;
          for (const netuit::InEdge edge : node.In()) conflict |= at_cut[edge] == mine;
          return conflict ? 1.0 : 0.0;
        },
        {.every = every}));
  }

  /// ns per sweep and worker; on rank 0 the mean over all workers. For a traced mesh it also takes two snapshots of the quality
  /// of service.
  double Time(std::chrono::nanoseconds window, netuit::AsyncMode mode = netuit::AsyncMode::no_barrier) {
    const auto cpu_before = CpuTime();
    netuit::RunOptions options{.seed = seed, .stops_on_signal = false};
    if (records_) options.record = records_->Next();
    if (film_) film_->Clear();
    if (mesh_.IsTraced()) options.quality = {.interval = window / 2, .length = window / 4};
    std::optional<netuit::Until> never;
    if (conflict_) never = *conflict_ < 0;
    const netuit::RunReport report = Run(netuit::ScheduleOf(mode, {.duration = window, .until = never, .steals = steals_}), options);
    const auto cpu = CpuTime() - cpu_before;
    std::chrono::duration<double, std::nano> elapsed{0};
    double rate = 0;
    for (const netuit::WorkerReport& worker : report.workers) {
      if (worker.id.process == mesh_.GetWorld().Rank()) elapsed += worker.elapsed;
      rate += worker.Rate() / static_cast<double>(report.workers.size());
    }
    // A worker that waits at a barrier may sleep.
    constexpr decltype(elapsed) none{0};
    idle_ = mode == netuit::AsyncMode::every_update ? none : std::max(elapsed - cpu, none);
    return 1e9 / rate;
  }

  /// Makes so many updates in mode 3.
  void Update(std::uint64_t count) { Run(netuit::Free{.updates = count}.MakePlan(), {.seed = seed, .stops_on_signal = false}); }

  /// How much the running time of this process's workers exceeded its CPU time.
  [[nodiscard]] double Idle() const { return idle_.count(); }

 private:
  using Chances = std::array<float, rule.num_colors>;

  static netuit::MeshOptions InBlocks(const uit::Team& team, const netuit::Graph& graph, netuit::MeshOptions options) {
    options.placement = netuit::PlaceContiguous(graph, {.processes = team.NumProcesses(), .threads = team.NumThreads()});
    return options;
  }
  /// Not inlined, as in the plain loop.
  UIT_NOINLINE static void Redraw(Chances& chances, unsigned& color, bool& is_settled, netuit::NodeRandom random) {
    channel_selection::LeithStep<float>{rule}.Redraw(chances, color, is_settled, random());
  }

  netuit::Mesh mesh_;
  Way way_;
  netuit::Field<bool> is_settled_;
  netuit::Field<Chances> chances_;  // of its colours, while a node is not settled
  std::shared_ptr<Records> records_;
  std::optional<netuit::Steals> steals_{};
  std::optional<netuit::Captured<unsigned>> film_;
  std::optional<netuit::CutReduction> conflict_;
  std::chrono::duration<double, std::nano> idle_{0};
};

}  // namespace bench::coloring
