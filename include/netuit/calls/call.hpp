#pragma once

#include <cstdint>
#include <vector>

#include <netuit/calls/call_site.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/call_base.hpp>
#include <netuit/mesh/node.hpp>
#include <uit/conveyor/conveyor.hpp>
#include <uit/support/bytes.hpp>

namespace netuit {

namespace detail {

/// A call under way.
template <typename T>
struct CallItem {
  std::uint32_t node = 0;  // its number among its worker's
  T argument{};
};

/// What carries the calls of one worker: for calls that are combined by `Operation`, see netuit/calls/combine.hpp.
template <typename T, typename Operation>
struct CallLine;
template <typename T>
struct CallLine<T, void> {
  using Item = CallItem<T>;
  using Line = uit::Conveyor<Item>;
  using Options = uit::ConveyorOptions;
  static const CallItem<T>& CallOf(const Item& item) { return item; }
};

/// What handles of one function refer to. A `Line` carries calls of one worker to all others.
template <typename Line>
class CallLines {
 public:
  CallLines(const NodeOwners& owners, std::uint32_t num_threads) : owners_(owners), by_thread_(num_threads, nullptr) {}
  /// The line of a thread; null before the first Finish.
  Line*& Of(std::uint32_t thread) { return by_thread_[thread]; }
  /// The line of the calling thread. Throws uit::Error if it has none.
  Line& Here() const {
    if (calling.owners != &owners_) [[unlikely]] RefuseTime();
    return *by_thread_[calling.thread];
  }
  /// Throws uit::InputError if the mesh has no such node.
  NodeOwner OwnerOf(NodeId node) const {
    if (node >= owners_.NumNodes()) [[unlikely]] RefuseNode(node, owners_.NumNodes());
    return owners_.Of(node);
  }

 private:
  const NodeOwners& owners_;
  std::vector<Line*> by_thread_;
};

}  // namespace detail

/// Calls a function of a mesh for a node, on the worker that updates the node; see Mesh::AddCall. A handle; cheap to copy.
///
/// Calls are made within Mesh::Finish: in its body, and in functions that are called themselves. They are one-way, travel together
/// in frames, and lead to those of a worker in the order in which the worker has made them.
template <uit::TriviallyCopyable T, typename Operation>
class Call {
 public:
  /// For Mesh.
  using Lines = detail::CallLines<typename detail::CallLine<T, Operation>::Line>;
  /// For Mesh.
  explicit Call(const Lines& lines) : lines_(&lines) {}

  /// Has the function called once for `node`. In the body of Finish it waits for room, and has other functions called meanwhile. In a
  /// function that is called itself, and in a task, it neither waits nor calls anything: what has no room is kept; see ConveyorOptions.
  ///
  /// Throws uit::InputError if the mesh has no such node, uit::Error outside of Finish, and as uit::Conveyor::Push.
  void operator()(NodeId node, const T& argument) const {
    const detail::NodeOwner owner = lines_->OwnerOf(node);
    lines_->Here().Push(owner.worker, {owner.node, argument});
  }
  /// The same for the node where an edge ends. Is faster, since nothing is looked up. The edge must be one of this mesh: that is not
  /// checked.
  void operator()(const OutEdge& edge, const T& argument) const {
    lines_->Here().Push(edge.TargetWorker(), {edge.TargetNumber(), argument});
  }
  /// As the call for `node`, if there is room at once. Otherwise returns false, and the call is counted as refused; or throws as
  /// Conveyor::TryPush of uit. Never waits.
  bool Try(NodeId node, const T& argument) const {
    const detail::NodeOwner owner = lines_->OwnerOf(node);
    return lines_->Here().TryPush(owner.worker, {owner.node, argument});
  }
  /// The same for the node where an edge of this mesh ends.
  bool Try(const OutEdge& edge, const T& argument) const {
    return lines_->Here().TryPush(edge.TargetWorker(), {edge.TargetNumber(), argument});
  }

 private:
  const Lines* lines_;
};

}  // namespace netuit
