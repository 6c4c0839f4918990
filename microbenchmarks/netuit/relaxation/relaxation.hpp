#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/mesh/cut_field.hpp>
#include <netuit/mesh/cut_reduction.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/run.hpp>
#include <uit/config.hpp>
#include <uit/link/world.hpp>
#include <uit/team/team.hpp>

#include "demos/common/pace.hpp"
#include "microbenchmarks/support/machine.hpp"

namespace bench::relaxation {

inline constexpr std::uint32_t num_workers = 2;  // threads

using demo::Slow;

/// Solves (4 + shift) x - (the sum of x over the neighbours) = source on a torus, by relaxation from 0, until the largest residual
/// is below the bound. The residual is evaluated at cuts.
class Relaxation {
 public:
  static constexpr double bound = 1e-6;

  Relaxation(const netuit::Topology& torus, const netuit::Placement& placement, double shift)
      : torus_{torus},
        mesh_{uit::Team{uit::World{}, {.threads = num_workers}}, torus, {.placement = placement}},
        source_{mesh_.AddField<double>(SourceAt)},
        x_{mesh_.AddPublishedField<double>(0.0)},
        diagonal_{4 + shift},
        residual_{MakeResidual()} {}

  /// Returns the condition that ends a run.
  [[nodiscard]] netuit::Until UntilSolved() const { return residual_ < bound; }

  /// The outcome of Solve.
  struct Solution {
    double time = 0;  // of all runs, in ns
    double residual = 0;
    int num_runs = 0;
  };

  /// Solves it once. In modes 1 to 3 the workers do not end after the same update, so the residual can be above the bound again at
  /// the end. Then another run goes on.
  Solution Solve(const netuit::RunPlan& plan, Slow slow) {
    mesh_.Visit([this](netuit::Node& node) { x_[node] = 0; });
    mesh_.Run(netuit::EveryUpdate{.updates = 1}, [](netuit::Node&) {}, {.stops_on_signal = false});  // so that neighbours see it
    Solution solution;
    do {
      solution.time += Run(plan, slow);
      solution.residual = residual_.AtEnd();
      ++solution.num_runs;
    } while (!(solution.residual < bound) && solution.num_runs < max_runs);
    const double residual = SerialResidual();
    if (!(std::abs(solution.residual - residual) < 1e-6 * bound)) {
      std::fprintf(stderr, "the mesh reports a residual of %.9g, but it is %.9g\n", solution.residual, residual);
      std::abort();
    }
    return solution;
  }

  /// The longest time for which a worker was ready but had no core, since the last call, in ns.
  double TakeRunQueueDelay() { return std::exchange(delay_, 0.0); }

 private:
  static constexpr int max_runs = 4;

  /// A worker's delay when it looked first and last.
  struct alignas(uit::cache_line) Delay {
    double first = -1;
    double last = -1;
    void Look() {
      last = RunQueueDelay();
      if (first < 0) first = last;
    }
  };

  /// Returns the time of the worker that took longer, in ns.
  double Run(const netuit::RunPlan& plan, Slow slow) {
    std::array<Delay, num_workers> delays{};
    const netuit::RunReport report = mesh_.Run(plan, [this, slow](netuit::Node& node) {
      for (unsigned i = paces_[node.Worker()].Times(slow, node.Update(), node.Worker(), num_workers); i != 0; --i) {
        double sum = source_[node];
        for (const netuit::InEdge edge : node.In()) sum += x_[edge];
        x_[node] = sum / diagonal_;
        asm volatile("" ::: "memory");  // so that it is done each time
      }
    }, {.stops_on_signal = false, .on_sample = [&](const netuit::Sample& sample) { delays[sample.worker.thread].Look(); },
        .sample_interval = std::chrono::milliseconds{5}});
    double longest_delay = 0;
    for (const Delay& delay : delays) longest_delay = std::max(longest_delay, delay.last - delay.first);
    delay_ += longest_delay;
    return std::chrono::duration<double, std::nano>(report.Elapsed()).count();
  }

  static double SourceAt(netuit::NodeId id) { return std::fmod(0.618034 * id, 1.0); }

  /// The residual by a loop over all nodes.
  double SerialResidual() {
    const std::vector<double> x = mesh_.Gather(x_);
    std::vector<double> residuals(x.size());
    for (netuit::NodeId id = 0; id < x.size(); ++id) {
      residuals[id] += SourceAt(id) - diagonal_ * x[id];
      for (const netuit::NodeId neighbor : torus_.OutNeighbors(id)) residuals[neighbor] += x[id];
    }
    return std::abs(*std::ranges::max_element(residuals, {}, [](double value) { return std::abs(value); }));
  }

  netuit::CutReduction MakeResidual() {
    const netuit::CutField<double> at_cut = mesh_.AddCut(x_);
    return mesh_.AddCutReduction(
        netuit::maximum,
        [this, at_cut](netuit::Node& node) {
          double sum = source_[node] - diagonal_ * at_cut[node];
          for (const netuit::InEdge edge : node.In()) sum += at_cut[edge];
          return std::abs(sum);
        },
        {.every = 50});
  }

  netuit::Topology torus_;
  netuit::Mesh mesh_;
  netuit::Field<double> source_;
  netuit::PublishedField<double> x_;
  double diagonal_;
  netuit::CutReduction residual_;
  std::vector<demo::Pace> paces_ = std::vector<demo::Pace>(num_workers);
  double delay_ = 0;
};

}  // namespace bench::relaxation
