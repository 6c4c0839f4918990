#pragma once

#include <concepts>
#include <cstdint>
#include <string>

#include <netuit/mesh/tagged_mesh.hpp>
#include <netuit/run/run.hpp>
#include <netuit/run/schedules.hpp>
#include <netuit/run/sweep.hpp>
#include <netuit/run/tagged_node.hpp>

namespace netuit::detail {

/// Stands for a run that leaves what its nodes have not read unread.
struct NoCollection {};

/// A sweep that calls `F` to update and `C` to collect; `synchronous` in mode 0.
template <typename M, typename F, typename C, bool synchronous>
class SweepBy final : public Sweep {
 public:
  /// Refers to the mesh and both functions; nodes' random numbers begin with `seed`.
  SweepBy(M& mesh, std::uint64_t seed, F& update, C& collect) : mesh_(mesh), seed_(seed), update_(update), collect_(collect) {}

  bool Update(std::uint32_t thread, std::uint64_t update, std::uint32_t& position) override {
    const auto num_nodes = static_cast<std::uint32_t>(mesh_.Partitions()[thread]->graph.nodes.size());
    std::uint32_t i = 0;
    TaggedNode<M, synchronous> node(mesh_, thread, seed_, update);
    try {
      for (; i < num_nodes; ++i) {
        node.GoTo(i);
        update_(node);
        node.Commit(mesh_, thread);
      }
    } catch (...) {
      position = i;
      for (; i < num_nodes; ++i) {
        node.GoTo(i);
        node.Commit(mesh_, thread);
      }
      throw;
    }
    return false;
  }
  bool Collects() const override { return !std::same_as<C, NoCollection>; }
  void Collect(std::uint32_t thread, std::uint64_t num_updates) override {
    if constexpr (!std::same_as<C, NoCollection>) {
      TaggedNode<M, synchronous> node(mesh_, thread, seed_, num_updates);
      for (std::uint32_t i = 0; i < mesh_.Partitions()[thread]->graph.nodes.size(); ++i) {
        node.GoTo(i);
        collect_(node);
      }
    }
  }

 private:
  M& mesh_;
  std::uint64_t seed_;
  F& update_;
  C& collect_;
};

}  // namespace netuit::detail

namespace netuit {

namespace detail {

/// The schedule that the options name. Throws uit::InputError if there is none.
inline RunPlan PlanOf(const RunOptions& options) {
  return ScheduleOf(options.mode, {options.num_updates, options.duration, options.rolling_span, options.fixed_period, options.clock_every});
}

}  // namespace detail

/// Updates every node of a mesh, again and again, on the workers it is placed on, until the options, a signal or an
/// update that throws ends it.
///
///     netuit::RunReport report = netuit::Run(mesh, {.mode = netuit::AsyncMode::no_barrier, .duration = 5s},
///                                            [&](auto& node) { … });
///
/// `update(node)` is called once per node and update; see Node for what it can do. It is called by several threads
/// at once, for different nodes, in no order that it may rely on, and is compiled for two types of node. Layers are
/// pulled for it beforehand and sent for it afterwards. Collective. Afterwards every message is accounted for:
/// nothing is in flight, unless a peer was lost: then every process that is left reports of itself alone. What nobody has
/// read counts as unread; under Retain::accumulate it waits for the next run.
///
/// `collect(node)`, if given, is called once per node at the very end, by the same threads, when all that was under way has
/// arrived: it can step to what came too late for the last update, so that nothing has to be left unread. It puts nothing.
/// It is not called if a peer was lost.
///
/// Throws uit::InputError if the options cannot be, and uit::Error if the mesh has been closed or has lost a peer, or if
/// threads cannot be started.
template <Layer... Ls, typename F, typename C = detail::NoCollection>
RunReport Run(TaggedMesh<Ls...>& mesh, const RunOptions& options, F&& update, C&& collect = {}) {
  const auto run = [&]<bool synchronous>() {
    detail::SweepBy<TaggedMesh<Ls...>, F, C, synchronous> sweep(mesh, options.seed, update, collect);
    return detail::RunSweep(mesh, detail::PlanOf(options), options, sweep);
  };
  return options.mode == AsyncMode::every_update ? run.template operator()<true>() : run.template operator()<false>();
}

}  // namespace netuit
