#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include <netuit/graph/topology.hpp>
#include <netuit/mesh/node_notes.hpp>
#include <netuit/mesh/partition.hpp>
#include <uit/config.hpp>

namespace uit {

class Conveyors;
class Tasks;

}  // namespace uit

namespace netuit::detail {

constexpr std::uint32_t no_thread = std::numeric_limits<std::uint32_t>::max();
/// The number of the calling thread among those of its mesh, while it is in Mesh::Finish.
inline constinit thread_local std::uint32_t call_thread = no_thread;

/// Where a worker makes and handles calls, while it is in Mesh::Finish.
struct CallSite {
  uit::Conveyors& set;
  uit::Tasks& tasks;
  const Partition& partition;
  std::uint32_t thread;  // of the process
  NodeNotes notes{};     // that its nodes leave, for nobody
};

[[noreturn]] void RefuseNode(NodeId node, std::size_t num_nodes);
[[noreturn]] void RefuseTime();
/// For a call that has arrived for a node that the worker does not have.
[[noreturn]] void RefuseItem();

}  // namespace netuit::detail

#if !UIT_COMPILED
#include <netuit/calls/call_site.ipp>
#endif
