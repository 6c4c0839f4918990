#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <netuit/mesh/mesh.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/run.hpp>
#include <uit/team/team.hpp>

#include "by_mpi.hpp"
#include "grid.hpp"
#include "microbenchmarks/support/burner.hpp"
#include "microbenchmarks/support/by_hand.hpp"
#include "microbenchmarks/support/program.hpp"
#include "microbenchmarks/support/ranks.hpp"

namespace bench {

/// The same iteration on a mesh.
class PowerFlowOnMesh {
 public:
  PowerFlowOnMesh(const uit::Team& team, const netuit::Topology& grid, const netuit::Placement& placement)
      : mesh_{team, grid, {.placement = placement}} {
    mesh_.Visit([this](netuit::Node& node) {
      double sum = 0;
      for (const auto edge : node.In()) sum += susceptance_[edge];
      bus_[node] = {grid::Power(node.Id()), grid::shunt * sum};
    });
  }

  template <typename Plan>
  double Time(const Plan& plan) {
    return TimeOfUpdate(mesh_.Run(plan, [this](netuit::Node& node) {
      double sum = bus_[node].power;
      for (const auto edge : node.In()) sum += susceptance_[edge] * angle_[edge];
      angle_[node] = sum / bus_[node].diagonal;
    }));
  }
  double Sum() {
    double sum = 0;
    mesh_.Visit([&](netuit::Node& node) { sum += angle_[node]; });
    return sum;
  }

 private:
  netuit::Mesh mesh_;
  netuit::EdgeWeights susceptance_{mesh_.GetEdgeWeights()};
  netuit::Field<grid::Bus> bus_{mesh_.AddField<grid::Bus>(grid::Bus{})};
  netuit::PublishedField<double> angle_{mesh_.AddPublishedField<double>(0.0)};
};

/// The competitors on the same grid with the same placement, one worker per rank.
class PowerFlow {
 public:
  PowerFlow(const uit::Team& team, const Ranks& ranks)
      : PowerFlow{team, ranks, grid::Make()} {}

  /// Ends the program unless MPI and the mesh give the same angles, but for rounding.
  void Check() {
    constexpr std::uint64_t num_updates = 200;
    TimeOf(by_new_requests_, num_updates);
    TimeOf(by_requests_, num_updates);
    TimeOf(by_collective_, num_updates);
    on_mesh_.Time(netuit::EveryUpdate{.updates = num_updates});
    CheckSums({by_new_requests_.Sum(), by_requests_.Sum(), by_collective_.Sum(), on_mesh_.Sum()});
  }

  /// Compares the rates while `niceness`, if there is any, is that of burners on the CPUs of `num_shared` ranks.
  void Compare(Program& program, Ranks& ranks, const std::string& situation, int num_shared, int niceness, double mode_0_at_least,
               std::optional<double> mode_3_at_least = {}) {
    Contest contest{"power flow, " + situation, Unit::thousands_per_second};
    contest.is_oversubscribed = num_shared != 0 || ranks.Size() > 2;
    contest.is_beside_others = num_shared != 0;
    if (contest.is_oversubscribed) contest.window = std::chrono::milliseconds{50};
    const auto beside = [&ranks, num_shared, niceness](auto measure) {
      return [&ranks, num_shared, niceness, measure](const Load& load) {
        std::optional<Burner> burner;
        if (ranks.Size() - 1 - ranks.Rank() < num_shared) burner.emplace(niceness);
        return measure(load.count);
      };
    };
    contest.Add("MPI, new requests", beside([this](std::uint64_t n) { return TimeOf(by_new_requests_, n); }));
    contest.Add("MPI, persistent requests", beside([this](std::uint64_t n) { return TimeOf(by_requests_, n); }));
    contest.Add("MPI, neighbourhood collective", beside([this](std::uint64_t n) { return TimeOf(by_collective_, n); }));
    const auto on_mesh = [&](auto plan_of) {
      return beside([this, plan_of](std::uint64_t n) { return Largest(on_mesh_.Time(plan_of(n))); });
    };
    contest.Add("Mesh, mode 0", on_mesh([](std::uint64_t n) { return netuit::EveryUpdate{.updates = n}; }));
    contest.Add("Mesh, mode 3", on_mesh([](std::uint64_t n) { return netuit::Free{.updates = n}; }));
    const auto judge = [&](const std::string& mode, std::optional<double> at_least) {
      contest.Say({.name = contest.name + ": " + mode + " over MPI",
                   .ours = "Mesh, " + mode,
                   .against = {"MPI, new requests", "MPI, persistent requests", "MPI, neighbourhood collective"},
                   .at_least = at_least});
    };
    judge("mode 0", mode_0_at_least);
    if (mode_3_at_least) judge("mode 3", mode_3_at_least);
    program.Run(contest, ranks);
  }

 private:
  PowerFlow(const uit::Team& team, const Ranks& ranks, const netuit::Topology& grid)
      : PowerFlow{team, ranks, grid,
                  netuit::PlaceContiguous(grid, {.processes = static_cast<std::size_t>(ranks.Size()), .threads = 1})} {}
  PowerFlow(const uit::Team& team, const Ranks& ranks, const netuit::Topology& grid, const netuit::Placement& placement)
      : by_new_requests_{grid, placement, ranks.Rank()},
        by_requests_{grid, placement, ranks.Rank()},
        by_collective_{grid, placement, ranks.Rank()},
        on_mesh_{team, grid, placement} {}

  PowerFlowByMpi<hand::NewRequests> by_new_requests_;
  PowerFlowByMpi<hand::PersistentRequests> by_requests_;
  PowerFlowByMpi<hand::NeighborCollective> by_collective_;
  PowerFlowOnMesh on_mesh_;
};

}  // namespace bench
