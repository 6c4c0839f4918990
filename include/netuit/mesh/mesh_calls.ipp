#pragma once

#include <cstdint>
#include <vector>

#include <netuit/mesh/call_base.hpp>
#include <netuit/mesh/gather.hpp>
#include <netuit/mesh/mesh_calls.hpp>
#include <netuit/mesh/on_root.hpp>
#include <uit/config.hpp>
#include <uit/support/assert.hpp>

namespace netuit {

UIT_DEFINE MeshCalls::~MeshCalls() = default;

UIT_DEFINE bool MeshCalls::Close() {
  session_.reset();
  return MeshCore::Close();
}

UIT_DEFINE const std::vector<detail::NodeOwner>& MeshCalls::Owners() {
  if (owners_.size() == NumNodes()) return owners_;
  std::vector<detail::NodeOwner> mine;
  for (const auto& partition : Partitions())
    for (std::uint32_t i = 0; i < partition->NumNodes(); ++i) mine.push_back({partition->graph.worker, i});
  owners_ = ValuesOfRoot(GetWorld(), GatherByNode(*this, mine));
  UIT_ASSERT(owners_.size() == NumNodes(), "every node has an owner");
  return owners_;
}

}  // namespace netuit
