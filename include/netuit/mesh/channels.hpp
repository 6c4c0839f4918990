#pragma once

#include <netuit/mesh/edge_conduits.hpp>
#include <netuit/mesh/node.hpp>
#include <uit/codec/codec.hpp>
#include <uit/policy.hpp>

namespace netuit {

/// A conduit per edge. A handle, cheap to copy; its mesh owns the conduits.
///
///     auto flow = mesh.AddChannels<double, uit::summed>();
///     mesh.Run(netuit::Free{.duration = 5s}, [&](netuit::Node& node) {
///       for (auto edge : node.In()) heat[node] += flow[edge].JumpGet();
///       for (auto edge : node.Out()) if (flow[edge].TryPut(part)) heat[node] -= part;
///     });
///
/// What is under way or unread when a run ends waits for the next. A sum that does not fit into `T` comes in several steps.
template <uit::Encodable T, uit::Policy policy>
class Channels {
 public:
  using Message = T;                                          ///< what travels
  using Inlet = typename EdgeConduits<T, policy>::Inlet;      ///< where it is put
  using Outlet = typename EdgeConduits<T, policy>::Outlet;    ///< where it comes out

  /// For the mesh: an outlet per input of the process, an inlet per output.
  Channels(Outlet* outlets, Inlet* inlets) : outlets_(outlets), inlets_(inlets) {}

  /// The outlet of an edge that ends at the node. During its update.
  Outlet& operator[](const InEdge& edge) const { return outlets_[edge.Index()]; }
  /// The inlet of an edge that begins at the node. During its update.
  Inlet& operator[](const OutEdge& edge) const { return inlets_[edge.Index()]; }

 private:
  Outlet* outlets_;
  Inlet* inlets_;
};

}  // namespace netuit
