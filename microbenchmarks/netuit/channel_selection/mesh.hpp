#pragma once

#include <ctime>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/tagged_mesh.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/tagged_run.hpp>

#include "baselines.hpp"

/// The same colouring by the library.
namespace bench::coloring {

struct Color : netuit::Multicast<unsigned> {};
struct ColorByEdge
    : netuit::Unicast<unsigned, uit::Policy{.retain = uit::Retain::latest, .consolidate = uit::Consolidate::pooled}> {};

/// CPU time of all threads of this process so far.
[[nodiscard]] inline std::chrono::duration<double, std::nano> CpuTime() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

/// Where the records of a mesh's runs go: a folder of its own for each run, all gone in the end. Every process of the world
/// makes one, and calls Next as often.
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

/// A mesh of 2048 nodes per worker, and the user's data.
template <netuit::Layer L>
class OnMesh {
 public:
  OnMesh(netuit::Workers workers, const uit::World& world, const netuit::MeshOptions& options = {})
      : OnMesh{netuit::MakeTorus(rows_per_worker * workers.processes * workers.threads, width), workers, world, options} {}
  OnMesh(netuit::Topology topology, netuit::Workers workers, const uit::World& world,
         const netuit::MeshOptions& options = {})
      : topology_{std::move(topology)},
        mesh_{topology_, netuit::PlaceContiguous(topology_, workers), world, options},
        cells_{mesh_.NumLocalNodes(), rule} {
    mesh_.template Initialize<L>([](netuit::NodeId id) { return FirstColor(id); });
    for (std::size_t node = 0; node < mesh_.NumLocalNodes(); ++node) cells_.Set(node, FirstColor(mesh_.Id(node)));
  }

  netuit::RunReport Run(const netuit::RunOptions& options) {
    return netuit::Run(mesh_, options, [this](auto& node) {
      const std::size_t index = node.Index();
      const unsigned mine = cells_.Color(index);
      bool conflict = false;
      if constexpr (netuit::MulticastLayer<L>) {
        for (const unsigned neighbor : node.template In<L>()) conflict |= neighbor == mine;
      } else {
        for (auto& outlet : node.template In<L>()) conflict |= outlet.JumpGet() == mine;
      }
      cells_.Learn(index, conflict, node.Random());
      const unsigned color = cells_.Color(index);
      if constexpr (netuit::MulticastLayer<L>) {
        node.template Out<L>().TryPut(color);
      } else {
        for (auto& inlet : node.template Out<L>()) inlet.TryPut(color);
      }
    });
  }

  /// From here on every run is recorded there.
  void Record(std::shared_ptr<Records> records) { records_ = std::move(records); }

  /// ns per sweep and worker, on rank 0 the mean over all workers. A mesh that is traced is also looked at: two snapshots of
  /// the quality of service.
  double Time(std::chrono::nanoseconds window, netuit::AsyncMode mode = netuit::AsyncMode::no_barrier) {
    const auto cpu_before = CpuTime();
    netuit::RunOptions options{.mode = mode, .duration = window, .seed = seed, .stops_on_signal = false};
    if (records_) options.record = records_->Next();
    if (mesh_.IsTraced()) options.quality = {.interval = window / 2, .length = window / 4};
    const netuit::RunReport report = Run(options);
    const auto cpu = CpuTime() - cpu_before;
    std::chrono::duration<double, std::nano> elapsed{0};
    double rate = 0;
    for (const netuit::WorkerReport& worker : report.workers) {
      if (worker.place.process == mesh_.GetWorld().Rank()) elapsed += worker.elapsed;
      rate += worker.Rate() / static_cast<double>(report.workers.size());
    }
    // Who waits for others at a barrier may sleep.
    constexpr decltype(elapsed) none{0};
    idle_ = mode == netuit::AsyncMode::every_update ? none : std::max(elapsed - cpu, none);
    return 1e9 / rate;
  }

  /// By how much the time of this process's workers exceeded what the process had of the CPUs.
  [[nodiscard]] double Idle() const { return idle_.count(); }

  auto& Mesh() { return mesh_; }

 private:
  netuit::Topology topology_;
  netuit::TaggedMesh<L> mesh_;
  channel_selection::Cells<float> cells_;
  std::shared_ptr<Records> records_;
  std::chrono::duration<double, std::nano> idle_{0};
};

}  // namespace bench::coloring
