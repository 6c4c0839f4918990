#pragma once

#include <cstdint>
#include <vector>

#include <mpi.h>

#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh.hpp>

#include "demos/common/complete.hpp"
#include "demos/common/exchange.hpp"
#include "demos/graphs/part.hpp"
#include "demos/graphs/slots.hpp"
#include "local_ways.hpp"

namespace sssp {

/// A hand-written bulk synchronous version over MPI. After a step, all exchange the lengths of ways to others' nodes. A process sends
/// only the shortest of them to a node, and only if it has sent no shorter one before.
class ByMpi {
 public:
  ByMpi(netuit::Mesh& mesh, const graphs::Part& part, const graphs::Slots& slots, double delta)
      : ways_(mesh, part, slots, delta), exchange_(mesh.GetWorld().Size()) {}

  /// Collective.
  void Search(netuit::NodeId root) {
    ways_.Begin(root);
    for (double nearest = Nearest(); nearest < infinite; nearest = Nearest()) {
      ways_.Step(nearest);
      ways_.TellOthers([&](const graphs::Away& away, double length) { exchange_.Put(away.place.rank, {length, away.place.node}); });
      exchange_.Swap();
      for (const Way& way : exchange_.Incoming()) ways_.Reach(way.node, way.length);
    }
  }
  /// By local number.
  std::vector<double> Lengths() const { return ways_.LengthsOfNodes(); }

 private:
  struct Way {
    double length = 0;
    std::uint32_t node = 0;  // the last, by its number at its process
  };

  /// Where the next step begins, of all processes. Collective.
  double Nearest() const {
    double nearest = ways_.Nearest();
    demo::Complete("MPI_Iallreduce", [&](MPI_Request* request) {
      return MPI_Iallreduce(MPI_IN_PLACE, &nearest, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD, request);
    });
    return nearest;
  }

  LocalWays ways_;
  demo::Exchange<Way> exchange_;
};

}  // namespace sssp
