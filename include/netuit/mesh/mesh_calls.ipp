#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <netuit/mesh/call_base.hpp>
#include <netuit/mesh/gather.hpp>
#include <netuit/mesh/mesh_calls.hpp>
#include <uit/config.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/bytes.hpp>

namespace netuit {

UIT_DEFINE const std::vector<detail::NodeOwner>& MeshCalls::Owners() {
  if (owners_.size() == NumNodes()) return owners_;
  std::vector<detail::NodeOwner> mine;
  for (const auto& partition : Partitions())
    for (std::uint32_t i = 0; i < partition->NumNodes(); ++i) mine.push_back({partition->graph.worker, i});
  const std::vector<detail::NodeOwner> gathered = GatherByNode(*this, mine);
  const auto bytes = std::as_bytes(std::span(gathered));
  const uit::Bytes all = GetWorld().Broadcast(uit::Bytes(bytes.begin(), bytes.end()));
  owners_.resize(NumNodes());
  UIT_ASSERT(all.size() == owners_.size() * sizeof(detail::NodeOwner), "every node has an owner");
  if (!all.empty()) std::memcpy(owners_.data(), all.data(), all.size());
  return owners_;
}

}  // namespace netuit
