#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <netuit/graph/topology.hpp>

namespace uit {

struct ConveyorTally;

}  // namespace uit

namespace netuit::detail {

/// Where a node is updated.
struct NodeOwner {
  std::uint32_t worker = 0;
  std::uint32_t node = 0;  // its number among the worker's nodes
};

/// Where each node of a mesh is updated. Needs no memory for nodes if each worker has a block of consecutive ones, as those of a graph
/// in parts have.
class NodeOwners {
 public:
  NodeOwners() = default;
  /// Takes the first node of each worker, and at last the number of nodes.
  explicit NodeOwners(std::vector<NodeId> first) : first_(std::move(first)), num_nodes_(first_.back()) {}
  /// Takes the owner of each node.
  explicit NodeOwners(std::vector<NodeOwner> by_node) : by_node_(std::move(by_node)), num_nodes_(by_node_.size()) {}
  /// Returns the number of nodes of the mesh.
  std::size_t NumNodes() const { return num_nodes_; }
  /// Returns the owner of a node that the mesh has.
  NodeOwner Of(NodeId node) const {
    if (first_.empty()) return by_node_[node];
    const auto worker = static_cast<std::uint32_t>(std::ranges::upper_bound(first_, node) - first_.begin()) - 1;
    return {worker, node - first_[worker]};
  }

 private:
  std::vector<NodeId> first_{};
  std::vector<NodeOwner> by_node_{};
  std::size_t num_nodes_ = 0;
};

class CallSession;
struct CallSite;

/// What carries the calls of one worker, until it is destroyed.
class OpenCall {
 public:
  OpenCall() = default;
  OpenCall(const OpenCall&) = delete;
  OpenCall& operator=(const OpenCall&) = delete;
  virtual ~OpenCall() = default;
  /// Returns what the worker has done.
  virtual uit::ConveyorTally Tally() const = 0;
};

/// A function that is called for nodes by others, as the mesh keeps it; see Mesh::AddCall.
class CallBase {
 public:
  CallBase() = default;
  CallBase(const CallBase&) = delete;
  CallBase& operator=(const CallBase&) = delete;
  virtual ~CallBase() = default;
  /// Opens what carries the calls of a worker. Collective over all workers.
  virtual std::unique_ptr<OpenCall> Open(CallSite& site) = 0;
};

}  // namespace netuit::detail
