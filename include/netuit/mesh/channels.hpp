#pragma once

#include <concepts>

#include <netuit/mesh/edge_conduits.hpp>
#include <netuit/mesh/node.hpp>
#include <uit/codec/codec.hpp>
#include <uit/policy.hpp>

namespace netuit {

/// A conduit per edge. A handle, cheap to copy; the mesh owns the conduits.
///
///     auto flow = mesh.AddChannels<double, uit::summed>();
///     mesh.Run(netuit::Free{.duration = 5s}, [&](netuit::Node& node) {
///       for (auto edge : node.In()) heat[node] += flow[edge].JumpGet();
///       for (auto edge : node.Out()) if (flow[edge].TryPut(part)) heat[node] -= part;
///     });
///
/// Messages that are in flight or unread when a run ends wait for the next run. If a sum does not fit into `T`, several steps
/// deliver it.
template <uit::Encodable T, uit::Policy policy>
class Channels {
 public:
  using Message = T;                                          ///< type of a message
  using Inlet = typename EdgeConduits<T, policy>::Inlet;      ///< the end that sends
  using Outlet = typename EdgeConduits<T, policy>::Outlet;    ///< the end that receives

  /// For the mesh: refers to an outlet per input of the process and an inlet per output.
  Channels(Outlet* outlets, Inlet* inlets) : outlets_(outlets), inlets_(inlets) {}

  /// Returns the outlet of an edge that ends at the node. Use it during that node's update.
  Outlet& operator[](const InEdge& edge) const { return outlets_[edge.Index()]; }
  /// Returns the inlet of an edge that begins at the node. Use it during that node's update.
  Inlet& operator[](const OutEdge& edge) const { return inlets_[edge.Index()]; }
  /// Calls `visit(message)` for each message that waits at the end of an edge, in order; they stay there. Use it in Mesh::Visit.
  template <std::invocable<const T&> F>
  void ForEachUnread(const InEdge& edge, F&& visit) const {
    outlets_[edge.Index()].Bound().Visit([&](const auto* duct) {
      if constexpr (requires { duct->ForEachUnread(visit); }) {
        if (duct != nullptr) duct->ForEachUnread(visit);
      }
    });
  }

 private:
  Outlet* outlets_;
  Inlet* inlets_;
};

}  // namespace netuit
