#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/mesh/call_base.hpp>
#include <netuit/mesh/gather.hpp>
#include <netuit/mesh/mesh_calls.hpp>
#include <netuit/mesh/on_root.hpp>
#include <netuit/mesh/partition.hpp>
#include <uit/config.hpp>
#include <uit/link/world.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/bytes.hpp>

namespace netuit {

namespace detail {

/// Returns the first node of each worker, or no_node for one whose nodes are no block of consecutive ones. Collective.
UIT_DEFINE std::vector<NodeId> FirstNodes(const uit::World& world, const std::vector<std::unique_ptr<Partition>>& partitions) {
  std::vector<NodeId> mine;
  for (const auto& partition : partitions) {
    const std::vector<NodeId>& nodes = partition->graph.nodes;
    const bool is_block = std::ranges::adjacent_find(nodes, [](NodeId a, NodeId b) { return b != a + 1; }) == nodes.end();
    mine.push_back(is_block && !nodes.empty() ? nodes.front() : no_node);
  }
  std::vector<NodeId> all;
  for (const uit::Bytes& theirs : world.AllGather(std::as_bytes(std::span(mine)))) {
    uit::ByteReader reader{theirs};
    for (NodeId first = 0; reader.TryRead(first);) all.push_back(first);
  }
  return all;
}

}  // namespace detail

UIT_DEFINE MeshCalls::~MeshCalls() = default;

UIT_DEFINE bool MeshCalls::Close() {
  session_.reset();
  return MeshCore::Close();
}

UIT_DEFINE const detail::NodeOwners& MeshCalls::Owners() {
  if (owners_.NumNodes() == NumNodes()) return owners_;
  std::vector<NodeId> first = detail::FirstNodes(GetWorld(), Partitions());
  detail::NodeOwners owners;
  if (std::ranges::find(first, no_node) == first.end() && std::ranges::is_sorted(first)) {
    first.push_back(NumNodes());
    owners = detail::NodeOwners(std::move(first));
  } else {
    std::vector<detail::NodeOwner> mine;
    for (const auto& partition : Partitions())
      for (std::uint32_t i = 0; i < partition->NumNodes(); ++i) mine.push_back({partition->graph.worker, i});
    owners = detail::NodeOwners(ValuesOfRoot(GetWorld(), GatherByNode(*this, mine)));
  }
  UIT_ASSERT(owners.NumNodes() == NumNodes(), "every node has an owner");
  for (const auto& partition : Partitions()) {
    for (const auto& part : partition->networks) {
      part->target_numbers.resize(part->graph.targets.size());
      std::ranges::transform(part->graph.targets, part->target_numbers.begin(),
                             [&owners](NodeId target) { return owners.Of(target).node; });
    }
  }
  owners_ = std::move(owners);
  return owners_;
}

}  // namespace netuit
