#pragma once

#include <cstddef>
#include <string>

#include <netuit/calls/call_site.hpp>
#include <netuit/graph/topology.hpp>
#include <uit/config.hpp>
#include <uit/support/error.hpp>

namespace netuit::detail {

UIT_DEFINE void RefuseNode(NodeId node, std::size_t num_nodes) {
  throw uit::InputError("a call is for node " + std::to_string(node) + ", but the mesh has only " + std::to_string(num_nodes) + " nodes");
}

UIT_DEFINE void RefuseTime() { throw uit::Error("a call can be made only while its mesh is in Finish, and on its threads"); }

UIT_DEFINE void RefuseItem() { throw uit::Error("a call has arrived for a node that this worker does not have"); }

}  // namespace netuit::detail
