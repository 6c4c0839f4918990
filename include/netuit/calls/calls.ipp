#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <netuit/calls/call_site.hpp>
#include <netuit/calls/calls.hpp>
#include <netuit/mesh/call_base.hpp>
#include <netuit/mesh/mesh_calls.hpp>
#include <uit/config.hpp>
#include <uit/conveyor/conveyors.hpp>
#include <uit/conveyor/conveyor_sizes.hpp>
#include <uit/conveyor/tasks.hpp>
#include <uit/support/error.hpp>
#include <uit/support/function_ref.hpp>
#include <uit/team/member.hpp>
#include <uit/team/team.hpp>
#include <uit/team/team_session.hpp>
#include <uit/team/thread_pool.hpp>

namespace netuit::detail {

/// Lets the calling thread make calls of a mesh, until the end of its scope.
class MayCall {
 public:
  MayCall(const void* owners, std::uint32_t thread) { calling = {owners, thread}; }
  MayCall(const MayCall&) = delete;
  MayCall& operator=(const MayCall&) = delete;
  ~MayCall() { calling = {}; }
};

/// What a worker keeps from one Finish to the next.
struct CallWorker {
  CallWorker(uit::Member& me, const Partition& partition) : set(me), tasks(set), site{set, tasks, partition, me.Thread()} {}
  uit::Conveyors set;
  uit::Tasks tasks;
  CallSite site;
  std::vector<std::unique_ptr<OpenCall>> open{};  // by call of the mesh
  uit::ConveyorTally reported{};
};

/// What the workers of a process keep.
class CallSession {
 public:
  explicit CallSession(const uit::Team& team) : runs(team), workers(team.NumThreads()) {}
  uit::TeamSession runs;
  std::vector<std::unique_ptr<CallWorker>> workers;  // by thread
};

UIT_DEFINE uit::ConveyorTally Together(const uit::ConveyorTally& a, const uit::ConveyorTally& b) {
  return {.pushed = a.pushed + b.pushed,
          .handled = a.handled + b.handled,
          .combined = a.combined + b.combined,
          .refused = a.refused + b.refused,
          .spilled = a.spilled + b.spilled,
          .most_spilled = std::max(a.most_spilled, b.most_spilled),
          .waits = a.waits + b.waits};
}

/// What was done since `before`.
UIT_DEFINE uit::ConveyorTally Since(const uit::ConveyorTally& before, const uit::ConveyorTally& now) {
  return {.pushed = now.pushed - before.pushed,
          .handled = now.handled - before.handled,
          .combined = now.combined - before.combined,
          .refused = now.refused - before.refused,
          .spilled = now.spilled - before.spilled,
          .most_spilled = now.spilled == before.spilled ? 0 : now.most_spilled,
          .waits = now.waits - before.waits};
}

}  // namespace netuit::detail

namespace netuit {

UIT_DEFINE uit::ConveyorTally MeshCalls::FinishOnAll(uit::FunctionRef<void(detail::CallSite&)> body) {
  if (!IsOpen()) throw uit::Error("the mesh can make no calls, because it is closed or has lost a peer; make a new one");
  Threads().Check();
  const detail::NodeOwners& owners = Owners();
  if (!session_) session_ = std::make_shared<detail::CallSession>(GetTeam());
  uit::ConveyorTally all;
  try {
    session_->runs.Run([&](uit::Member& me) {
      std::unique_ptr<detail::CallWorker>& worker = session_->workers[me.Thread()];
      if (!worker) worker = std::make_unique<detail::CallWorker>(me, *Partitions()[me.Thread()]);
      while (worker->open.size() < calls_.size()) worker->open.push_back(calls_[worker->open.size()]->Open(worker->site));
      {
        const detail::MayCall scope(&owners, me.Thread());
        body(worker->site);
        worker->set.Finish();
      }
      uit::ConveyorTally mine;
      for (const auto& call : worker->open) mine = detail::Together(mine, call->Tally());
      const uit::ConveyorTally sum = me.AllReduce(detail::Since(std::exchange(worker->reported, mine), mine), detail::Together);
      if (me.Thread() == 0) all = sum;
    });
  } catch (...) {
    session_.reset();
    if (uit::KindOf(std::current_exception()) == uit::ErrorKind::peer_lost) Break();
    throw;
  }
  return all;
}

}  // namespace netuit
