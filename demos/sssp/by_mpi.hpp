#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include <mpi.h>

#include <netuit/graph/topology.hpp>
#include <netuit/mesh/edge_field.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node.hpp>

#include "by_calls.hpp"
#include "demos/common/complete.hpp"
#include "demos/common/exchange.hpp"
#include "demos/graphs/part.hpp"
#include "demos/graphs/slots.hpp"

namespace sssp {

/// A hand-written bulk synchronous version over MPI, in steps (Delta-stepping, as ByCalls).
///
/// In a step, a process goes on with its own nodes, the nearest first, until none is left below the limit. Then all exchange the
/// lengths of ways to others' nodes. A process sends only the shortest of them to a node, and only if it has sent no shorter one
/// before.
class ByMpi {
 public:
  /// Collective.
  ByMpi(netuit::Mesh& mesh, const graphs::Part& part, double delta)
      : rank_(static_cast<std::uint32_t>(mesh.GetWorld().Rank())), bin_width_(delta / bins_per_step), part_(part),
        slots_(mesh, part), exchange_(mesh.GetWorld().Size()) {
    const netuit::EdgeWeights weight = mesh.GetEdgeWeights();
    mesh.Visit([&](const netuit::Node& node) {
      for (const netuit::OutEdge edge : node.Out()) weights_.push_back(weight[edge]);
    });
  }

  /// Collective.
  void Search(netuit::NodeId root) {
    lengths_.assign(slots_.Size(), infinite);
    told_.assign(slots_.Size(), infinite);
    if (const graphs::Place place = part_.Find(root); place.rank == rank_) Reach(place.node, 0);
    for (double nearest = NearestBin(); nearest < infinite; nearest = NearestBin()) {
      const double limit = std::max(nearest + bins_per_step, std::nextafter(nearest, infinite));
      while (!bins_.empty() && bins_.begin()->first < limit) {
        const auto bin = bins_.extract(bins_.begin());
        for (const std::uint32_t node : bin.mapped())
          if (IsNews(node)) TellTargets(node);
      }
      for (const std::uint32_t slot : away_)
        if (IsNews(slot)) Send(slot);
      away_.clear();
      exchange_.Swap();
      for (const Way& way : exchange_.Incoming()) Reach(way.node, way.length);
    }
  }
  /// By local number.
  std::vector<double> Lengths() const {
    return {lengths_.begin(), lengths_.begin() + static_cast<std::ptrdiff_t>(slots_.NumOwn())};
  }

 private:
  static constexpr double bins_per_step = 4;  // more bins save work, because fewer lengths are replaced, but cost time themselves
  struct Way {
    double length = 0;
    std::uint32_t node = 0;  // the last, by its number at its process
  };

  void Reach(std::uint32_t slot, double length) {
    if (length >= lengths_[slot]) return;
    lengths_[slot] = length;
    if (slot < slots_.NumOwn()) bins_[std::floor(length / bin_width_)].push_back(slot);
    else away_.push_back(slot);
  }
  /// Whether a length is to be told. It then counts as told.
  bool IsNews(std::uint32_t slot) {
    if (lengths_[slot] >= told_[slot]) return false;
    told_[slot] = lengths_[slot];
    return true;
  }
  void TellTargets(std::uint32_t node) {
    const double* weight = weights_.data() + slots_.FirstEdge(node);
    for (const std::uint32_t target : slots_.Targets(node)) Reach(target, told_[node] + *weight++);
  }
  void Send(std::uint32_t slot) {
    const graphs::Place place = slots_.AwayAt(slot).place;
    exchange_.Put(place.rank, {lengths_[slot], place.node});
  }
  /// The nearest bin of any process that has a node in it. Collective.
  double NearestBin() const {
    double nearest = bins_.empty() ? infinite : bins_.begin()->first;
    demo::Complete("MPI_Iallreduce", [&](MPI_Request* request) {
      return MPI_Iallreduce(MPI_IN_PLACE, &nearest, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD, request);
    });
    return nearest;
  }

  std::uint32_t rank_;
  double bin_width_;
  const graphs::Part& part_;
  graphs::Slots slots_;
  demo::Exchange<Way> exchange_;
  std::vector<double> weights_;                        // by edge
  std::vector<double> lengths_;                        // by slot
  std::vector<double> told_;                           // by slot: the length that others know
  std::map<double, std::vector<std::uint32_t>> bins_;  // own nodes with news, by length in bin widths
  std::vector<std::uint32_t> away_;                    // slots of others' nodes with news
};

}  // namespace sssp
