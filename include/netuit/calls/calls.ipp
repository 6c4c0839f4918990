#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include <netuit/calls/call_site.hpp>
#include <netuit/calls/calls.hpp>
#include <netuit/mesh/call_base.hpp>
#include <netuit/mesh/mesh_core.hpp>
#include <uit/config.hpp>
#include <uit/conveyor/conveyors.hpp>
#include <uit/conveyor/conveyor_sizes.hpp>
#include <uit/conveyor/tasks.hpp>
#include <uit/support/error.hpp>
#include <uit/support/function_ref.hpp>
#include <uit/team/member.hpp>
#include <uit/team/team.hpp>

namespace netuit::detail {

/// Lets the calling thread make calls, until the end of its scope.
class MayCall {
 public:
  explicit MayCall(std::uint32_t thread) { call_thread = thread; }
  MayCall(const MayCall&) = delete;
  MayCall& operator=(const MayCall&) = delete;
  ~MayCall() { call_thread = no_thread; }
};

UIT_DEFINE uit::ConveyorTally Together(const uit::ConveyorTally& a, const uit::ConveyorTally& b) {
  return {.pushed = a.pushed + b.pushed,
          .handled = a.handled + b.handled,
          .refused = a.refused + b.refused,
          .spilled = a.spilled + b.spilled,
          .most_spilled = std::max(a.most_spilled, b.most_spilled),
          .waits = a.waits + b.waits};
}

UIT_DEFINE uit::ConveyorTally FinishCalls(MeshCore& mesh, uit::FunctionRef<void(CallSite&)> body) {
  if (!mesh.IsOpen()) throw uit::Error("the mesh can make no calls, because it is closed or has lost a peer; make a new one");
  uit::ConveyorTally all;
  try {
    mesh.GetTeam().Run([&](uit::Member& me) {
      uit::Conveyors set{me};
      uit::Tasks tasks{set};
      CallSite site{set, tasks, *mesh.Partitions()[me.Thread()], me.Thread()};
      std::vector<std::unique_ptr<OpenCall>> open;
      for (const auto& call : mesh.Calls()) open.push_back(call->Open(site));
      const MayCall scope(me.Thread());
      body(site);
      set.Finish();
      uit::ConveyorTally mine;
      for (const auto& call : open) mine = Together(mine, call->Tally());
      mine = me.AllReduce(mine, Together);
      if (me.Thread() == 0) all = mine;
    });
  } catch (const uit::PeerLost&) {
    mesh.Break();
    throw;
  }
  return all;
}

}  // namespace netuit::detail
