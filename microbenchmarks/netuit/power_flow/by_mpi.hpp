#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/placement/placement.hpp>

#include "grid.hpp"

namespace bench {

/// Jacobi's iteration for the angles of a grid, by hand over MPI: a rank has the buses that a placement gives it, in compressed
/// rows. Messages by persistent requests are under way while the rank updates the buses that need nobody else's values.
class PowerFlowByMpi {
 public:
  PowerFlowByMpi(const netuit::Topology& grid, const netuit::Placement& placement, int rank) {
    const auto me = static_cast<std::uint32_t>(rank);
    const auto is_inner = [&](netuit::NodeId bus) {
      return std::ranges::all_of(grid.InEdges(bus), [&](auto edge) { return placement.WorkerOf(grid.Source(edge)) == me; });
    };
    std::vector<netuit::NodeId> own, outer;
    for (netuit::NodeId bus = 0; bus < grid.NumNodes(); ++bus)
      if (placement.WorkerOf(bus) == me) (is_inner(bus) ? own : outer).push_back(bus);
    num_inner_ = own.size();
    own.insert(own.end(), outer.begin(), outer.end());
    std::vector<std::size_t> slots(grid.NumNodes());
    for (std::size_t i = 0; i < own.size(); ++i) slots[own[i]] = i;
    std::map<std::uint32_t, Halo> halos;
    for (netuit::NodeId bus = 0; bus < grid.NumNodes(); ++bus) {  // in this order, so that both sides agree
      const std::uint32_t owner = placement.WorkerOf(bus);
      std::vector<std::uint32_t> readers;
      for (const netuit::NodeId target : grid.OutNeighbors(bus)) readers.push_back(placement.WorkerOf(target));
      std::ranges::sort(readers);
      readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
      for (const std::uint32_t reader : readers) {
        if (owner == me && reader != me) halos[reader].sent.push_back(static_cast<std::uint32_t>(slots[bus]));
        if (owner != me && reader == me) halos[owner].received.push_back(bus);
      }
    }
    std::size_t next = own.size();
    for (auto& [peer, halo] : halos) {
      halo.first_ghost = next;
      for (const netuit::NodeId bus : halo.received) slots[bus] = next++;
    }
    angles_.resize(next);
    next_.resize(next);
    first_.push_back(0);
    for (const netuit::NodeId bus : own) {
      double sum = 0;
      for (const auto edge : grid.InEdges(bus)) {
        lines_.push_back({static_cast<std::uint32_t>(slots[grid.Source(edge)]), grid.EdgeWeight(edge)});
        sum += grid.EdgeWeight(edge);
      }
      first_.push_back(static_cast<std::uint32_t>(lines_.size()));
      buses_.push_back({grid::Power(bus), grid::shunt * sum});
    }
    for (auto& [peer, halo] : halos) {
      halo.outgoing.resize(halo.sent.size());
      halo.incoming.resize(halo.received.size());
      halos_.push_back(std::move(halo));
      Halo& kept = halos_.back();
      requests_.resize(requests_.size() + 2);
      MPI_Recv_init(kept.incoming.data(), static_cast<int>(kept.incoming.size()), MPI_DOUBLE, static_cast<int>(peer), 0, MPI_COMM_WORLD,
                    &requests_[requests_.size() - 2]);
      MPI_Send_init(kept.outgoing.data(), static_cast<int>(kept.outgoing.size()), MPI_DOUBLE, static_cast<int>(peer), 0, MPI_COMM_WORLD,
                    &requests_[requests_.size() - 1]);
    }
  }
  PowerFlowByMpi(const PowerFlowByMpi&) = delete;
  PowerFlowByMpi& operator=(const PowerFlowByMpi&) = delete;
  ~PowerFlowByMpi() {
    for (MPI_Request& request : requests_) MPI_Request_free(&request);
  }

  void Update() {
    for (Halo& halo : halos_)
      for (std::size_t i = 0; i < halo.sent.size(); ++i) halo.outgoing[i] = angles_[halo.sent[i]];
    MPI_Startall(static_cast<int>(requests_.size()), requests_.data());
    Compute(0, num_inner_);
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    for (const Halo& halo : halos_) std::ranges::copy(halo.incoming, angles_.begin() + static_cast<std::ptrdiff_t>(halo.first_ghost));
    Compute(num_inner_, buses_.size());
    angles_.swap(next_);
  }
  /// The sum of the own angles.
  double Sum() const { return std::accumulate(angles_.begin(), angles_.begin() + static_cast<std::ptrdiff_t>(buses_.size()), 0.0); }

 private:
  struct Line {
    std::uint32_t neighbor;  // its slot
    double susceptance;
  };
  /// What goes to another rank and comes from there.
  struct Halo {
    std::vector<std::uint32_t> sent{};         // slots
    std::vector<netuit::NodeId> received{};
    std::size_t first_ghost = 0;
    std::vector<double> outgoing{}, incoming{};
  };

  void Compute(std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      double sum = buses_[i].power;
      for (std::uint32_t k = first_[i]; k < first_[i + 1]; ++k) sum += lines_[k].susceptance * angles_[lines_[k].neighbor];
      next_[i] = sum / buses_[i].diagonal;
    }
  }

  std::size_t num_inner_ = 0;
  std::vector<grid::Bus> buses_;
  std::vector<std::uint32_t> first_;  // by bus: its lines
  std::vector<Line> lines_;
  std::vector<double> angles_, next_;
  std::vector<Halo> halos_;
  std::vector<MPI_Request> requests_;
};

}  // namespace bench
