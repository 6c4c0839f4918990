#pragma once

#include <cstddef>
#include <cstdint>

#include <netuit/graph/topology.hpp>
#include <netuit/mesh/node_notes.hpp>
#include <netuit/mesh/partition.hpp>
#include <uit/config.hpp>

namespace uit {

class Conveyors;
class Tasks;

}  // namespace uit

namespace netuit::detail {

/// What the calling thread may call, while it is in Mesh::Finish.
struct Calling {
  const void* owners = nullptr;  // those of the mesh
  std::uint32_t thread = 0;      // its number in the process
};
inline constinit thread_local Calling calling;

/// Where a worker makes and handles calls, while it is in Mesh::Finish.
struct CallSite {
  uit::Conveyors& set;
  uit::Tasks& tasks;
  const Partition& partition;
  std::uint32_t thread;  // of the process
  NodeNotes notes{};     // that its nodes leave, for nobody

  /// Before a call is handled: else there are more of these with each call.
  void ForgetSilent() { notes.silent.clear(); }
};

[[noreturn]] void RefuseNode(NodeId node, std::size_t num_nodes);
[[noreturn]] void RefuseTime();
/// For a call that has arrived for a node that the worker does not have.
[[noreturn]] void RefuseItem();

}  // namespace netuit::detail

#if !UIT_COMPILED
#include <netuit/calls/call_site.ipp>
#endif
