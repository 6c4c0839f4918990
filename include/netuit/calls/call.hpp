#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/mesh/call_base.hpp>
#include <uit/config.hpp>
#include <uit/conveyor/conveyor.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>

namespace netuit {

namespace detail {

constexpr std::uint32_t no_thread = std::numeric_limits<std::uint32_t>::max();
/// The number of the calling thread among those of its mesh, while it is in Mesh::Finish.
inline constinit thread_local std::uint32_t call_thread = no_thread;

/// A call under way.
template <typename T>
struct CallItem {
  std::uint32_t node = 0;  // its number among its worker's
  T argument{};
};

/// What handles of one function refer to.
template <typename T>
struct CallLines {
  const std::vector<NodeOwner>& owners;                // by node
  std::vector<uit::Conveyor<CallItem<T>>*> by_thread;  // null while no Finish is under way
};

}  // namespace detail

/// Calls a function of a mesh for a node, on the worker that updates the node; see Mesh::AddCall. A handle; cheap to copy.
///
/// Calls are made within Mesh::Finish: in its body, and in functions that are called themselves. They are one-way, travel together
/// in frames, and lead to those of a worker in the order in which the worker has made them.
template <uit::TriviallyCopyable T>
class Call {
 public:
  /// For Mesh.
  explicit Call(const detail::CallLines<T>& lines) : lines_(&lines) {}

  /// Has the function called once for `node`. In the body of Finish it waits for room, and has other functions called meanwhile. In
  /// a function that is called itself it neither waits nor calls anything: what has no room is kept; see ConveyorOptions.
  ///
  /// Throws uit::InputError if the mesh has no such node, uit::Error outside of Finish, and as uit::Conveyor::Push.
  void operator()(NodeId node, const T& argument) const {
    const detail::NodeOwner owner = OwnerOf(node);
    Line().Push(owner.worker, {owner.node, argument});
  }
  /// The same if there is room at once. Otherwise returns false, and the call is counted as refused. Never waits.
  bool Try(NodeId node, const T& argument) const {
    const detail::NodeOwner owner = OwnerOf(node);
    return Line().TryPush(owner.worker, {owner.node, argument});
  }

 private:
  detail::NodeOwner OwnerOf(NodeId node) const {
    if (node >= lines_->owners.size()) [[unlikely]] RefuseNode(node);
    return lines_->owners[node];
  }
  uit::Conveyor<detail::CallItem<T>>& Line() const {
    const std::uint32_t thread = detail::call_thread;
    if (thread >= lines_->by_thread.size() || lines_->by_thread[thread] == nullptr) [[unlikely]] RefuseTime();
    return *lines_->by_thread[thread];
  }
  [[noreturn]] UIT_NOINLINE void RefuseNode(NodeId node) const {
    throw uit::InputError("a call is for node " + std::to_string(node) + ", but the mesh has only " +
                          std::to_string(lines_->owners.size()) + " nodes");
  }
  [[noreturn]] UIT_NOINLINE static void RefuseTime() {
    throw uit::Error("a call can be made only while its mesh is in Finish, and on its threads");
  }

  const detail::CallLines<T>* lines_;
};

}  // namespace netuit
