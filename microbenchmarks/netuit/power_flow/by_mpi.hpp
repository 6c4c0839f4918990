#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <numeric>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/placement/placement.hpp>

#include "grid.hpp"
#include "microbenchmarks/support/halo_exchange.hpp"

namespace bench {

/// Jacobi's iteration for the angles of a grid, by hand over MPI: a rank has the buses that a placement gives it, in compressed
/// rows. Messages are under way while the rank updates the buses that need nobody else's values. They are received where the next
/// update reads them.
template <hand::HaloExchange Exchange>
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
    std::vector<hand::HaloPart> parts;
    for (const auto& [peer, halo] : halos) {
      for (const netuit::NodeId bus : halo.received) slots[bus] = next++;
      sent_.insert(sent_.end(), halo.sent.begin(), halo.sent.end());
      const auto bytes = [](const auto& buses) { return static_cast<int>(buses.size() * sizeof(double)); };
      parts.push_back({.peer = static_cast<int>(peer), .num_sent = bytes(halo.sent), .num_received = bytes(halo.received)});
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
    outgoing_.resize(sent_.size());
    for (auto* const angles : {&angles_, &next_}) exchanges_.emplace_back(parts, outgoing_.data(), angles->data() + own.size());
  }

  void Update() {
    Exchange& exchange = exchanges_[num_updates_++ % 2];
    for (std::size_t i = 0; i < sent_.size(); ++i) outgoing_[i] = angles_[sent_[i]];
    exchange.Start();
    Compute(0, num_inner_);
    exchange.Wait();
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
    std::vector<std::uint32_t> sent{};  // slots
    std::vector<netuit::NodeId> received{};
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
  std::vector<double> angles_, next_;  // own ones, then those of other ranks
  std::vector<std::uint32_t> sent_;    // slots
  std::vector<double> outgoing_;
  std::deque<Exchange> exchanges_;  // into the angles of even updates and of odd ones
  std::uint64_t num_updates_ = 0;
};

}  // namespace bench
