#pragma once

#include <concepts>
#include <type_traits>

#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/mesh_core.hpp>
#include <netuit/mesh/node.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/schedule.hpp>
#include <netuit/run/schedules.hpp>
#include <netuit/run/sweep.hpp>
#include <uit/config.hpp>

namespace netuit {

namespace detail {

/// Mesh::Run, whatever the nodes do.
RunReport RunSweep(MeshCore& mesh, const RunPlan& plan, const RunOptions& options, Sweep& sweep);

}  // namespace detail

static_assert(ScheduleValue<EveryUpdate> && ScheduleValue<Rolling> && ScheduleValue<Fixed> && ScheduleValue<Free> &&
              ScheduleValue<Isolated> && ScheduleValue<RunPlan>);

/// See Mesh::Run. `update(node)` is called once per node and update, by several threads at once for different nodes, in no order
/// that it may rely on. Values and messages that have arrived are taken in before each update of a worker's nodes, and what
/// they have published and put is sent after it. Collective. Afterwards every message is accounted for: nothing is in
/// flight, unless a peer was lost: then every process that is left reports of itself alone.
///
/// Throws uit::InputError if the schedule or the options cannot be, and uit::Error if the mesh has been closed or has lost a
/// peer, or if threads cannot be started.
template <ScheduleValue S, std::invocable<Node&> F>
RunReport Mesh::Run(const S& schedule, F&& update, const RunOptions& options) {
  const RunPlan plan = schedule.MakePlan();
  detail::NodeSweep<std::remove_reference_t<F>> sweep(*this, options.seed, update);
  ShowByUpdate(plan.delivery.is_by_update);
  return detail::RunSweep(*this, plan, options, sweep);
}
template <ScheduleValue S, std::invocable<Node&> F>
RunReport Mesh::Run(const S& schedule, F&& update) {
  return Run(schedule, update, RunOptions{});
}

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/run/run.ipp>
#endif
