#pragma once

#include <type_traits>

#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/mesh_core.hpp>
#include <netuit/mesh/part.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/schedule.hpp>
#include <netuit/run/schedules.hpp>
#include <netuit/run/update_loop.hpp>
#include <uit/config.hpp>

namespace netuit {

namespace detail {

/// Runs the update loop once per update; the part of Mesh::Run that does not depend on the update function.
RunReport RunUpdateLoop(MeshCore& mesh, const RunPlan& plan, const RunOptions& options, UpdateLoop& loop);

}  // namespace detail

static_assert(ScheduleValue<EveryUpdate> && ScheduleValue<Rolling> && ScheduleValue<Fixed> && ScheduleValue<Free> &&
              ScheduleValue<Isolated> && ScheduleValue<Dataflow> && ScheduleValue<RunPlan>);

/// See Mesh::Run. Calls `update(node)` once per node and update, or `update(part)` once per part. Several threads call it at once
/// for different nodes, in an unspecified order. Before each update of its nodes, a worker takes in values and messages that have
/// arrived. After it, the worker sends what the nodes have published and put. Collective.
///
/// After the run, every message is accounted for and none is in flight, unless a peer was lost. In that case, every remaining
/// process reports on itself only. Throws uit::InputError if the schedule or an option is invalid. Throws uit::Error if the
/// mesh is closed or has lost a peer, or if threads cannot be started.
template <ScheduleValue S, UpdateFunction F>
RunReport Mesh::Run(const S& schedule, F&& update, const RunOptions& options) {
  const RunPlan plan = schedule.MakePlan();
  detail::UpdateLoopOf<std::remove_reference_t<F>> loop(*this, options.first_update, update);
  ShowByUpdate(plan.delivery.is_by_update);
  return detail::RunUpdateLoop(*this, plan, options, loop);
}
template <ScheduleValue S, UpdateFunction F>
RunReport Mesh::Run(const S& schedule, F&& update) {
  return Run(schedule, update, RunOptions{});
}

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/run/run.ipp>
#endif
